//! What a caller was really told: not what was answered after it had hung up.

use super::answer::Answer;
use super::call::Call;
use super::context::Context;

/// The operation that a call is about.
#[derive(Debug)]
pub(super) struct About {
    key: String,
    retry_id: String,
    dry_run: bool,
}

impl About {
    pub(super) fn of(call: &Call) -> Self {
        Self {
            key: call.operation_key(),
            retry_id: call.text("retryID").to_owned(),
            dry_run: call.dry_run(),
        }
    }

    /// Notes that the caller was told that it runs, and not that it would.
    pub(super) fn was_told(self, at: &Context, answer: &Answer) {
        if answer.says("Running") && !self.dry_run {
            let now = u64::try_from(at.began.elapsed().as_micros()).unwrap_or(u64::MAX);
            at.memory.put("told at", &self.key, now);
            at.memory.put("told to", &self.key, self.retry_id);
        }
    }
}

/// Whether the call comes sooner after the last answer than anybody can have waited.
pub(super) fn comes_early(at: &Context, call: &Call) -> bool {
    let key = call.operation_key();
    let same_try = at.memory.get("told to", &key) == Some(call.text("retryID").into());
    let told = at.memory.get("told at", &key);
    told.as_ref()
        .and_then(serde_json::Value::as_u64)
        .is_some_and(|told| {
            let told = std::time::Duration::from_micros(told);
            !same_try && at.began.elapsed().saturating_sub(told) < at.pace.early
        })
}
