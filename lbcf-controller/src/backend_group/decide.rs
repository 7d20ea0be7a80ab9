//! Which records a group creates, updates and deletes, and its status. No I/O, no clock.

use super::endpoints::EndpointCandidates;
use super::load_balancer_use::LoadBalancerUse;
use super::records::{self, GroupBackend};
use crate::api::{BackendGroup, BackendGroupStatus, BackendRecord, ServiceSelection};
use crate::backends::{
    DesiredRecords, Eligibility, RecordPlan, RecordSettings, compare, eligibility_of_pod,
    owner_reference, ports,
};
use crate::index::{
    EndpointCounts, NodeView, PodView, ServiceView, endpoints_of, takes_node, unit_of,
};
use crate::object::ObjectExt;
use crate::verdicts::DeregisterVerdict;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Some of a group's backends, and all their records.
#[derive(Debug)]
pub(crate) struct GroupState {
    pub group: Arc<BackendGroup>,
    /// By the names that the group uses.
    pub load_balancers: BTreeMap<String, LoadBalancerUse>,
    pub candidates: Candidates,
    pub records: Vec<Arc<BackendRecord>>,
}

/// What the backends may consist of.
#[derive(Debug)]
pub(crate) enum Candidates {
    Pods(Vec<Arc<PodView>>, Arc<DeregisterVerdict>),
    Nodes {
        service: Option<Arc<ServiceView>>,
        nodes: Vec<CandidateNode>,
    },
    Endpoints(EndpointCandidates),
    Addresses(Vec<String>),
}

#[derive(Debug)]
pub(crate) struct CandidateNode {
    pub node: Arc<NodeView>,
    /// Whether a pod of the service is available on it.
    pub has_pods: bool,
}

/// A group that is being deleted needs nothing: the garbage collector deletes its records, and
/// their finalizers deregister the backends (b106).
pub(crate) fn decide(state: &GroupState) -> RecordPlan {
    let group = &*state.group;
    if group.is_deleting() {
        return RecordPlan::default();
    }
    let mut desired = DesiredRecords {
        kept: awaited(state),
        ..DesiredRecords::default()
    };
    let backends = backends(state);
    for (lb_name, lb) in records::usable(&state.load_balancers) {
        for &(ref backend, eligibility) in &backends {
            let name = records::name(group, lb_name, backend);
            match eligibility {
                Eligibility::Registered => {
                    let record = records::record(group, lb_name, lb, backend);
                    desired.records.insert(name, record);
                }
                Eligibility::Kept => drop(desired.kept.insert(name)),
                Eligibility::Deregistered => {}
            }
        }
    }
    let owner = owner_reference(group);
    let settings = RecordSettings {
        owner: owner.as_ref(),
        parameters: &group.spec.parameters,
        ensure_policy: group.spec.ensure_policy.as_ref(),
    };
    compare(desired, &state.records, settings, |record| {
        state.load_balancers.get(&record.spec.lb_name) == Some(&LoadBalancerUse::Unknown)
    })
}

fn backends(state: &GroupState) -> Vec<(GroupBackend<'_>, Eligibility)> {
    let spec = &state.group.spec;
    match (&state.candidates, &spec.pods, &spec.service) {
        (Candidates::Pods(pods, verdict), Some(selection), _) => {
            let mut backends = Vec::new();
            for pod in pods {
                let eligibility = eligibility_of_pod(pod, spec.deregister_policy, verdict);
                for port in ports(selection) {
                    backends.push((GroupBackend::Pod { pod, port }, eligibility));
                }
            }
            backends
        }
        (Candidates::Nodes { service, nodes }, _, Some(selection)) => service
            .iter()
            .flat_map(|service| on_nodes(service, selection, nodes))
            .map(|backend| (backend, Eligibility::Registered))
            .collect(),
        (Candidates::Endpoints(candidates), _, Some(selection)) => {
            let backends = candidates.backends(selection, spec.deregister_policy);
            let backends = backends.into_iter().map(|endpoint| {
                let eligibility = endpoint.eligibility;
                let service = &selection.name;
                (GroupBackend::Endpoint { service, endpoint }, eligibility)
            });
            backends.collect()
        }
        (Candidates::Addresses(addresses), ..) => addresses
            .iter()
            .filter(|addr| !addr.is_empty())
            .map(|addr| (GroupBackend::Static { addr }, Eligibility::Registered))
            .collect(),
        _ => Vec::new(),
    }
}

