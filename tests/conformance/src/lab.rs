//! The environment of a check: calls to the driver, its own load balancers and backends, and the
//! observer. The lab records every exchange and enters every created resource in the ledger.

mod actions;
mod backends;
pub(crate) mod cloud;
pub(crate) mod listed;
mod polling;
mod setup;

use crate::call::{DriverReply, WebhookCall};
use crate::classification::Feature;
use crate::exchange::{NoResponse, RequestKind};
use crate::outcome::{Blame as _, CheckOutcome};
use crate::run::{Purpose, Run};
use crate::sync::lock;
use crate::transport::Request;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The environment of a check.
#[derive(Debug)]
pub struct Lab {
    pub(crate) run: Arc<Run>,
    /// The id of the check.
    check: &'static str,
    /// The index of the check in [`crate::checks::all`].
    index: u8,
    random: Mutex<fastrand::Rng>,
    /// The number of names in use.
    names: AtomicU32,
    /// The number of values of `{{number}}` in use.
    numbers: AtomicUsize,
    notes: Mutex<Vec<String>>,
    /// True if the number of load balancers was not the expected one.
    miscounted: AtomicBool,
}

impl Lab {
    pub(crate) fn new(run: Arc<Run>, check: &'static str, index: u8) -> Self {
        let random = Mutex::new(run.random(check));
        Self {
            run,
            check,
            index,
            random,
            names: AtomicU32::new(0),
            numbers: AtomicUsize::new(0),
            notes: Mutex::default(),
            miscounted: AtomicBool::new(false),
        }
    }

    /// True if the check counted load balancers, and others who use the same cloud may have changed the number.
    pub(crate) fn may_have_miscounted(&self) -> bool {
        self.miscounted.load(Ordering::Relaxed) && self.run.strangers().were_seen()
    }

    /// True if the fixture declares a feature.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.run.features.contains(&feature)
    }

    /// The number of repetitions: `--repeat`, 10 by default.
    pub(crate) fn repeats(&self) -> usize {
        self.run.settings.repeat
    }

    /// The number of concurrent calls: `--concurrency`, 50 by default.
    pub(crate) fn concurrency(&self) -> usize {
        self.run.settings.concurrency
    }

    /// A random number that the seed determines.
    pub(crate) fn random(&self, range: std::ops::Range<u64>) -> u64 {
        lock(&self.random).u64(range)
    }

    /// A uid that the seed determines.
    pub(crate) fn uid(&self) -> String {
        let mut bytes = [0; 16];
        lock(&self.random).fill(&mut bytes);
        let id = uuid::Builder::from_random_bytes(bytes);
        id.into_uuid().to_string()
    }

    /// The next unused number of this check, from 0.
    pub(crate) fn next(&self) -> u32 {
        self.names.fetch_add(1, Ordering::Relaxed)
    }

    /// A port for `{{number}}` that nothing else uses.
    pub(crate) fn number(&self) -> u16 {
        let nth = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.run.numbers.take(usize::from(self.index), nth)
    }

    /// A name that no other resource has.
    pub(crate) fn unique(&self) -> String {
        let check = self.check.to_ascii_lowercase();
        format!("lbcf-conf-{}-{check}-{}", self.run.id, self.next())
    }

    /// Adds a remark to the result, such as a limit of what a pass proves.
    pub(crate) fn note(&self, text: impl Into<String>) {
        lock(&self.notes).push(text.into());
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    pub(crate) async fn call(&self, call: &WebhookCall) -> DriverReply {
        let timeout = self.run.timeout(call.webhook());
        self.call_within(call, timeout).await
    }

    /// [`Self::call`] with another timeout.
    pub(crate) async fn call_within(&self, call: &WebhookCall, timeout: Duration) -> DriverReply {
        let request = self.request_of(call);
        let check = Some(self.check);
        self.run.call(check, call, &request, timeout).await
    }

    /// Makes a call until it succeeds or fails, and requires Succ for the reason `since`.
    pub(crate) async fn succeeds(
        &self,
        call: &WebhookCall,
        since: &str,
    ) -> CheckOutcome<DriverReply> {
        let reply = self.until_done(call).await?;
        reply.succ(since)?;
        Ok(reply)
    }

    /// Makes a call several times, each until it succeeds, and requires Succ for the reason `since`.
    pub(crate) async fn keeps_succeeding(
        &self,
        times: usize,
        call: &WebhookCall,
        since: &str,
    ) -> CheckOutcome {
        for _ in 0..times {
            self.succeeds(call, since).await?;
        }
        Ok(())
    }

    /// Requires the same decision from every repetition of a call.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when they differ; [`CheckError::Blocked`] by the check `by`, when the
    /// first response has none.
    pub(crate) async fn same_decision(&self, call: &WebhookCall, by: &'static str) -> CheckOutcome {
        let first = self.call(call).await;
        let decision = first.any_decision("as every validation has one");
        let decision = decision.blocked_by(by)?;
        for _ in 1..self.repeats() {
            let again = self.call(call).await;
            let expected = format!("succ {decision} as the first time, since nothing has changed");
            let is_same = again.decision() == Some(decision);
            again.check(is_same, expected, again.summary())?;
        }
        Ok(())
    }

    /// Makes a call and closes the connection `linger` after the whole request was sent.
    pub(crate) async fn call_and_hang_up(&self, call: &WebhookCall, linger: Duration) {
        self.run.ledger.before(self.check, call);
        let request = self.request_of(call);
        self.hang_up(&request, call.webhook(), usize::MAX, linger)
            .await;
    }

    /// Sends `bytes` of a request's body, and closes the connection `linger` after them.
    pub(crate) async fn hang_up(
        &self,
        request: &Request,
        webhook: &'static str,
        bytes: usize,
        linger: Duration,
    ) {
        let began = Instant::now();
        let transport = &self.run.transport;
        let sent = transport.send_and_hang_up(request, bytes, linger).await;
        let outcome = Err(sent.err().unwrap_or(NoResponse::HungUp));
        let purpose = self.purpose(webhook, RequestKind::Invalid);
        self.run
            .recorded(purpose, request, began.elapsed(), outcome);
    }

    /// Sends an invalid request instead of that of the call. Unless the HTTP status rejects it, the
    /// ledger contains what the call creates.
    pub(crate) async fn send_instead(&self, call: &WebhookCall, request: &Request) -> DriverReply {
        let reply = self
            .send(request, call.webhook(), RequestKind::Invalid)
            .await;
        // Not before it is sent: nearly all are rejected, and cleaning up completes unfinished
        // resources before it deletes them.
        if !matches!(reply.http_status(), Some(300..600)) {
            let received = call.with_body(&request.body);
            let ledger = &self.run.ledger;
            ledger.after_bad(self.check, call, received.as_ref(), &reply);
        }
        reply
    }

    /// Sends any request to a webhook, and records it.
    pub(crate) async fn send(
        &self,
        request: &Request,
        webhook: &'static str,
        kind: RequestKind,
    ) -> DriverReply {
        let (purpose, timeout) = (self.purpose(webhook, kind), self.run.timeout(webhook));
        self.run.send(purpose, request, timeout).await
    }

    /// The purpose of a request of the check.
    pub(crate) const fn purpose(&self, webhook: &'static str, kind: RequestKind) -> Purpose {
        Purpose {
            check: Some(self.check),
            webhook,
            kind,
        }
    }

    /// The request of a call, with a new retryID.
    pub(crate) fn request_of(&self, call: &WebhookCall) -> Request {
        call.request(&self.uid())
    }
}
