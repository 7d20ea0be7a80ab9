//! The mock's own metrics, beside those of the SDK's router: what the cloud has, what its load balancers
//! serve, and what was done to its drivers (d82).
//!
//! They are read from the cloud when they are asked for, so they outlive restarts of the driver. Labels are
//! protocols, names of webhooks, outcomes, actions and quotas, never text of a peer, so their number is
//! bounded.

use crate::cloud::{Amounts, Cloud, ListenerProtocol};
use lbcf_driver_sdk::server::prometheus::core::{Collector, Desc};
use lbcf_driver_sdk::server::prometheus::proto::MetricFamily;
use lbcf_driver_sdk::server::prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use std::sync::{Mutex, PoisonError};

/// Adds the metrics of a cloud to those of a run of its driver.
pub(crate) fn register(cloud: &Cloud, registry: &Registry) {
    let metrics = CloudMetrics {
        cloud: cloud.clone(),
        families: Mutex::new(Families::new()),
    };
    if let Err(error) = registry.register(Box::new(metrics)) {
        tracing::error!(%error, "the mock's metrics are not shown");
    }
}

struct CloudMetrics {
    cloud: Cloud,
    /// Locked while they are filled and read.
    families: Mutex<Families>,
}

/// Filled when they are read.
struct Families {
    load_balancers: IntGaugeVec,
    listeners: IntGaugeVec,
    targets: IntGaugeVec,
    draining: IntGaugeVec,
    open: IntGaugeVec,
    connections: IntCounterVec,
    requests: IntCounterVec,
    failed: IntCounterVec,
    faults: IntCounterVec,
    calls: IntCounterVec,
    quota_used: IntGaugeVec,
    quota_limit: IntGaugeVec,
}

impl Collector for CloudMetrics {
    fn desc(&self) -> Vec<&Desc> {
        Vec::new()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let families = self.families.lock();
        let families = families.unwrap_or_else(PoisonError::into_inner);
        families.fill(&self.cloud);
        families.collect()
    }
}

impl Families {
    fn new() -> Self {
        Self {
            load_balancers: gauges(
                "lbcf_mock_load_balancers",
                "Load balancers of the cloud, by state.",
                &["state"],
            ),
            listeners: gauges(
                "lbcf_mock_listeners",
                "Listeners of the cloud, by protocol.",
                &["protocol"],
            ),
            targets: gauges(
                "lbcf_mock_targets",
                "Targets that are bound, by whether a driver or a user has bound them.",
                &["bound_by"],
            ),
            draining: gauges(
                "lbcf_mock_traffic_draining_targets",
                "Targets that are not bound any more and still have something open.",
                &["protocol"],
            ),
            open: gauges(
                "lbcf_mock_traffic_open_connections",
                "Connections of clients, and sessions of UDP, that are open.",
                &["protocol"],
            ),
            connections: counters(
                "lbcf_mock_traffic_connections_total",
                "Connections of clients, and sessions of UDP.",
                &["protocol"],
            ),
            requests: counters(
                "lbcf_mock_traffic_requests_total",
                "Requests of HTTP, and datagrams of UDP.",
                &["protocol"],
            ),
            failed: counters(
                "lbcf_mock_traffic_failed_total",
                "Connections, requests and datagrams that no backend has served.",
                &["protocol"],
            ),
            faults: counters(
                "lbcf_mock_faults_applied_total",
                "Calls that a fault rule has hit, by action.",
                &["action"],
            ),
            calls: counters(
                "lbcf_mock_calls_total",
                "Webhook calls in the journal, with those that are not kept any more, by outcome.",
                &["webhook", "outcome"],
            ),
            quota_used: gauges(
                "lbcf_mock_quota_used",
                "Use of a quota: of backends that of the fullest endpoint, of calls that of the current second.",
                &["quota"],
            ),
            quota_limit: gauges(
                "lbcf_mock_quota_limit",
                "Limit of a quota, if there is one.",
                &["quota"],
            ),
        }
    }

    fn fill(&self, cloud: &Cloud) {
        self.fill_amounts(&cloud.amounts());
        self.fill_traffic(cloud);
        self.faults.reset();
        for (action, applied) in cloud.faults().applied() {
            self.faults.with_label_values(&[action]).inc_by(applied);
        }
        self.calls.reset();
        for ((webhook, outcome), calls) in cloud.call_log().outcomes() {
            let counter = self.calls.with_label_values(&[webhook, outcome]);
            counter.inc_by(calls);
        }
    }

    fn fill_amounts(&self, amounts: &Amounts) {
        for (state, number) in [("created", amounts.created), ("creating", amounts.creating)] {
            set(&self.load_balancers, state, number);
        }
        for (protocol, number) in ListenerProtocol::ALL.iter().zip(amounts.listeners) {
            set(&self.listeners, protocol.as_str(), number);
        }
        let bound = [
            ("driver", amounts.bound_by_drivers),
            ("hand", amounts.bound_by_hand),
        ];
        for (by, number) in bound {
            set(&self.targets, by, number);
        }
        self.quota_limit.reset();
        for quota in &amounts.quotas {
            set(&self.quota_used, quota.name, quota.used);
            if let Some(limit) = quota.limit {
                set(&self.quota_limit, quota.name, limit);
            }
        }
    }

    /// Nothing without a data plane.
    fn fill_traffic(&self, cloud: &Cloud) {
        for counters in [&self.connections, &self.requests, &self.failed] {
            counters.reset();
        }
        for gauges in [&self.open, &self.draining] {
            gauges.reset();
        }
        let Some(traffic) = cloud.traffic_totals() else {
            return;
        };
        for (protocol, total) in ListenerProtocol::ALL.iter().zip(traffic) {
            let label = &[protocol.as_str()];
            let counts = total.counts;
            self.connections
                .with_label_values(label)
                .inc_by(counts.connections);
            self.requests
                .with_label_values(label)
                .inc_by(counts.requests);
            self.failed.with_label_values(label).inc_by(counts.failed);
            set(&self.open, protocol.as_str(), counts.open);
            set(&self.draining, protocol.as_str(), total.draining);
        }
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let all: [&dyn Collector; 12] = [
            &self.load_balancers,
            &self.listeners,
            &self.targets,
            &self.draining,
            &self.open,
            &self.connections,
            &self.requests,
            &self.failed,
            &self.faults,
            &self.calls,
            &self.quota_used,
            &self.quota_limit,
        ];
        let collected = all.into_iter().flat_map(Collector::collect);
        collected.filter(|it| !it.get_metric().is_empty()).collect()
    }
}

fn set(gauges: &IntGaugeVec, label: &str, value: impl TryInto<i64>) {
    let value = value.try_into().unwrap_or(i64::MAX);
    gauges.with_label_values(&[label]).set(value);
}

/// Names and labels are constants, so the tests show that this does not panic.
#[allow(clippy::expect_used)]
fn gauges(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect("valid names and labels")
}

/// As for [`gauges`].
#[allow(clippy::expect_used)]
fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("valid names and labels")
}
