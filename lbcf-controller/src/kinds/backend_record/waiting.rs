//! Why a record waits that needs no call now. No I/O, no clock.

use crate::api::{BackendRecord, ObjectKey, reasons};
use crate::cluster::{Wait, WaitEvent};
use crate::index::Owner;
use jiff::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordWait {
    /// Its driver exists and cannot be parsed.
    DriverUnreadable,
    /// The pod cannot be registered now, or the node does not exist.
    BackendUnavailable,
    /// The record of this name has not deregistered the same address.
    Neighbour(String),
    /// The owner that its labels name has neither adopted nor deleted it.
    Adoption,
}

impl RecordWait {
    pub(super) fn describe(&self, record: &BackendRecord, driver: &ObjectKey) -> Wait {
        match self {
            Self::DriverUnreadable => Wait::new(
                reasons::DRIVER_UNREADABLE,
                format!("spec.lbDriver: LoadBalancerDriver {driver} cannot be parsed"),
                WaitEvent::Problem,
            ),
            Self::BackendUnavailable => backend_unavailable(record),
            Self::Neighbour(other) => Wait::new(
                reasons::DELAYED_ENSURE,
                format!("waiting: BackendRecord {other} is deregistering the same address"),
                WaitEvent::Progress,
            ),
            Self::Adoption => Wait::new(
                reasons::AWAITING_ADOPTION,
                adoption(record),
                WaitEvent::Problem,
            ),
        }
    }
}

/// A record whose backend is not, or no longer, what it was created for. Its owner replaces or
/// deletes it when it knows.
pub(super) fn backend_unavailable(record: &BackendRecord) -> Wait {
    let spec = &record.spec;
    if let Some(endpoint) = &spec.endpoint_backend {
        let message = format!(
            "the endpoint {} of Service {} is not ready, does not exist, or is not the one that this record was created for",
            endpoint.address, endpoint.service
        );
        return Wait::new(reasons::BACKEND_NOT_AVAILABLE, message, WaitEvent::Problem);
    }
    let message = match (&spec.pod_backend, &spec.service_backend) {
        (Some(pod), _) => format!(
            "Pod {} is not Ready, does not exist, or is not the one that this record was created for",
            pod.name
        ),
        (None, Some(service)) => format!(
            "Service {} or Node {} does not exist, or is not the one that this record was created for",
            service.name, service.node_name
        ),
        (None, None) => {
            "spec has neither podBackend nor serviceBackend nor endpointBackend nor staticAddr"
                .to_owned()
        }
    };
    Wait::new(reasons::BACKEND_NOT_AVAILABLE, message, WaitEvent::Problem)
}

/// The driver's response to `deregisterBackend` is `Running`: its clients finish.
pub(super) fn draining(since: Timestamp) -> String {
    format!("the backend drains since {since:.0}: deregisterBackend responds Running")
}

fn adoption(record: &BackendRecord) -> String {
    let owner = Owner::of(record).map(|owner| owner.request_key().to_string());
    let owner = owner.unwrap_or_default();
    format!("the record has no owner reference, and {owner} has neither adopted nor deleted it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::names::LABEL_BACKEND_GROUP;
    use crate::api::{BackendRecordSpec, PodBackendRecord, ServiceBackendRecord};

    fn described(wait: &RecordWait, spec: BackendRecordSpec) -> (&'static str, String) {
        let mut record = BackendRecord::new("r", spec);
        record.metadata.namespace = Some("ns".into());
        record.metadata.labels = Some([(LABEL_BACKEND_GROUP.into(), "web".into())].into());
        let wait = wait.describe(&record, &ObjectKey::new("kube-system", "lbcf-d"));
        (wait.reason, wait.message)
    }

    #[test]
    fn d44_each_reason_names_what_a_record_waits_for() {
        let pod = || BackendRecordSpec {
            pod_backend: Some(PodBackendRecord {
                name: "web-0".into(),
                ..PodBackendRecord::default()
            }),
            ..BackendRecordSpec::default()
        };
        let node = BackendRecordSpec {
            service_backend: Some(ServiceBackendRecord {
                name: "svc".into(),
                node_name: "node-1".into(),
                ..ServiceBackendRecord::default()
            }),
            ..BackendRecordSpec::default()
        };
        for (wait, spec, reason, named) in [
            (
                RecordWait::DriverUnreadable,
                pod(),
                "DriverUnreadable",
                "kube-system/lbcf-d",
            ),
            (
                RecordWait::BackendUnavailable,
                pod(),
                "BackendNotAvailable",
                "Pod web-0",
            ),
            (
                RecordWait::BackendUnavailable,
                node,
                "BackendNotAvailable",
                "Node node-1",
            ),
            (
                RecordWait::BackendUnavailable,
                BackendRecordSpec::default(),
                "BackendNotAvailable",
                "podBackend",
            ),
            (
                RecordWait::Neighbour("b".into()),
                pod(),
                "DelayedEnsureBackend",
                "BackendRecord b",
            ),
            (
                RecordWait::Adoption,
                pod(),
                "AwaitingAdoption",
                "BackendGroup ns/web",
            ),
        ] {
            let (is, message) = described(&wait, spec);
            assert_eq!(is, reason);
            assert!(message.contains(named), "{message}");
        }
    }
}
