//! The records of a group: one for each usable load balancer and pod's port (b31), node (b112), endpoint
//! (d60) or address (b26).

use super::endpoints::GroupEndpoint;
use super::load_balancer_use::{LoadBalancerUse, UsableLoadBalancer};
use crate::api::{
    BackendGroup, BackendRecord, BackendRecordSpec, EndpointBackendRecord, PodBackendRecord,
    PortSelector, ServiceBackendRecord,
};
use crate::backends;
use crate::index::{NodeView, PodView};
use crate::names;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;

/// The usable load balancers by their names.
pub(super) fn usable(
    load_balancers: &BTreeMap<String, LoadBalancerUse>,
) -> impl Iterator<Item = (&str, &UsableLoadBalancer)> {
    load_balancers.iter().filter_map(|(name, lb)| match lb {
        LoadBalancerUse::Usable(lb) => Some((name.as_str(), lb)),
        _ => None,
    })
}

#[derive(Debug, Clone)]
pub(crate) enum GroupBackend<'a> {
    Pod {
        pod: &'a PodView,
        port: (i32, Protocol),
    },
    Node {
        service: &'a str,
        port: (i32, Protocol),
        node_port: i32,
        node: &'a NodeView,
    },
    Endpoint {
        service: &'a str,
        endpoint: GroupEndpoint,
    },
    /// An address in the spec.
    Static { addr: &'a str },
}

/// The name of the record of a backend at a load balancer.
pub(crate) fn name(group: &BackendGroup, lb: &str, backend: &GroupBackend<'_>) -> String {
    let group = group.metadata.name.as_deref().unwrap_or_default();
    match backend {
        GroupBackend::Endpoint { service, endpoint } => {
            let GroupEndpoint { found, port, .. } = endpoint;
            let target = found.endpoint.pod.as_ref();
            let target = target.map_or("", |pod| &*pod.uid);
            let (address, protocol) = (&found.endpoint.address, port.1.as_str());
            names::endpoint_record_name(lb, group, service, target, address, port.0, protocol)
        }
        GroupBackend::Pod { pod, port } => {
            names::pod_record_name(lb, group, &pod.uid, port.0, port.1.as_str())
        }
        GroupBackend::Node {
            service,
            port,
            node,
            ..
        } => {
            let (port, protocol) = (port.0, port.1.as_str());
            names::service_record_name(lb, group, service, port, protocol, &node.key.name)
        }
        GroupBackend::Static { addr } => names::static_record_name(lb, group, addr),
    }
}

pub(super) fn record(
    group: &BackendGroup,
    lb_name: &str,
    lb: &UsableLoadBalancer,
    backend: &GroupBackend<'_>,
) -> BackendRecord {
    let mut spec = BackendRecordSpec {
        lb_driver: lb.driver.clone(),
        lb_name: lb_name.to_owned(),
        lb_info: lb.lb_info.clone(),
        lb_attributes: lb.attributes.clone(),
        parameters: group.spec.parameters.clone(),
        ensure_policy: group.spec.ensure_policy.clone(),
        ..BackendRecordSpec::default()
    };
    let mut pod_of_endpoint = None;
    let (label, value, source) = match backend {
        GroupBackend::Endpoint { service, endpoint } => {
            let GroupEndpoint { found, port, .. } = endpoint;
            let port = PortSelector::new(port.0, port.1);
            if let Some(pod) = &found.endpoint.pod {
                spec.pod_backend = Some(PodBackendRecord {
                    name: pod.name.to_string(),
                    port: port.clone(),
                });
                pod_of_endpoint = Some(names::label_value(&pod.name));
            }
            spec.endpoint_backend = Some(EndpointBackendRecord {
                service: (*service).to_owned(),
                address: found.endpoint.address.to_string(),
                address_type: found.slice.family,
                port,
            });
            (
                names::LABEL_BACKEND_SERVICE,
                names::label_value(service),
                None,
            )
        }
        GroupBackend::Pod { pod, port } => {
            spec.pod_backend = Some(PodBackendRecord {
                name: pod.key.name.to_string(),
                port: PortSelector::new(port.0, port.1),
            });
            let value = names::label_value(&pod.key.name);
            let source = backends::pod_source(pod);
            (names::LABEL_BACKEND_POD, value, Some(source))
        }
        GroupBackend::Node {
            service,
            port,
            node_port,
            node,
        } => {
            spec.service_backend = Some(ServiceBackendRecord {
                name: (*service).to_owned(),
                port: PortSelector::new(port.0, port.1),
                node_port: *node_port,
                node_name: node.key.name.to_string(),
            });
            let value = names::label_value(service);
            let source = backends::node_source(node);
            (names::LABEL_BACKEND_SERVICE, value, Some(source))
        }
        GroupBackend::Static { addr } => {
            spec.static_addr = Some((*addr).to_owned());
            let value = names::address_label(addr);
            (names::LABEL_BACKEND_STATIC_ADDR, value, None)
        }
    };
    let group_name = group.metadata.name.as_deref().unwrap_or_default();
    let labels = [
        (names::LABEL_LB_DRIVER, names::label_value(&lb.driver)),
        (names::LABEL_LB_NAME, names::label_value(lb_name)),
        (names::LABEL_BACKEND_GROUP, names::label_value(group_name)),
        (label, value),
    ];
    let pod = pod_of_endpoint.map(|pod| (names::LABEL_BACKEND_POD, pod));
    let labels = labels.into_iter().chain(pod);
    let name = name(group, lb_name, backend);
    backends::record(group, name, labels, source, spec)
}
