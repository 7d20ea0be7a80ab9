//! The records of a group: one for each usable load balancer and pod's port (b31), node (b112), endpoint
//! (d60) or address (b26).

use crate::api::{
    BackendGroup, BackendRecord, BackendRecordSpec, PodBackendRecord, PortSelector, names,
};
use crate::backends::{self, BackendOfService};
use crate::index::{LoadBalancerUse, Owner, PodView, UsableLoadBalancer};
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
    Service(BackendOfService<'a>),
    /// An address in the spec.
    Static {
        addr: &'a str,
    },
}

/// The name of the record of a backend at a load balancer.
pub(crate) fn name(owner: &Owner, lb: &str, backend: &GroupBackend<'_>) -> String {
    let group = &owner.key().name;
    match backend {
        GroupBackend::Pod { pod, port } => {
            names::pod_record_name(lb, group, &pod.uid, port.0, port.1.as_str())
        }
        GroupBackend::Service(backend) => backend.record_name(owner, lb),
        GroupBackend::Static { addr } => names::static_record_name(lb, group, addr),
    }
}

pub(super) fn record(
    group: &BackendGroup,
    name: String,
    (lb_name, lb): (&str, &UsableLoadBalancer),
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
    let group_name = group.metadata.name.as_deref().unwrap_or_default();
    let mut labels = vec![
        (names::LABEL_LB_DRIVER, names::label_value(&lb.driver)),
        (names::LABEL_LB_NAME, names::label_value(lb_name)),
        (names::LABEL_BACKEND_GROUP, names::label_value(group_name)),
    ];
    let source = match backend {
        GroupBackend::Pod { pod, port } => {
            spec.pod_backend = Some(PodBackendRecord {
                name: pod.key.name.to_string(),
                port: PortSelector::new(port.0, port.1),
            });
            let value = names::label_value(&pod.key.name);
            labels.push((names::LABEL_BACKEND_POD, value));
            Some(backends::pod_source(pod))
        }
        GroupBackend::Service(backend) => {
            let details = backend.describe(names::LABEL_BACKEND_POD, &mut spec);
            labels.extend(details.labels);
            details.source
        }
        GroupBackend::Static { addr } => {
            spec.static_addr = Some((*addr).to_owned());
            let value = names::address_label(addr);
            labels.push((names::LABEL_BACKEND_STATIC_ADDR, value));
            None
        }
    };
    backends::record(group, name, labels, source, spec)
}
