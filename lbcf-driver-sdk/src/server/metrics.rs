//! The router's metrics for Prometheus.
//!
//! All series are created with the router, and each webhook's route holds its own, so a call looks
//! nothing up. Labels are names of webhooks, statuses and outcomes, never text of a peer, so their
//! number is bounded.

mod definitions;
mod outcome;
mod scrape;

pub(super) use outcome::Outcome;
pub(super) use scrape::router;

use super::hooks::Pending;
use crate::webhook::{self, Webhook, for_each_webhook};
use axum::http::StatusCode;
use definitions::Definitions;
use prometheus::{Histogram, IntCounter, IntGauge, Registry};
use std::sync::Arc;
use tokio::time::Instant;

/// The statuses of calls that do not reach the driver.
const REJECTED: [StatusCode; 5] = [
    StatusCode::BAD_REQUEST,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::PAYLOAD_TOO_LARGE,
];

#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    webhooks: ByWebhook,
    kept_results: IntGauge,
    rejected: [(StatusCode, IntCounter); REJECTED.len()],
}

pub(super) trait Measured: Webhook {
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

    pub(super) const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) const fn kept_results(&self) -> &IntGauge {
        &self.kept_results
    }

    /// Counts a call with a 4xx response.
    pub(super) fn rejected(&self, status: StatusCode) {
        let mut counters = self.rejected.iter();
        if let Some((_, counter)) = counters.find(|(counted, _)| *counted == status) {
            counter.inc();
        }
    }
}

#[derive(Debug)]
pub(super) struct WebhookMetrics {
    /// By outcome; `None` for those that its class does not have.
    calls: [Option<IntCounter>; Outcome::ALL.len()],
    response_seconds: Histogram,
    hook_seconds: Histogram,
    running: IntGauge,
    waiting: IntGauge,
    pub(super) joined: IntCounter,
    pub(super) collected: IntCounter,
    unfinished: [IntCounter; Pending::ALL.len()],
}

impl WebhookMetrics {
    /// Counts a response to a call whose hook is not done.
    pub(super) fn unfinished(&self, because: Pending) {
        if let Some(counter) = self.unfinished.get(because as usize) {
            counter.inc();
        }
    }

    /// Counts a waiting hook until the value is dropped.
    pub(super) fn waits(self: &Arc<Self>) -> Counted {
        self.waiting.inc();
        Counted(Arc::clone(self))
    }

    pub(super) fn hook_started(&self) {
        self.running.inc();
    }

    /// Ends the count of a running hook, whether it ended or was dropped.
    pub(super) fn hook_dropped(&self) {
        self.running.dec();
    }

    pub(super) fn hook_ended(&self, started: Instant) {
        self.hook_seconds.observe(started.elapsed().as_secs_f64());
    }
}

/// Counts one waiting hook until it is dropped.
#[derive(Debug)]
pub(super) struct Counted(Arc<WebhookMetrics>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.waiting.dec();
    }
}

/// Counts and times a call from its arrival to the response, or until it is dropped because the
/// caller hung up.
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

    /// The call has its response.
    pub(super) fn finish(mut self, outcome: Outcome) {
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

#[cfg(test)]
mod tests;
