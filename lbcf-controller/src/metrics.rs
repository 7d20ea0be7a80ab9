//! What is measured, for Prometheus.
//!
//! The first group has the names and labels of the original controller (b143 to b145), so that its
//! dashboards go on working; what is new here is called `lbcf_…`. Each controller has a registry
//! of its own. What can be counted when somebody asks is counted then: sizes of queues, records
//! that are not registered, who leads.
//!
//! Labels are bounded: kinds, operations and webhooks are fixed, and a driver's series end with
//! the driver.

mod definitions;

use crate::key::ObjectKey;
use definitions::Definitions;
use prometheus::TextEncoder;
use std::sync::Arc;
use std::time::Duration;

/// How a call to a driver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There was no answer, or none that can be read.
    Error,
    /// The driver failed, refused, or is not healthy.
    Fail,
    /// Anything else, `Running` too.
    Ok,
}

/// What is done to an object at the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    UpdateStatus,
    Delete,
}

impl Operation {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Update => "Update",
            Self::UpdateStatus => "UpdateStatus",
            Self::Delete => "Delete",
        }
    }
}

/// What is counted when somebody asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// By kind: how many keys wait for their turn, and how many are worked on.
    pub(crate) queue: Vec<(&'static str, usize, usize)>,
    /// How many records are not registered.
    pub(crate) unregistered: usize,
    /// Whether this process leads.
    pub(crate) leads: bool,
}

/// One controller's metrics. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Metrics(Arc<Definitions>);

impl Metrics {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Definitions::new()))
    }

    /// Notes a call to a driver that ended.
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

    /// Ends the series of a driver that is gone.
    pub(crate) fn forget_driver(&self, driver: &ObjectKey) {
        let driver = driver.to_string();
        for webhook in lbcf_driver_sdk::webhook::ALL {
            let labels = &[driver.as_str(), webhook.name];
            // What was never called has no series.
            let _ = self.0.webhook_calls.remove_label_values(labels);
            let _ = self.0.webhook_errors.remove_label_values(labels);
            let _ = self.0.webhook_fails.remove_label_values(labels);
            let _ = self.0.webhook_latency.remove_label_values(labels);
        }
    }

    /// Notes a write to the API server that ended, however it did.
    pub(crate) fn written(&self, kind: &str, operation: Operation, latency: Duration) {
        self.0
            .k8s_operation_latency
            .with_label_values(&[kind, operation.as_str()])
            .observe(latency.as_secs_f64());
    }

    /// Notes that a key was worked on.
    pub(crate) fn processed(&self, kind: &'static str, took: Duration) {
        self.0
            .key_process_latency
            .with_label_values(&[kind])
            .observe(took.as_secs_f64());
    }

    /// Notes that a record was registered for the first time, so long after it was made.
    pub(crate) fn registered(&self, after: Duration) {
        self.0.time_to_registered.observe(after.as_secs_f64());
    }

    /// Everything, in Prometheus' text format.
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
