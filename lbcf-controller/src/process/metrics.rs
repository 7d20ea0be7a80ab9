//! Prometheus metrics.
//!
//! The first group has the names and labels of the original controller (b143 to b145), so that existing
//! dashboards work; new metrics are named `lbcf_…`. Each controller has its own registry. Gauges such as
//! queue sizes are collected at each scrape.
//!
//! Label values are bounded: kinds, operations and webhooks are fixed, and the series of a driver are
//! removed with the driver.

mod definitions;

use crate::api::ObjectKey;
use definitions::Definitions;
use http::{Method, StatusCode};
use prometheus::TextEncoder;
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

/// The values that are collected at a scrape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// For each kind: the numbers of queued and of running requests.
    pub(crate) queue: Vec<(&'static str, usize, usize)>,
    /// Number of records that are not registered.
    pub(crate) unregistered: usize,
    /// Whether this process is the leader.
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
        self.0.webhook_calls.with_label_values(labels).inc();
        match outcome {
            Outcome::Error => {
                self.0.webhook_errors.with_label_values(labels).inc();
                return;
            }
            Outcome::Fail => self.0.webhook_fails.with_label_values(labels).inc(),
            Outcome::Ok => {}
        }
        self.0
            .webhook_latency
            .with_label_values(labels)
            .observe(latency.as_secs_f64());
    }

    /// Records whether a driver is healthy; none if it does not say.
    pub(crate) fn driver_health(&self, driver: &ObjectKey, is_healthy: Option<bool>) {
        let driver = driver.to_string();
        let labels = &[driver.as_str()];
        match is_healthy {
            Some(is_healthy) => {
                let gauge = self.0.driver_healthy.with_label_values(labels);
                gauge.set(i64::from(is_healthy));
            }
            None => {
                // It has no series if it never said.
                let _ = self.0.driver_healthy.remove_label_values(labels);
            }
        }
    }

    /// Removes the series of a deleted driver.
    pub(crate) fn forget_driver(&self, driver: &ObjectKey) {
        self.driver_health(driver, None);
        self.not_audited(driver);
        let driver = driver.to_string();
        for webhook in lbcf_driver_sdk::webhook::ALL {
            let labels = &[driver.as_str(), webhook.name];
            // A webhook that was never called has no series.
            let _ = self.0.webhook_calls.remove_label_values(labels);
            let _ = self.0.webhook_errors.remove_label_values(labels);
            let _ = self.0.webhook_fails.remove_label_values(labels);
            let _ = self.0.webhook_latency.remove_label_values(labels);
        }
    }

    /// Sets how many backends of a driver's load balancers no record accounts for.
    pub(crate) fn orphaned(&self, driver: &ObjectKey, backends: usize) {
        let backends = i64::try_from(backends).unwrap_or(i64::MAX);
        let driver = driver.to_string();
        self.0
            .orphaned_backends
            .with_label_values(&[driver.as_str()])
            .set(backends);
    }

    /// Ends the series of a driver whose load balancers are not audited any more.
    pub(crate) fn not_audited(&self, driver: &ObjectKey) {
        let driver = driver.to_string();
        // It may have been removed with the driver.
        let _ = self
            .0
            .orphaned_backends
            .remove_label_values(&[driver.as_str()]);
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

    /// Records a finished reconcile.
    pub(crate) fn processed(&self, kind: &'static str, took: Duration) {
        self.0
            .key_process_latency
            .with_label_values(&[kind])
            .observe(took.as_secs_f64());
    }

    /// Records the time from a record's creation to its first registration.
    pub(crate) fn registered(&self, after: Duration) {
        self.0.time_to_registered.observe(after.as_secs_f64());
    }

    /// All metrics in the Prometheus text format.
    ///
    /// # Errors
    /// [`prometheus::Error`], which would be a defect.
    pub(crate) fn render(&self, now: &Snapshot) -> prometheus::Result<String> {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        for (kind, pending, working) in &now.queue {
            let kind = &[*kind];
            self.0
                .pending_key
                .with_label_values(kind)
                .set(count(*pending));
            self.0
                .working_key
                .with_label_values(kind)
                .set(count(*working));
        }
        self.0.unregistered.set(count(now.unregistered));
        self.0.leader.set(i64::from(now.leads));
        TextEncoder::new().encode_to_string(&self.0.registry.gather())
    }
}

#[cfg(test)]
mod tests;