/// The records of addresses that no slice has now. Those that become backends again in the meantime are
/// not registered again (d61).
fn awaited(state: &GroupState) -> BTreeSet<String> {
    let Candidates::Endpoints(candidates) = &state.candidates else {
        return BTreeSet::new();
    };
    let is_awaited = |record: &&Arc<BackendRecord>| {
        let lb = state.load_balancers.get(&record.spec.lb_name);
        let is_at_its_lb = matches!(lb, Some(LoadBalancerUse::Usable(lb))
            if lb.lb_info == record.spec.lb_info && lb.driver == record.spec.lb_driver);
        is_at_its_lb
            && record.spec.endpoint_backend.is_some()
            && candidates.awaited.contains(unit_of(record))
    };
    let records = state.records.iter().filter(is_awaited);
    records
        .filter_map(|record| record.metadata.name.clone())
        .collect()
}

/// b112: one backend on each selected node if the service has a port there. A service that forwards
/// only on the node has backends where its pods are (u16).
fn on_nodes<'a>(
    service: &'a ServiceView,
    selection: &'a ServiceSelection,
    nodes: &'a [CandidateNode],
) -> Vec<GroupBackend<'a>> {
    let Some(port) = service.port(&selection.port) else {
        return Vec::new();
    };
    let port = (port.port, port.protocol());
    let Some(node_port) = service.node_port(port.0, port.1.as_str()) else {
        return Vec::new();
    };
    let follows_pods = service.is_local && !service.selector.is_empty();
    nodes
        .iter()
        .filter(|candidate| candidate.node.usable)
        .filter(|candidate| takes_node(selection, &candidate.node.labels))
        .filter(|candidate| candidate.has_pods || !follows_pods)
        .map(|candidate| GroupBackend::Node {
            service: &selection.name,
            port,
            node_port,
            node: &candidate.node,
        })
        .collect()
}

#[derive(Debug, Default)]
pub(crate) struct GroupCounts {
    pub load_balancers: usize,
    /// Selected ones that are not being deleted.
    pub pods: usize,
    /// Those that are not being deleted.
    pub records: usize,
    pub registered: usize,
    /// What the endpoints count, if they are the backends.
    pub endpoints: EndpointCounts,
}

/// The counts in the status of a group (d8). `registered_units` returns how many pods or addresses have at least
/// so many registered records.
pub(crate) fn decide_status(
    group: &BackendGroup,
    counts: &GroupCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendGroupStatus {
    if group.is_deleting() {
        return group.status.clone().unwrap_or_default();
    }
    let spec = &group.spec;
    if endpoints_of(group).is_some() {
        return decide_status_of_endpoints(group, counts, registered_units);
    }
    // A backend has a record for each load balancer and port.
    let ports = spec.pods.as_ref().map_or(1, |pods| ports(pods).len());
    let per_backend = ports * counts.load_balancers;
    let (backends, records) = match (&spec.pods, &spec.service) {
        (Some(_), _) => (counts.pods, counts.pods * per_backend),
        // The records of all nodes together are one backend.
        (None, Some(_)) => (1, counts.records),
        (None, None) => {
            let addresses: BTreeSet<&String> = spec
                .static_addresses
                .iter()
                .filter(|addr| !addr.is_empty())
                .collect();
            (addresses.len(), addresses.len() * per_backend)
        }
    };
    let registered = if spec.pods.is_none() && spec.service.is_some() {
        usize::from(counts.records > 0 && counts.registered >= counts.records)
    } else if per_backend == 0 {
        0
    } else {
        registered_units(per_backend).min(backends)
    };
    BackendGroupStatus {
        backends: to_i32(backends),
        registered_backends: to_i32(registered),
        records: to_i32(records),
        registered_records: to_i32(counts.registered),
        observed_generation: group.metadata.generation,
        conditions: group.status.clone().unwrap_or_default().conditions,
    }
}

/// A backend is an address, which usually has one port.
fn decide_status_of_endpoints(
    group: &BackendGroup,
    counts: &GroupCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendGroupStatus {
    let EndpointCounts {
        units, endpoints, ..
    } = counts.endpoints;
    let records = endpoints * counts.load_balancers;
    let registered = if records == 0 {
        0
    } else if counts.registered >= records {
        units
    } else {
        // At least one lacks a record, also where addresses have different numbers of ports.
        registered_units(records.div_ceil(units)).min(units.saturating_sub(1))
    };
    BackendGroupStatus {
        backends: to_i32(units),
        registered_backends: to_i32(registered),
        records: to_i32(records),
        registered_records: to_i32(counts.registered),
        observed_generation: group.metadata.generation,
        conditions: group.status.clone().unwrap_or_default().conditions,
    }
}

fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
