//! The mock's own metrics, beside those of the SDK's router: what the cloud has, what its load balancers
//! serve, and what was done to its drivers.
//!
//! They are read from the cloud when they are asked for, so they outlive restarts of the driver. Labels are
//! protocols, names of webhooks, outcomes, actions and quotas, never text of a peer, so their number is
//! bounded.

use crate::cloud::Cloud;
use crate::resources::{CloudState, ListenerProtocol};
use crate::traffic::TrafficTotal;
use lbcf_driver_sdk::server::prometheus::Registry;
use lbcf_driver_sdk::server::prometheus::core::{Collector, Desc};
use lbcf_driver_sdk::server::prometheus::proto::{
    Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType,
};

/// Adds the metrics of a cloud to those of a run of its driver.
pub(crate) fn register(cloud: &Cloud, registry: &Registry) {
    let metrics = CloudMetrics(cloud.clone());
    if let Err(error) = registry.register(Box::new(metrics)) {
        tracing::error!(%error, "the mock's metrics are not shown");
    }
}

struct CloudMetrics(Cloud);

/// The values of the labels, and that of the metric.
type Sample = (Vec<&'static str>, u64);

/// Type, name and help of a metric of the data plane, and its value for a protocol.
type TrafficRow = (
    MetricType,
    &'static str,
    &'static str,
    fn(&TrafficTotal) -> u64,
);

impl Collector for CloudMetrics {
    fn desc(&self) -> Vec<&Desc> {
        Vec::new()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let cloud = &self.0;
        let families = of_cloud(&cloud.state());
        let families = families.into_iter().chain(of_traffic(cloud));
        let families = families.chain(of_calls(cloud)).chain(of_quotas(cloud));
        families.filter(|it| !it.get_metric().is_empty()).collect()
    }
}

fn of_cloud(state: &CloudState) -> [MetricFamily; 3] {
    let all = &state.load_balancers;
    let creating = all.iter().filter(|it| it.creating.is_some()).count();
    let listeners = |protocol: &ListenerProtocol| {
        let all = all.iter().flat_map(|it| &it.listeners);
        let number = all.filter(|it| it.protocol == *protocol).count();
        (vec![protocol.as_str()], number as u64)
    };
    let targets = || state.groups().flat_map(|(_, group)| &group.targets);
    let bound = |by: &'static str, by_driver: bool| {
        let number = targets().filter(|it| it.record_id.is_some() == by_driver);
        (vec![by], number.count() as u64)
    };
    let load_balancers = vec![
        (vec!["created"], (all.len() - creating) as u64),
        (vec!["creating"], creating as u64),
    ];
    let listeners = ListenerProtocol::ALL.iter().map(listeners).collect();
    let targets = vec![bound("driver", true), bound("hand", false)];
    [
        (
            "lbcf_mock_load_balancers",
            "Load balancers of the cloud, by state.",
            "state",
            load_balancers,
        ),
        (
            "lbcf_mock_listeners",
            "Listeners of the cloud, by protocol.",
            "protocol",
            listeners,
        ),
        (
            "lbcf_mock_targets",
            "Targets that are bound, by whether a driver or a user has bound them.",
            "bound_by",
            targets,
        ),
    ]
    .map(|(name, help, label, samples)| family(MetricType::GAUGE, name, help, &[label], samples))
}

/// Without samples if there is no data plane.
fn of_traffic(cloud: &Cloud) -> [MetricFamily; 5] {
    use MetricType::{COUNTER, GAUGE};
    let totals = Vec::from_iter(cloud.traffic_totals().into_iter().flatten());
    let rows: [TrafficRow; 5] = [
        (
            GAUGE,
            "lbcf_mock_traffic_draining_targets",
            "Targets that are not bound any more and still have something open.",
            |total| total.draining as u64,
        ),
        (
            GAUGE,
            "lbcf_mock_traffic_open_connections",
            "Connections of clients, and sessions of UDP, that are open.",
            |total| total.counts.open,
        ),
        (
            COUNTER,
            "lbcf_mock_traffic_connections_total",
            "Connections of clients, and sessions of UDP.",
            |total| total.counts.connections,
        ),
        (
            COUNTER,
            "lbcf_mock_traffic_requests_total",
            "Requests of HTTP, and datagrams of UDP.",
            |total| total.counts.requests,
        ),
        (
            COUNTER,
            "lbcf_mock_traffic_failed_total",
            "Connections, requests and datagrams that no backend has served.",
            |total| total.counts.failed,
        ),
    ];
    rows.map(|(kind, name, help, value)| {
        let totals = ListenerProtocol::ALL.iter().zip(&totals);
        let samples = totals.map(|(it, total)| (vec![it.as_str()], value(total)));
        family(kind, name, help, &["protocol"], samples.collect())
    })
}

fn of_calls(cloud: &Cloud) -> [MetricFamily; 2] {
    let applied = cloud.faults().applied().into_iter();
    let outcomes = cloud.call_log().outcomes().into_iter();
    [
        family(
            MetricType::COUNTER,
            "lbcf_mock_faults_applied_total",
            "Calls that a fault rule has hit, by action.",
            &["action"],
            applied
                .map(|(action, calls)| (vec![action], calls))
                .collect(),
        ),
        family(
            MetricType::COUNTER,
            "lbcf_mock_calls_total",
            "Webhook calls in the journal, with those that are not kept any more, by outcome.",
            &["outcome", "webhook"],
            outcomes
                .map(|((webhook, outcome), calls)| (vec![outcome, webhook], calls))
                .collect(),
        ),
    ]
}

fn of_quotas(cloud: &Cloud) -> [MetricFamily; 2] {
    let quotas = cloud.quota_use();
    let used = quotas.iter().map(|it| (vec![it.name], it.used as u64));
    let limits = quotas
        .iter()
        .filter_map(|it| Some((vec![it.name], it.limit? as u64)));
    [
        family(
            MetricType::GAUGE,
            "lbcf_mock_quota_used",
            "Use of a quota: of backends that of the fullest endpoint, of calls that of the current second.",
            &["quota"],
            used.collect(),
        ),
        family(
            MetricType::GAUGE,
            "lbcf_mock_quota_limit",
            "Limit of a quota, if there is one.",
            &["quota"],
            limits.collect(),
        ),
    ]
}

/// A metric with a sample for each of its series. Labels are in the order of their names.
fn family(
    kind: MetricType,
    name: &str,
    help: &str,
    labels: &[&str],
    samples: Vec<Sample>,
) -> MetricFamily {
    let metric = |(values, value): Sample| {
        let labels = labels.iter().zip(values).map(|(name, value)| {
            let mut label = LabelPair::default();
            label.set_name((*name).to_owned());
            label.set_value(value.to_owned());
            label
        });
        let mut metric = Metric::from_label(labels.collect());
        let value = value as f64;
        if kind == MetricType::COUNTER {
            let mut counter = Counter::default();
            counter.set_value(value);
            metric.set_counter(counter);
        } else {
            let mut gauge = Gauge::default();
            gauge.set_value(value);
            metric.set_gauge(gauge);
        }
        metric
    };
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(help.to_owned());
    family.set_field_type(kind);
    family.set_metric(samples.into_iter().map(metric).collect());
    family
}
