//! The records that a group asks for: one for each usable load balancer and pod's port (b31), node
//! (b112) or address (b26).

use super::load_balancer_state::LoadBalancerState;
use crate::api::{
    BackendGroup, BackendRecord, BackendRecordSpec, PodBackendRecord, PortSelector,
    ServiceBackendRecord, StringMap,
};
use crate::backends;
use crate::index::{NodeView, PodView};
use crate::names;
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

/// A backend that a group registers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Backend<'a> {
    /// A port of a pod.
    Pod {
        pod: &'a PodView,
        port: (i32, Protocol),
    },
    /// A service's port on a node.
    Node {
        service: &'a str,
        port: (i32, Protocol),
        node_port: i32,
        node: &'a NodeView,
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
        Backend::Node {
            service,
            port,
            node,
            ..
        } => {
            let (port, protocol) = (port.0, port.1.as_str());
            names::service_record_name(lb, group, service, port, protocol, &node.key.name)
        }
        Backend::Static { addr } => names::static_record_name(lb, group, addr),
    }
}

/// A backend's record.
pub(super) fn record(group: &BackendGroup, lb: &Usable<'_>, backend: Backend<'_>) -> BackendRecord {
    let mut spec = BackendRecordSpec {
        lb_driver: lb.driver.to_owned(),
        lb_name: lb.name.to_owned(),
        lb_info: lb.lb_info.clone(),
        lb_attributes: lb.attributes.clone(),
        parameters: group.spec.parameters.clone(),
        ensure_policy: group.spec.ensure_policy.clone(),
        ..BackendRecordSpec::default()
    };
    let (label, value, source) = match backend {
        Backend::Pod { pod, port } => {
            spec.pod_backend = Some(PodBackendRecord {
                name: pod.key.name.clone(),
                port: PortSelector::new(port.0, port.1),
            });
            let value = names::label_value(&pod.key.name);
            let source = backends::pod_source(pod);
            (names::LABEL_BACKEND_POD, value, Some(source))
        }
        Backend::Node {
            service,
            port,
            node_port,
            node,
        } => {
            spec.service_backend = Some(ServiceBackendRecord {
                name: service.to_owned(),
                port: PortSelector::new(port.0, port.1),
                node_port,
                node_name: node.key.name.clone(),
            });
            let value = names::label_value(service);
            let source = backends::node_source(node);
            (names::LABEL_BACKEND_SERVICE, value, Some(source))
        }
        Backend::Static { addr } => {
            spec.static_addr = Some(addr.to_owned());
            let value = names::address_label(addr);
            (names::LABEL_BACKEND_STATIC_ADDR, value, None)
        }
    };
    let group_name = group.metadata.name.as_deref().unwrap_or_default();
    let labels = [
        (names::LABEL_LB_DRIVER, names::label_value(lb.driver)),
        (names::LABEL_LB_NAME, names::label_value(lb.name)),
        (names::LABEL_BACKEND_GROUP, names::label_value(group_name)),
        (label, value),
    ];
    let name = name(group, lb.name, backend);
    backends::record(group, name, labels, source, spec)
}
