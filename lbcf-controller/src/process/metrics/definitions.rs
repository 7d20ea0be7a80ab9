//! Names, labels and buckets of the metrics.

use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
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

const DRIVER: &[&str] = &["driver_name"];
const DRIVER_AND_WEBHOOK: &[&str] = &["driver_name", "webhook_name"];

#[derive(Debug)]
pub(super) struct Definitions {
    pub(super) registry: Registry,
    pub(super) drivers: DriverMetrics,
    pub(super) k8s_operation_latency: HistogramVec,
    pub(super) requests: IntCounterVec,
    pub(super) key_process_latency: HistogramVec,
    pub(super) pending_key: IntGaugeVec,
    pub(super) working_key: IntGaugeVec,
    pub(super) unregistered: IntGauge,
    pub(super) events_dropped: IntCounter,
    pub(super) events_suppressed: IntCounter,
    pub(super) leader: IntGauge,
}

/// Metrics of each driver.
#[derive(Debug)]
pub(super) struct DriverMetrics {
    pub(super) webhook_calls: IntCounterVec,
    pub(super) webhook_errors: IntCounterVec,
    pub(super) webhook_fails: IntCounterVec,
    pub(super) webhook_latency: HistogramVec,
    pub(super) time_to_registered: HistogramVec,
    pub(super) time_to_deregistered: HistogramVec,
    pub(super) healthy: IntGaugeVec,
    pub(super) orphaned_backends: IntGaugeVec,
}

impl Definitions {
    pub(super) fn new() -> Self {
        let define = Define(Registry::new());
        Self {
            drivers: DriverMetrics::new(&define),
            k8s_operation_latency: define.histograms(
                "k8s_operation_latency",
                "Duration of writes to the API server in seconds.",
                &["k8s_op_obj", "k8s_op_type"],
                WRITE_SECONDS,
            ),
            // As in Kubernetes' own clients.
            requests: define.counters(
                "rest_client_requests_total",
                "Requests to the API server by status code and method. Retries after 429, 503 and 504 are not counted.",
                &["code", "method"],
            ),
            key_process_latency: define.histograms(
                "key_process_latency",
                "Duration of reconciles in seconds.",
                &["crd"],
                RECONCILE_SECONDS,
            ),
            pending_key: define.gauges(
                "pending_key",
                "Objects that wait to be reconciled.",
                &["key_kind"],
            ),
            working_key: define.gauges(
                "working_key",
                "Objects that are being reconciled.",
                &["key_kind"],
            ),
            unregistered: define.add(IntGauge::new(
                "lbcf_unregistered_backends",
                "BackendRecords that are not registered.",
            )),
            events_dropped: define.add(IntCounter::new(
                "lbcf_events_dropped_total",
                "Events that were not written: too many about success, or writes that failed for good.",
            )),
            events_suppressed: define.add(IntCounter::new(
                "lbcf_events_suppressed_total",
                "Events that were not written because their object or namespace has too many.",
            )),
            leader: define.add(IntGauge::new(
                "lbcf_leader",
                "1 if this process is the leader, else 0.",
            )),
            registry: define.0,
        }
    }
}

impl DriverMetrics {
    fn new(define: &Define) -> Self {
        Self {
            webhook_calls: define.counters(
                "webhook_calls",
                "Calls to drivers.",
                DRIVER_AND_WEBHOOK,
            ),
            webhook_errors: define.counters(
                "webhook_errors",
                "Calls without a valid response.",
                DRIVER_AND_WEBHOOK,
            ),
            webhook_fails: define.counters(
                "webhook_fails",
                "Calls to which the driver responded with a failure or rejection.",
                DRIVER_AND_WEBHOOK,
            ),
            webhook_latency: define.histograms(
                "webhook_latency",
                "Duration of calls with a valid response in seconds.",
                DRIVER_AND_WEBHOOK,
                WEBHOOK_SECONDS,
            ),
            time_to_registered: define.histograms(
                "lbcf_time_to_registered_seconds",
                "Seconds until a backend was registered first: since its pod became Ready but for LBCF's readiness gate, and its owner and load balancer exist. Since the creation of its BackendRecord if it is no pod, or if the pod had been Ready for 5 minutes then.",
                DRIVER,
                REGISTER_SECONDS,
            ),
            time_to_deregistered: define.histograms(
                "lbcf_time_to_deregistered_seconds",
                "Seconds until a backend was deregistered, and its clients had finished: since its pod was deleted or became unready. Since the deletion of its BackendRecord if it is no pod, if the pod is gone or stays, or if it had been unready for 5 minutes then.",
                DRIVER,
                REGISTER_SECONDS,
            ),
            healthy: define.gauges(
                "lbcf_driver_healthy",
                "1 if the driver's webhook healthz says that it is healthy, 0 if it does not respond or says otherwise. Absent for drivers without healthz.",
                DRIVER,
            ),
            orphaned_backends: define.gauges(
                "lbcf_orphaned_backends",
                "Registered backends that no BackendRecord accounts for, as of the last audit of each load balancer.",
                DRIVER,
            ),
        }
    }
}

/// Defines metrics in a registry.
struct Define(Registry);

impl Define {
    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.add(IntCounterVec::new(Opts::new(name, help), labels))
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.add(IntGaugeVec::new(Opts::new(name, help), labels))
    }

    fn histograms(&self, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        self.add(HistogramVec::new(options, labels))
    }

    /// Cannot fail at run time once the tests have passed, because names, labels and buckets are
    /// constants.
    #[allow(clippy::expect_used)]
    fn add<M: Collector + Clone + 'static>(&self, metric: prometheus::Result<M>) -> M {
        let metric = metric.expect("the definition of a metric is valid");
        let added = self.0.register(Box::new(metric.clone()));
        added.expect("names of metrics are unique");
        metric
    }
}
