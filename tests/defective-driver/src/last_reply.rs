//! When a caller last received `Running` for an operation. Replies to callers that have
//! disconnected do not count.

use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use serde_json::json;
use std::time::Duration;

const SCOPE: &str = "last reply";
/// How soon after a reply a poll is too early.
const EARLY: Duration = Duration::from_millis(20);

/// An operation that may be polled later.
#[derive(Debug)]
pub(crate) struct PolledOperation {
    key: String,
    retry_id: String,
    dry_run: bool,
}

impl PolledOperation {
    pub(crate) fn of(request: &HookRequest) -> Self {
        Self {
            key: request.operation_key(),
            retry_id: request.text("retryID").to_owned(),
            dry_run: request.dry_run(),
        }
    }

    pub(crate) fn record_reply(self, driver: &Driver, reply: &Reply) {
        if reply.has_status("Running") && !self.dry_run {
            let sent = u64::try_from(driver.started.elapsed().as_micros()).unwrap_or(u64::MAX);
            let last = json!({"sent": sent, "retryID": self.retry_id});
            driver.memory.put(SCOPE, &self.key, last);
        }
    }
}

/// Whether the request polls sooner after the last reply than any caller can have waited.
pub(crate) fn is_early_poll(driver: &Driver, request: &HookRequest) -> bool {
    let last = driver.memory.get(SCOPE, &request.operation_key());
    last.is_some_and(|last| {
        let sent = Duration::from_micros(last["sent"].as_u64().unwrap_or_default());
        last["retryID"] != request.text("retryID")
            && driver.started.elapsed().saturating_sub(sent) < EARLY
    })
}
