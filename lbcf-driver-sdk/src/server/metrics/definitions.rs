//! The metrics' names, labels and buckets.

use super::webhook_metrics::WebhookMetrics;
use crate::server::outcome::Outcome;
use crate::server::pending::Pending;
use crate::webhook::{Class, WebhookInfo};
use axum::http::StatusCode;
use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

/// Up to the controller's timeout.
const RESPONSE_SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 7.5, 10.0,
];
/// A hook may continue for minutes after its calls have their responses.
const HOOK_SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
    600.0,
];

pub(super) struct Definitions {
    pub(super) registry: Registry,
    pub(super) kept_results: IntGauge,
    calls: IntCounterVec,
    response_seconds: HistogramVec,
    hook_seconds: HistogramVec,
    running: IntGaugeVec,
    waiting: IntGaugeVec,
    batches: IntCounterVec,
    repeated: IntCounterVec,
    unfinished: IntCounterVec,
    rejected: IntCounterVec,
}

impl Definitions {
    pub(super) fn new() -> Self {
        let registry = Registry::new();
        let counters = |name, help, labels: &[&str]| {
            registered(&registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let gauges = |name, help| {
            let options = Opts::new(name, help);
            registered(&registry, IntGaugeVec::new(options, &["webhook"]))
        };
        let seconds = |name, help, buckets: &[f64]| {
            let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            registered(&registry, HistogramVec::new(options, &["webhook"]))
        };
        Self {
            calls: counters(
                "lbcf_driver_calls_total",
                "Calls, by outcome.",
                &["webhook", "outcome"],
            ),
            response_seconds: seconds(
                "lbcf_driver_answer_duration_seconds",
                "Time from a call's arrival to its response.",
                RESPONSE_SECONDS,
            ),
            hook_seconds: seconds(
                "lbcf_driver_hook_duration_seconds",
                "Time that the driver's functions took, without waiting to run.",
                HOOK_SECONDS,
            ),
            running: gauges("lbcf_driver_running_hooks", "Hooks that run."),
            waiting: gauges("lbcf_driver_waiting_hooks", "Hooks that wait to run."),
            batches: counters(
                "lbcf_driver_batches_total",
                "Batches that the driver got; the hooks by them are the mean size.",
                &["webhook"],
            ),
            repeated: counters(
                "lbcf_driver_repeated_calls_total",
                "Calls that joined a running operation or collected the result of an earlier one.",
                &["webhook", "by"],
            ),
            unfinished: counters(
                "lbcf_driver_unfinished_calls_total",
                "Responses to calls whose hook was not done, by the reason.",
                &["webhook", "because"],
            ),
            rejected: counters(
                "lbcf_driver_rejected_calls_total",
                "Calls that were not proper webhook calls, by status.",
                &["status"],
            ),
            kept_results: {
                let help = "Results that wait to be collected by the next call.";
                registered(&registry, IntGauge::new("lbcf_driver_kept_results", help))
            },
            registry,
        }
    }

    pub(super) fn of(&self, webhook: WebhookInfo) -> WebhookMetrics {
        let WebhookInfo { name, class, .. } = webhook;
        let calls = Outcome::ALL.map(|outcome| {
            let labels = &[name, outcome.label()];
            let of_this_class = outcome.is_of(class);
            of_this_class.then(|| self.calls.with_label_values(labels))
        });
        let repeated = |by| match class {
            Class::Operation => self.repeated.with_label_values(&[name, by]),
            // Not counted, so not registered.
            Class::Verdict | Class::Health => unregistered(),
        };
        WebhookMetrics {
            calls,
            response_seconds: self.response_seconds.with_label_values(&[name]),
            hook_seconds: self.hook_seconds.with_label_values(&[name]),
            running: self.running.with_label_values(&[name]),
            waiting: self.waiting.with_label_values(&[name]),
            batches: match webhook.is_batched() {
                true => self.batches.with_label_values(&[name]),
                false => unregistered(),
            },
            joined: repeated("joining"),
            collected: repeated("collecting"),
            unfinished: Pending::ALL.map(|because| {
                let labels = &[name, because.label()];
                match (class, because) {
                    // Only operations wait for each other, and health checks never wait.
                    (Class::Verdict | Class::Health, Pending::Queued | Pending::NoToken)
                    | (Class::Health, Pending::NoPermit) => unregistered(),
                    _ => self.unfinished.with_label_values(labels),
                }
            }),
        }
    }

    pub(super) fn rejected(&self, status: StatusCode) -> IntCounter {
        self.rejected.with_label_values(&[status.as_str()])
    }
}

/// Names, labels and buckets are constants, so the tests show that this does not panic.
#[allow(clippy::expect_used)]
fn registered<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> M {
    let metric = metric.expect("valid names, labels and buckets");
    registry
        .register(Box::new(metric.clone()))
        .expect("unique names");
    metric
}

#[allow(clippy::expect_used)]
fn unregistered() -> IntCounter {
    IntCounter::new("unseen", "Not shown.").expect("a valid name")
}
