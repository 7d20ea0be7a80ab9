//! Prometheus metrics.
//!
//! The first group has the names and labels of the original controller, so that existing
//! dashboards work; new metrics are named `lbcf_…`. Each controller has its own registry. Gauges such as
//! queue sizes are collected at each scrape.
//!
//! Label values are bounded: kinds, operations and webhooks are fixed, and the series of a driver are
//! removed with the driver.

mod definitions;

use crate::api::ObjectKey;
use definitions::Definitions;
use http::{Method, StatusCode};
use prometheus::{IntGaugeVec, TextEncoder};
use std::sync::Arc;
use std::time::Duration;

/// The result of a call to a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No response, or one that cannot be decoded.
    Error,
    /// `Fail`, `succ: false` or `healthy: false`.
    Fail,
    /// Any other response, including `Running`.
    Ok,
}

/// The state of a backend that the time is measured to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Registered,
    Deregistered,
}

/// The values that are collected at a scrape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// For each kind: the numbers of queued and of running requests.
    pub(crate) queue: Vec<(&'static str, usize, usize)>,
    /// Number of records that are not registered.
    pub(crate) unregistered: usize,
    pub(crate) leads: bool,
}

/// The metrics of one controller. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Metrics(Arc<Definitions>);

impl Metrics {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Definitions::new()))
    }

    /// Records a finished call to a driver.
    pub(crate) fn webhook_called(
        &self,
        driver: &ObjectKey,
        webhook: &'static str,
        latency: Duration,
        outcome: Outcome,
    ) {
        let driver = driver.to_string();
        let labels = &[driver.as_str(), webhook];
        let metrics = &self.0.drivers;
        metrics.webhook_calls.with_label_values(labels).inc();
        match outcome {
            Outcome::Error => {
                metrics.webhook_errors.with_label_values(labels).inc();
                return;
            }
            Outcome::Fail => metrics.webhook_fails.with_label_values(labels).inc(),
            Outcome::Ok => {}
        }
        let latency_of = metrics.webhook_latency.with_label_values(labels);
        latency_of.observe(latency.as_secs_f64());
    }

    /// Records the health of a driver; none if it does not say.
    pub(crate) fn driver_health(&self, driver: &ObjectKey, is_healthy: Option<bool>) {
        set(&self.0.drivers.healthy, driver, is_healthy.map(i64::from));
    }

    /// Records how many backends of a driver's load balancers no record accounts for; none if they are
    /// not audited.
    pub(crate) fn orphaned(&self, driver: &ObjectKey, backends: Option<usize>) {
        let backends = backends.map(to_i64);
        set(&self.0.drivers.orphaned_backends, driver, backends);
    }

    /// Removes the series of a deleted driver.
    pub(crate) fn forget_driver(&self, driver: &ObjectKey) {
        self.driver_health(driver, None);
        self.orphaned(driver, None);
        let driver = driver.to_string();
        let metrics = &self.0.drivers;
        for webhook in lbcf_driver_sdk::webhook::ALL {
            let labels = &[driver.as_str(), webhook.name];
            // A webhook that was never called has no series.
            let _ = metrics.webhook_calls.remove_label_values(labels);
            let _ = metrics.webhook_errors.remove_label_values(labels);
            let _ = metrics.webhook_fails.remove_label_values(labels);
            let _ = metrics.webhook_latency.remove_label_values(labels);
        }
        for times in [&metrics.time_to_registered, &metrics.time_to_deregistered] {
            let _ = times.remove_label_values(&[&driver]);
        }
    }

    /// Records a finished write to the API server, successful or not.
    pub(crate) fn written(&self, kind: &str, operation: &str, latency: Duration) {
        self.0
            .k8s_operation_latency
            .with_label_values(&[kind, operation])
            .observe(latency.as_secs_f64());
    }

    /// Records a finished request to the API server; without a status if there was no response.
    pub(crate) fn requested(&self, method: &Method, status: Option<StatusCode>) {
        let code = status.as_ref().map_or("<error>", StatusCode::as_str);
        self.0
            .requests
            .with_label_values(&[code, method.as_str()])
            .inc();
    }

    /// Counts an event that was dropped.
    pub(crate) fn event_dropped(&self) {
        self.0.events_dropped.inc();
    }

    /// Counts an event of an object or namespace that has too many.
    pub(crate) fn event_suppressed(&self) {
        self.0.events_suppressed.inc();
    }

    /// Records a finished reconcile.
    pub(crate) fn processed(&self, kind: &'static str, took: Duration) {
        self.0
            .key_process_latency
            .with_label_values(&[kind])
            .observe(took.as_secs_f64());
    }

    /// Records the time until a backend of a driver was registered or deregistered.
    pub(crate) fn reached(&self, driver: &ObjectKey, target: Target, took: Duration) {
        let times = match target {
            Target::Registered => &self.0.drivers.time_to_registered,
            Target::Deregistered => &self.0.drivers.time_to_deregistered,
        };
        let times = times.with_label_values(&[&driver.to_string()]);
        times.observe(took.as_secs_f64());
    }

    /// All metrics in the Prometheus text format.
    ///
    /// # Errors
    /// [`prometheus::Error`], which would be a defect.
    pub(crate) fn render(&self, now: &Snapshot) -> prometheus::Result<String> {
        let metrics = &self.0;
        for (kind, pending, working) in &now.queue {
            let kind = &[*kind];
            let (pending, working) = (to_i64(*pending), to_i64(*working));
            metrics.pending_key.with_label_values(kind).set(pending);
            metrics.working_key.with_label_values(kind).set(working);
        }
        metrics.unregistered.set(to_i64(now.unregistered));
        self.0.leader.set(i64::from(now.leads));
        TextEncoder::new().encode_to_string(&self.0.registry.gather())
    }
}

/// Sets the gauge of a driver, or removes it, which it may not have.
fn set(gauges: &IntGaugeVec, driver: &ObjectKey, value: Option<i64>) {
    let driver = driver.to_string();
    let labels = &[driver.as_str()];
    match value {
        Some(value) => gauges.with_label_values(labels).set(value),
        None => drop(gauges.remove_label_values(labels)),
    }
}

fn to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
