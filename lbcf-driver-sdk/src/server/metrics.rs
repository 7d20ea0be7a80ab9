//! The router's metrics for Prometheus.
//!
//! All series are created with the router, and each webhook's route holds its own, so a call looks
//! nothing up. Labels are names of webhooks, statuses and outcomes, never text of a peer, so their
//! number is bounded.

mod definitions;
mod scrape;
mod webhook_metrics;

pub(super) use scrape::router;
pub(super) use webhook_metrics::{Counted, MeasuredCall, WebhookMetrics};

use crate::webhook::{self, Webhook, for_each_webhook};
use axum::http::StatusCode;
use definitions::Definitions;
use prometheus::{IntCounter, IntGauge, Registry};
use std::sync::Arc;

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
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        #[derive(Debug)]
        struct ByWebhook {
            $($method: Arc<WebhookMetrics>,)*
        }

        impl ByWebhook {
            fn new(definitions: &Definitions) -> Self {
                Self {
                    $($method: Arc::new(definitions.of(<webhook::$hook as Webhook>::INFO)),)*
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

#[cfg(test)]
mod tests;
