//! The records of a Bind: one for each usable load balancer and pod's port (b35), or node or endpoint of a
//! Service (d77).

use super::decide::ensure_policy;
use crate::api::{
    BackendRecord, BackendRecordSpec, Bind, PodBackendRecord, PortSelector,
    TargetLoadBalancerStatus, names,
};
use crate::backends::{self, BackendOfService, pod_source};
use crate::index::PodView;

/// The two possible names of the record for a port of a pod (b48, u21).
pub(crate) fn names_of_pod(
    bind: &Bind,
    lb: &str,
    pod: &PodView,
    (port, protocol): (i32, &str),
) -> [String; 2] {
    let bind = bind.metadata.name.as_deref().unwrap_or_default();
    names::bind_record_names(bind, lb, &pod.key.name, &pod.ip, protocol, port)
}

pub(super) fn of_pod(
    bind: &Bind,
    name: String,
    lb: &TargetLoadBalancerStatus,
    pod: &PodView,
    (port, protocol): (i32, &str),
) -> BackendRecord {
    let mut spec = spec_at(bind, lb);
    spec.pod_backend = Some(PodBackendRecord {
        name: pod.key.name.to_string(),
        port: PortSelector {
            port: Some(port),
            port_number: None,
            protocol: Some(protocol.to_owned()),
        },
    });
    let pod_name = names::label_value(&pod.key.name);
    let labels = labels_at(bind, lb).chain([(names::LABEL_BIND_POD, pod_name)]);
    backends::record(bind, name, labels, Some(pod_source(pod)), spec)
}

pub(super) fn of_service(
    bind: &Bind,
    name: String,
    lb: &TargetLoadBalancerStatus,
    backend: &BackendOfService<'_>,
) -> BackendRecord {
    let mut spec = spec_at(bind, lb);
    let details = backend.describe(names::LABEL_BIND_POD, &mut spec);
    let labels = labels_at(bind, lb).chain(details.labels);
    backends::record(bind, name, labels, details.source, spec)
}

fn spec_at(bind: &Bind, lb: &TargetLoadBalancerStatus) -> BackendRecordSpec {
    BackendRecordSpec {
        lb_driver: lb.driver.clone(),
        lb_name: lb.name.clone(),
        lb_info: lb.lb_info.clone(),
        lb_attributes: lb.last_synced_attributes.clone().unwrap_or_default(),
        parameters: bind.spec.parameters.clone(),
        ensure_policy: ensure_policy(bind),
        ..BackendRecordSpec::default()
    }
}

fn labels_at(
    bind: &Bind,
    lb: &TargetLoadBalancerStatus,
) -> impl Iterator<Item = (&'static str, String)> {
    let name = bind.metadata.name.as_deref().unwrap_or_default();
    let labels = [
        (names::LABEL_BIND_DRIVER, names::label_value(&lb.driver)),
        (names::LABEL_BIND_LB, names::label_value(&lb.name)),
        (names::LABEL_BIND, names::label_value(name)),
    ];
    labels.into_iter()
}

/// The other of the two possible names of a pod's record, for when another owner's record has the first
/// (u21). The names of other records never collide.
pub(super) fn renamed(record: &BackendRecord, bind: &str, ip: &str) -> Option<String> {
    let spec = &record.spec;
    if spec.endpoint_backend.is_some() {
        return None;
    }
    let pod = spec.pod_backend.as_ref()?;
    let protocol = pod.port.protocol.as_deref().unwrap_or_default();
    let port = pod.port.number();
    let [_, other] = names::bind_record_names(bind, &spec.lb_name, &pod.name, ip, protocol, port);
    Some(other)
}
