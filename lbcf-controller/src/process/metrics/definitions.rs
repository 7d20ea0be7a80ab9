//! Names, labels and buckets of the metrics.

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
};

/// Seconds, as in the original.
const WEBHOOK_SECONDS: &[f64] = &[
    0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 3.0,
    4.0, 5.0, 10.0, 20.0, 30.0,
];
/// Seconds, up to the timeout of a write.
const WRITE_SECONDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0,
];
/// Seconds of a reconcile, which makes a few writes and calls.
const RECONCILE_SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];
/// Seconds. Creation in a cloud takes up to minutes; a driver may be unreachable for hours.
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
    pub(super) driver_healthy: IntGaugeVec,
    pub(super) k8s_operation_latency: HistogramVec,
    pub(super) requests: IntCounterVec,
    pub(super) key_process_latency: HistogramVec,
    pub(super) pending_key: IntGaugeVec,
    pub(super) working_key: IntGaugeVec,
    pub(super) time_to_registered: Histogram,
    pub(super) unregistered: IntGauge,
    pub(super) orphaned_backends: IntGaugeVec,
    pub(super) events_dropped: IntCounter,
    pub(super) leader: IntGauge,
}

impl Definitions {
    pub(super) fn new() -> Self {
        let registry = Registry::new();
        let calls = |name, help| {
            let metric = IntCounterVec::new(Opts::new(name, help), DRIVER_AND_WEBHOOK);
            registered(&registry, metric)
        };
        let seconds = |name, help, buckets: &[f64], labels: &[&str]| {
            let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            registered(&registry, HistogramVec::new(options, labels))
        };
        let keys = |name, help| {
            let metric = IntGaugeVec::new(Opts::new(name, help), &["key_kind"]);
            registered(&registry, metric)
        };
        let gauge = |name, help| registered(&registry, IntGauge::new(name, help));
        Self {
            webhook_calls: calls("webhook_calls", "Calls to drivers."),
            webhook_errors: calls("webhook_errors", "Calls without a valid response."),
            webhook_fails: calls(
                "webhook_fails",
                "Calls to which the driver responded with a failure or rejection.",
            ),
            webhook_latency: seconds(
                "webhook_latency",
                "Duration of calls with a valid response in seconds.",
                WEBHOOK_SECONDS,
                DRIVER_AND_WEBHOOK,
            ),
            driver_healthy: {
                let name = "lbcf_driver_healthy";
                let help = "1 if the driver's webhook healthz says that it is healthy, 0 if it does not respond or says otherwise. Absent for drivers without healthz.";
                let metric = IntGaugeVec::new(Opts::new(name, help), &["driver_name"]);
                registered(&registry, metric)
            },
            k8s_operation_latency: seconds(
                "k8s_operation_latency",
                "Duration of writes to the API server in seconds.",
                WRITE_SECONDS,
                &["k8s_op_obj", "k8s_op_type"],
            ),
            requests: {
                // As in Kubernetes' own clients.
                let name = "rest_client_requests_total";
                let help = "Requests to the API server by status code and method. Retries after 429, 503 and 504 are not counted.";
                let metric = IntCounterVec::new(Opts::new(name, help), &["code", "method"]);
                registered(&registry, metric)
            },
            key_process_latency: seconds(
                "key_process_latency",
                "Duration of reconciles in seconds.",
                RECONCILE_SECONDS,
                &["crd"],
            ),
            pending_key: keys("pending_key", "Objects that wait to be reconciled."),
            working_key: keys("working_key", "Objects that are being reconciled."),
            time_to_registered: {
                let name = "lbcf_time_to_registered_seconds";
                let help =
                    "Seconds from the creation of a BackendRecord to its first registration.";
                let options = HistogramOpts::new(name, help).buckets(REGISTER_SECONDS.to_vec());
                registered(&registry, Histogram::with_opts(options))
            },
            unregistered: gauge(
                "lbcf_unregistered_backends",
                "BackendRecords that are not registered.",
            ),
            orphaned_backends: {
                let name = "lbcf_orphaned_backends";
                let help = "Registered backends that no BackendRecord accounts for, as of the last audit of each load balancer.";
                let metric = IntGaugeVec::new(Opts::new(name, help), &["driver_name"]);
                registered(&registry, metric)
            },
            events_dropped: {
                let name = "lbcf_events_dropped_total";
                let help = "Events that were not written: too many about success, or writes that failed for good.";
                registered(&registry, IntCounter::new(name, help))
            },
            leader: gauge("lbcf_leader", "1 if this process is the leader, else 0."),
            registry,
        }
    }
}

/// Cannot fail at run time once the tests have passed, because names, labels and buckets are constants.
#[allow(clippy::expect_used)]
fn registered<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> M {
    let metric = metric.expect("the definition of a metric is valid");
    registry
        .register(Box::new(metric.clone()))
        .expect("names of metrics are unique");
    metric
}
