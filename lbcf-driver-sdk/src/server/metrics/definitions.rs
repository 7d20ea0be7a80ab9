//! The metrics' names, labels and buckets.

use super::{Outcome, WebhookMetrics};
use crate::server::hooks::NotYet;
use crate::webhook::{Class, WebhookInfo};
use axum::http::StatusCode;
use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

/// An answer is there at once, or it waits for a cloud, up to the deadline.
const ANSWER_SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 7.5, 10.0,
];
/// A hook may go on for minutes after its calls were answered.
const HOOK_SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
    600.0,
];

pub(super) struct Definitions {
    pub(super) registry: Registry,
    pub(super) kept_results: IntGauge,
    calls: IntCounterVec,
    answer_seconds: HistogramVec,
    hook_seconds: HistogramVec,
    running: IntGaugeVec,
    waiting: IntGaugeVec,
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
            let made = IntGaugeVec::new(Opts::new(name, help), &["webhook"]);
            registered(&registry, made)
        };
        let seconds = |name, help, buckets: &[f64]| {
            let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            registered(&registry, HistogramVec::new(options, &["webhook"]))
        };
        Self {
            calls: counters(
                "lbcf_driver_calls_total",
                "Calls, by what the caller was told.",
                &["webhook", "outcome"],
            ),
            answer_seconds: seconds(
                "lbcf_driver_answer_duration_seconds",
                "From a call's arrival to its answer.",
                ANSWER_SECONDS,
            ),
            hook_seconds: seconds(
                "lbcf_driver_hook_duration_seconds",
                "How long the driver's own functions took, waiting for their turn not counted.",
                HOOK_SECONDS,
            ),
            running: gauges("lbcf_driver_running_hooks", "Hooks that run."),
            waiting: gauges(
                "lbcf_driver_waiting_hooks",
                "Hooks that wait for their turn or for a free place.",
            ),
            repeated: counters(
                "lbcf_driver_repeated_calls_total",
                "Calls that joined a running operation, or collected an earlier one's result.",
                &["webhook", "by"],
            ),
            unfinished: counters(
                "lbcf_driver_unfinished_calls_total",
                "Calls that were answered although their hook was not done, and why it was not.",
                &["webhook", "because"],
            ),
            rejected: counters(
                "lbcf_driver_rejected_calls_total",
                "Calls that were no proper webhook calls, by the status of the answer.",
                &["status"],
            ),
            kept_results: {
                let name = "lbcf_driver_kept_results";
                let help = "Results that wait for the next call to collect them.";
                registered(&registry, IntGauge::new(name, help))
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
            // Not counted, so not shown.
            Class::Verdict | Class::Health => unregistered(),
        };
        WebhookMetrics {
            calls,
            answer_seconds: self.answer_seconds.with_label_values(&[name]),
            hook_seconds: self.hook_seconds.with_label_values(&[name]),
            running: self.running.with_label_values(&[name]),
            waiting: self.waiting.with_label_values(&[name]),
            joined: repeated("joining"),
            collected: repeated("collecting"),
            unfinished: NotYet::ALL.map(|because| {
                let labels = &[name, because.label()];
                match (class, because) {
                    // Only operations wait for each other, and health waits for nobody.
                    (Class::Verdict | Class::Health, NotYet::Queued)
                    | (Class::Health, NotYet::NoPlace) => unregistered(),
                    _ => self.unfinished.with_label_values(labels),
                }
            }),
        }
    }

    pub(super) fn rejected(&self, status: StatusCode) -> IntCounter {
        self.rejected.with_label_values(&[status.as_str()])
    }
}

/// Names, labels and buckets are the constants above, so whether this works is known when the tests
/// of this folder have passed.
#[allow(clippy::expect_used)]
fn registered<M: Collector + Clone + 'static>(
    registry: &Registry,
    made: prometheus::Result<M>,
) -> M {
    let metric = made.expect("a metric's name, labels and buckets are in order");
    registry
        .register(Box::new(metric.clone()))
        .expect("no two metrics have one name");
    metric
}

/// A counter that nobody sees.
#[allow(clippy::expect_used)]
fn unregistered() -> IntCounter {
    IntCounter::new("unseen", "Not shown.").expect("the name is in order")
}
