//! What is measured around the calls, for Prometheus.
//!
//! Every series is made when the router is made, and each webhook's route holds its own: a call
//! adds to counters and looks nothing up. Labels are bounded, they are names of webhooks, statuses
//! and outcomes, and nothing that a peer sends.

mod definitions;
mod outcome;
mod scrape;

pub(super) use outcome::Outcome;
pub(super) use scrape::router;

use super::hooks::NotYet;
use crate::webhook::{self, Webhook, for_each_webhook};
use axum::http::StatusCode;
use definitions::Definitions;
use prometheus::{Histogram, IntCounter, IntGauge, Registry};
use std::sync::Arc;
use tokio::time::Instant;

/// The statuses of calls that never reach a driver.
const REJECTED: [StatusCode; 5] = [
    StatusCode::BAD_REQUEST,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::PAYLOAD_TOO_LARGE,
];

/// One router's metrics.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    webhooks: ByWebhook,
    kept_results: IntGauge,
    rejected: [(StatusCode, IntCounter); REJECTED.len()],
}

/// A webhook whose metrics are at hand.
pub(super) trait Measured: Webhook {
    /// They.
    fn of(metrics: &Metrics) -> &Arc<WebhookMetrics>;
}

macro_rules! by_webhook {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        #[derive(Debug)]
        struct ByWebhook {
            $($method: Arc<WebhookMetrics>,)*
        }

        impl ByWebhook {
            fn new(definitions: &Definitions) -> Self {
                Self {
                    $($method: Arc::new(definitions.of(webhook::$hook::INFO)),)*
                }
            }
        }

        $(
            impl Measured for webhook::$hook {
                fn of(metrics: &Metrics) -> &Arc<WebhookMetrics> {
                    &metrics.webhooks.$method
                }
            }
        )*
    };
}

for_each_webhook!(by_webhook);

impl Metrics {
    pub(super) fn new() -> Self {
        let definitions = Definitions::new();
        Self {
            webhooks: ByWebhook::new(&definitions),
            kept_results: definitions.kept_results.clone(),
            rejected: REJECTED.map(|status| (status, definitions.rejected(status))),
            registry: definitions.registry,
        }
    }

    /// Where all of it is registered, and what the application adds.
    pub(super) const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How many results wait to be collected.
    pub(super) const fn kept_results(&self) -> &IntGauge {
        &self.kept_results
    }

    /// Notes a call that was answered with a 4xx status.
    pub(super) fn rejected(&self, status: StatusCode) {
        let mut known = self.rejected.iter();
        if let Some((_, counter)) = known.find(|(known, _)| *known == status) {
            counter.inc();
        }
    }
}

/// What is measured of one webhook.
#[derive(Debug)]
pub(super) struct WebhookMetrics {
    /// By outcome; none for outcomes that its class does not have.
    calls: [Option<IntCounter>; Outcome::ALL.len()],
    answer_seconds: Histogram,
    hook_seconds: Histogram,
    running: IntGauge,
    waiting: IntGauge,
    joined: IntCounter,
    collected: IntCounter,
    unfinished: [IntCounter; NotYet::ALL.len()],
}

impl WebhookMetrics {
    /// A call joined an operation that ran.
    pub(super) fn joined(&self) {
        self.joined.inc();
    }

    /// A call got the result of an earlier one.
    pub(super) fn collected(&self) {
        self.collected.inc();
    }

    /// A call is answered although its hook is not done.
    pub(super) fn unfinished(&self, because: NotYet) {
        if let Some(counter) = self.unfinished.get(because as usize) {
            counter.inc();
        }
    }

    /// A hook waits, until this is dropped.
    pub(super) fn waits(self: &Arc<Self>) -> Counted {
        self.waiting.inc();
        Counted(Arc::clone(self))
    }

    /// A hook runs.
    pub(super) fn runs(&self) {
        self.running.inc();
    }

    /// A hook that ran is gone.
    pub(super) fn runs_no_more(&self) {
        self.running.dec();
    }

    /// A hook ended, which was begun then.
    pub(super) fn hook_ended(&self, begun: Instant) {
        self.hook_seconds.observe(begun.elapsed().as_secs_f64());
    }
}

/// One more hook that waits, until it is dropped.
#[derive(Debug)]
pub(super) struct Counted(Arc<WebhookMetrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.waiting.dec();
    }
}

/// A call, from its arrival until it is answered or its caller is gone.
#[derive(Debug)]
pub(super) struct MeasuredCall<'a> {
    metrics: &'a WebhookMetrics,
    arrived: Instant,
    outcome: Outcome,
}

impl<'a> MeasuredCall<'a> {
    pub(super) const fn new(metrics: &'a WebhookMetrics, arrived: Instant) -> Self {
        Self {
            metrics,
            arrived,
            outcome: Outcome::HungUp,
        }
    }

    /// It is answered now.
    pub(super) fn answered(mut self, outcome: Outcome) {
        self.outcome = outcome;
        let took = self.arrived.elapsed();
        self.metrics.answer_seconds.observe(took.as_secs_f64());
    }
}

impl Drop for MeasuredCall<'_> {
    fn drop(&mut self) {
        if let Some(Some(counter)) = self.metrics.calls.get(self.outcome as usize) {
            counter.inc();
        }
    }
}

#[cfg(test)]
mod tests;
