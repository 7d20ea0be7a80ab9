//! The records that a group asks for: one for each usable load balancer and pod's port (b31) or
//! address (b26).

use super::load_balancer_state::LoadBalancerState;
use crate::api::{
    BackendGroup, BackendRecord, BackendRecordSpec, PodBackendRecord, PodSelection, PortSelector,
    StringMap,
};
use crate::index::PodView;
use crate::names;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::api::ObjectMeta;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// A load balancer that records can be made for.
pub(super) struct Usable<'a> {
    pub(super) name: &'a str,
    pub(super) driver: &'a str,
    pub(super) lb_info: &'a StringMap,
    pub(super) attributes: &'a StringMap,
}

pub(super) fn usable(load_balancers: &BTreeMap<String, LoadBalancerState>) -> Vec<Usable<'_>> {
    load_balancers
        .iter()
        .filter_map(|(name, state)| match state {
            LoadBalancerState::Usable {
                driver,
                lb_info,
                attributes,
            } => Some(Usable {
                name,
                driver,
                lb_info,
                attributes,
            }),
            _ => None,
        })
        .collect()
}

/// The ports of a selection, each once (b23).
pub(super) fn ports(selection: &PodSelection) -> Vec<(i32, Protocol)> {
    let legacy = selection.port.iter().filter(|_| selection.ports.is_empty());
    let mut ports = Vec::new();
    for port in selection.ports.iter().chain(legacy) {
        let port = (port.number(), port.protocol());
        if port.0 > 0 && !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

/// A backend that a group registers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Backend<'a> {
    /// A port of a pod.
    Pod {
        pod: &'a PodView,
        port: (i32, Protocol),
    },
    /// An address that a user wrote down.
    Static { addr: &'a str },
}

/// The name of a backend's record.
pub(super) fn name(group: &BackendGroup, lb: &str, backend: Backend<'_>) -> String {
    let group = group.metadata.name.as_deref().unwrap_or_default();
    match backend {
        Backend::Pod { pod, port } => {
            names::pod_record_name(lb, group, &pod.uid, port.0, port.1.as_str())
        }
        Backend::Static { addr } => names::static_record_name(lb, group, addr),
    }
}

/// A backend's record. It is born with its finalizer, so that it cannot go before its backend
/// does.
pub(super) fn record(group: &BackendGroup, lb: &Usable<'_>, backend: Backend<'_>) -> BackendRecord {
    let group_name = group.metadata.name.clone().unwrap_or_default();
    let mut spec = BackendRecordSpec {
        lb_driver: lb.driver.to_owned(),
        lb_name: lb.name.to_owned(),
        lb_info: lb.lb_info.clone(),
        lb_attributes: lb.attributes.clone(),
        parameters: group.spec.parameters.clone(),
        ensure_policy: group.spec.ensure_policy.clone(),
        ..BackendRecordSpec::default()
    };
    let (label, value) = match backend {
        Backend::Pod { pod, port } => {
            spec.pod_backend = Some(PodBackendRecord {
                name: pod.key.name.clone(),
                port: PortSelector::new(port.0, port.1),
            });
            (names::LABEL_BACKEND_POD, names::label_value(&pod.key.name))
        }
        Backend::Static { addr } => {
            spec.static_addr = Some(addr.to_owned());
            (names::LABEL_BACKEND_STATIC_ADDR, names::address_label(addr))
        }
    };
    let labels = [
        (names::LABEL_LB_DRIVER, names::label_value(lb.driver)),
        (names::LABEL_LB_NAME, names::label_value(lb.name)),
        (names::LABEL_BACKEND_GROUP, names::label_value(&group_name)),
        (label, value),
    ];
    let mut record = BackendRecord::new(&name(group, lb.name, backend), spec);
    record.metadata = ObjectMeta {
        name: record.metadata.name,
        // b51: where its group is.
        namespace: group.metadata.namespace.clone(),
        labels: Some(
            labels
                .into_iter()
                .map(|(label, value)| (label.to_owned(), value))
                .collect(),
        ),
        finalizers: Some(vec![names::FINALIZER_BACKEND_RECORD.to_owned()]),
        owner_references: Some(vec![OwnerReference {
            api_version: BackendGroup::api_version(&()).into_owned(),
            kind: BackendGroup::kind(&()).into_owned(),
            name: group_name,
            uid: group.metadata.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }]),
        ..ObjectMeta::default()
    };
    record
}
