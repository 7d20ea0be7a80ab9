//! The metrics' names, labels and buckets.

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

/// The original's.
const WEBHOOK_SECONDS: &[f64] = &[
    0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 3.0,
    4.0, 5.0, 10.0, 20.0, 30.0,
];
/// A write is quick, or it runs into its time limit.
const WRITE_SECONDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0,
];
/// A key's work is a few writes and calls.
const WORK_SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];
/// Creating in a cloud takes seconds to minutes; a driver that is away can take hours.
const REGISTER_SECONDS: &[f64] = &[
    0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0,
];

const DRIVER_AND_WEBHOOK: &[&str] = &["driver_name", "webhook_name"];

#[derive(Debug)]
pub(super) struct Definitions {
    pub(super) registry: Registry,
    pub(super) webhook_calls: IntCounterVec,
    pub(super) webhook_errors: IntCounterVec,
    pub(super) webhook_fails: IntCounterVec,
    pub(super) webhook_latency: HistogramVec,
    pub(super) k8s_operation_latency: HistogramVec,
    pub(super) key_process_latency: HistogramVec,
    pub(super) pending_key: IntGaugeVec,
    pub(super) working_key: IntGaugeVec,
    pub(super) time_to_registered: Histogram,
    pub(super) unregistered: IntGauge,
    pub(super) leader: IntGauge,
}

impl Definitions {
    pub(super) fn new() -> Self {
        let registry = Registry::new();
        let calls = |name, help| {
            let made = IntCounterVec::new(Opts::new(name, help), DRIVER_AND_WEBHOOK);
            registered(&registry, made)
        };
        let seconds = |name, help, buckets: &[f64], labels: &[&str]| {
            let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            registered(&registry, HistogramVec::new(options, labels))
        };
        let keys = |name, help| {
            let made = IntGaugeVec::new(Opts::new(name, help), &["key_kind"]);
            registered(&registry, made)
        };
        let gauge = |name, help| registered(&registry, IntGauge::new(name, help));
        Self {
            webhook_calls: calls("webhook_calls", "Calls to drivers."),
            webhook_errors: calls("webhook_errors", "Calls that brought no proper answer."),
            webhook_fails: calls(
                "webhook_fails",
                "Calls that the driver answered with a failure or a refusal.",
            ),
            webhook_latency: seconds(
                "webhook_latency",
                "Seconds that calls with an answer took.",
                WEBHOOK_SECONDS,
                DRIVER_AND_WEBHOOK,
            ),
            k8s_operation_latency: seconds(
                "k8s_operation_latency",
                "Seconds that writes to the API server took.",
                WRITE_SECONDS,
                &["k8s_op_obj", "k8s_op_type"],
            ),
            key_process_latency: seconds(
                "key_process_latency",
                "Seconds that working on an object took.",
                WORK_SECONDS,
                &["crd"],
            ),
            pending_key: keys("pending_key", "Objects that wait for their turn."),
            working_key: keys("working_key", "Objects that are worked on."),
            time_to_registered: {
                let name = "lbcf_time_to_registered_seconds";
                let help = "Seconds from a BackendRecord's creation to its first being registered.";
                let options = HistogramOpts::new(name, help).buckets(REGISTER_SECONDS.to_vec());
                registered(&registry, Histogram::with_opts(options))
            },
            unregistered: gauge(
                "lbcf_unregistered_backends",
                "BackendRecords that are not registered.",
            ),
            leader: gauge("lbcf_leader", "1 where this process leads, else 0."),
            registry,
        }
    }
}

/// Names, labels and buckets are the constants above, so whether this works is known when the test
/// of this file has passed.
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
