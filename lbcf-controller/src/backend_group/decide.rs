//! Which records a group makes, changes and deletes. No I/O, no clock.

use super::expected::{self, Backend};
use super::load_balancer_state::LoadBalancerState;
use crate::api::{BackendGroup, BackendGroupStatus, BackendRecord, PodSelection, ServiceSelection};
use crate::backends::{
    Expected, Judgement, Plan, Settings, Standing, compare, ports, standing_of_pod,
};
use crate::index::{NodeView, PodView, ServiceView, takes_node};
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What deciding looks at: a part of a group's backends, and all their records.
#[derive(Debug)]
pub(crate) struct View {
    /// The group.
    pub group: Arc<BackendGroup>,
    /// Its load balancers, by the names it uses.
    pub load_balancers: BTreeMap<String, LoadBalancerState>,
    /// What its backends may be made of.
    pub candidates: Candidates,
    /// The records that it owns.
    pub records: Vec<Arc<BackendRecord>>,
}

/// What a group's backends may be made of.
#[derive(Debug)]
pub(crate) enum Candidates {
    /// Pods that it selects, and what was said of those that are not ready.
    Pods(Vec<Arc<PodView>>, Arc<Judgement>),
    /// Nodes that a service has ports on.
    Nodes {
        /// The service, if there is one of that name.
        service: Option<Arc<ServiceView>>,
        /// The nodes.
        nodes: Vec<Candidate>,
    },
    /// Addresses that a user wrote down.
    Addresses(Vec<String>),
}

/// A node.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The node.
    pub node: Arc<NodeView>,
    /// Whether a pod of the service is available on it.
    pub has_pods: bool,
}

/// Decides what is to be done. A group that is going does nothing: the cluster collects its
/// records, and their finalizers take the backends away (b106).
#[must_use]
pub(crate) fn decide(view: &View) -> Plan {
    let group = &*view.group;
    if group.metadata.deletion_timestamp.is_some() {
        return Plan::default();
    }
    let mut expected = Expected::default();
    for lb in expected::usable(&view.load_balancers) {
        for (backend, standing) in backends(view) {
            match standing {
                Standing::Wanted => {
                    let record = expected::record(group, &lb, backend);
                    let name = record.metadata.name.clone().unwrap_or_default();
                    expected.wanted.insert(name, record);
                }
                Standing::Kept => {
                    let name = expected::name(group, lb.name, backend);
                    expected.protected.insert(name);
                }
                Standing::Unwanted => {}
            }
        }
    }
    let settings = Settings {
        parameters: &group.spec.parameters,
        ensure_policy: group.spec.ensure_policy.as_ref(),
    };
    compare(expected, &view.records, settings, |record| {
        view.load_balancers.get(&record.spec.lb_name) == Some(&LoadBalancerState::Unknown)
    })
}

fn backends(view: &View) -> Vec<(Backend<'_>, Standing)> {
    let spec = &view.group.spec;
    match (&view.candidates, &spec.pods, &spec.service) {
        (Candidates::Pods(pods, judgement), Some(selection), _) => {
            let ports = ports(selection);
            let of_pod =
                |pod: &Arc<PodView>| standing_of_pod(pod, spec.deregister_policy, judgement);
            pods.iter()
                .flat_map(|pod| {
                    let standing = of_pod(pod);
                    let backend = move |port: &(i32, Protocol)| Backend::Pod { pod, port: *port };
                    ports
                        .iter()
                        .map(move |port| (backend(port), standing))
                        .collect::<Vec<_>>()
                })
                .collect()
        }
        (Candidates::Nodes { service, nodes }, _, Some(selection)) => service
            .iter()
            .flat_map(|service| on_nodes(service, selection, nodes))
            .collect(),
        (Candidates::Addresses(addresses), ..) => addresses
            .iter()
            .filter(|addr| !addr.is_empty())
            .map(|addr| (Backend::Static { addr }, Standing::Wanted))
            .collect(),
        // The group changed between two looks; the next look has both.
        _ => Vec::new(),
    }
}

/// b112: one backend on each node that fits, if the service has a port there at all. A service
/// that forwards on the node only is where its pods are (u16).
fn on_nodes<'a>(
    service: &'a ServiceView,
    selection: &'a ServiceSelection,
    nodes: &'a [Candidate],
) -> Vec<(Backend<'a>, Standing)> {
    let port = (selection.port.number(), selection.port.protocol());
    let Some(node_port) = service.node_port(port.0, port.1.as_str()) else {
        return Vec::new();
    };
    let follows_pods = service.is_local && !service.selector.is_empty();
    nodes
        .iter()
        .filter(|candidate| candidate.node.usable)
        .filter(|candidate| takes_node(selection, &candidate.node.labels))
        .filter(|candidate| candidate.has_pods || !follows_pods)
        .map(|candidate| {
            let backend = Backend::Node {
                service: &selection.name,
                port,
                node_port,
                node: &candidate.node,
            };
            (backend, Standing::Wanted)
        })
        .collect()
}

/// What a group's status is made of.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// How many load balancers can be used.
    pub load_balancers: usize,
    /// How many selected pods are to stay.
    pub pods: usize,
    /// How many records are to stay.
    pub records: usize,
    /// How many of them are registered.
    pub registered: usize,
}

/// How many records make one backend of a group: one for each load balancer and port.
#[must_use]
pub(crate) fn records_per_backend(group: &BackendGroup, load_balancers: usize) -> usize {
    let ports = group
        .spec
        .pods
        .as_ref()
        .map(|pods: &PodSelection| ports(pods).len());
    ports.unwrap_or(1) * load_balancers
}

/// Decides the status that the group shall have (d8). `registered_units` says how many pods or
/// addresses have at least so many registered records.
#[must_use]
pub(crate) fn decide_status(
    group: &BackendGroup,
    counts: &Counts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendGroupStatus {
    if group.metadata.deletion_timestamp.is_some() {
        return group.status.clone().unwrap_or_default();
    }
    let spec = &group.spec;
    let per_backend = records_per_backend(group, counts.load_balancers);
    let (backends, records) = match (&spec.pods, &spec.service) {
        (Some(_), _) => (counts.pods, counts.pods * per_backend),
        // The nodes' records are what there is to register; together they are one backend.
        (None, Some(_)) => (1, counts.records),
        (None, None) => {
            let addresses: std::collections::BTreeSet<&String> = spec
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
    }
}

fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
