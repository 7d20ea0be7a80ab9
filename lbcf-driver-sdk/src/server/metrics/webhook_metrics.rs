//! The metrics of one webhook, and of its calls.

use crate::server::outcome::Outcome;
use crate::server::pending::Pending;
use prometheus::{Histogram, IntCounter, IntGauge};
use std::sync::Arc;
use tokio::time::Instant;

#[derive(Debug)]
pub(in crate::server) struct WebhookMetrics {
    /// By outcome; `None` for those that its class does not have.
    pub(super) calls: [Option<IntCounter>; Outcome::ALL.len()],
    pub(super) response_seconds: Histogram,
    pub(super) hook_seconds: Histogram,
    pub(super) running: IntGauge,
    pub(super) waiting: IntGauge,
    pub(in crate::server) batches: IntCounter,
    pub(in crate::server) joined: IntCounter,
    pub(in crate::server) collected: IntCounter,
    pub(super) unfinished: [IntCounter; Pending::ALL.len()],
}

impl WebhookMetrics {
    /// Counts a response to a call whose hook is not done.
    pub(in crate::server) fn unfinished(&self, because: Pending) {
        if let Some(counter) = self.unfinished.get(because as usize) {
            counter.inc();
        }
    }

    /// Counts a waiting hook until the value is dropped.
    pub(in crate::server) fn waits(self: &Arc<Self>) -> Counted {
        self.waiting.inc();
        Counted(Arc::clone(self))
    }

    pub(in crate::server) fn hook_started(&self) {
        self.running.inc();
    }

    /// Ends the count of a running hook, whether it ended or was dropped.
    pub(in crate::server) fn hook_dropped(&self) {
        self.running.dec();
    }

    pub(in crate::server) fn hook_ended(&self, started: Instant) {
        self.hook_seconds.observe(started.elapsed().as_secs_f64());
    }
}

/// Counts one waiting hook until it is dropped.
#[derive(Debug)]
pub(in crate::server) struct Counted(Arc<WebhookMetrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.waiting.dec();
    }
}

/// Counts and times a call from its arrival to the response, or until it is dropped because the
/// caller hung up.
#[derive(Debug)]
pub(in crate::server) struct MeasuredCall<'a> {
    metrics: &'a WebhookMetrics,
    arrived: Instant,
    outcome: Outcome,
}

impl<'a> MeasuredCall<'a> {
    pub(in crate::server) const fn new(metrics: &'a WebhookMetrics, arrived: Instant) -> Self {
        Self {
            metrics,
            arrived,
            outcome: Outcome::HungUp,
        }
    }

    /// The call has its response.
    pub(in crate::server) fn finish(mut self, outcome: Outcome) {
        self.outcome = outcome;
        let took = self.arrived.elapsed();
        self.metrics.response_seconds.observe(took.as_secs_f64());
    }
}

impl Drop for MeasuredCall<'_> {
    fn drop(&mut self) {
        if let Some(Some(counter)) = self.metrics.calls.get(self.outcome as usize) {
            counter.inc();
        }
    }
}
