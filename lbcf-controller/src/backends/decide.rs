//! Which records an owner creates, updates and deletes. No I/O, no clock.

use super::backend::Backend;
use super::plan::{DesiredRecords, RecordPlan, RecordSettings, compare};
use super::pods::{Eligibility, eligibility_of_pod, ports};
use super::service::{CandidateNode, EndpointCandidates, nodes};
use crate::api::{BackendOwner, BackendRecord};
use crate::index::{LoadBalancerUse, Owner, PodView, ServiceView, UsableLoadBalancer, unit_of};
use crate::runtime::verdicts::DeregisterVerdict;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Some of an owner's backends, and all their records.
pub(crate) struct BackendsState {
    pub owner: Owner,
    pub object: Arc<dyn BackendOwner>,
    /// By the names that the owner uses.
    pub load_balancers: BTreeMap<String, LoadBalancerUse>,
    pub candidates: Candidates,
    pub records: Vec<Arc<BackendRecord>>,
    /// The names of those that no controller created.
    pub foreign: BTreeSet<String>,
    /// The names of those that are being deleted, and whose deregistration the driver can cancel.
    pub revocable: BTreeSet<String>,
}

/// The pods, nodes, endpoints or addresses that may be backends.
#[derive(Debug)]
pub(crate) enum Candidates {
    Pods(Vec<Arc<PodView>>, Arc<DeregisterVerdict>),
    Nodes(Option<Arc<ServiceView>>, Vec<CandidateNode>),
    Endpoints(EndpointCandidates),
    Addresses(Vec<String>),
}

impl BackendsState {
    pub(super) fn is_deleting(&self) -> bool {
        self.object.metadata().deletion_timestamp.is_some()
    }
}

pub(crate) fn decide(state: &BackendsState) -> RecordPlan {
    let desired = match (state.is_deleting(), &state.owner) {
        (false, _) => desired(state),
        // The garbage collector deletes its records, and their finalizers deregister the backends.
        (true, Owner::Group(_)) => return RecordPlan::default(),
        // The garbage collector would only do so after the Bind is removed.
        (true, Owner::Bind(_)) => DesiredRecords::default(),
    };
    let owner = state.object.owner_reference();
    let settings = RecordSettings {
        owner: owner.as_ref(),
        parameters: state.object.parameters(),
        ensure_policy: state.object.ensure_policy(),
    };
    compare(desired, &state.records, &settings, |record| {
        state.load_balancers.get(&record.spec.lb_name) == Some(&LoadBalancerUse::Unknown)
    })
}

fn desired(state: &BackendsState) -> DesiredRecords {
    let (owner, object) = (&state.owner, &*state.object);
    let mut desired = DesiredRecords {
        kept: awaited(state),
        foreign: state.foreign.clone(),
        revocable: state.revocable.clone(),
        ..DesiredRecords::default()
    };
    let backends = backends(state);
    for lb in usable(&state.load_balancers) {
        for (backend, eligibility) in &backends {
            let [name, other] = backend.record_names(owner, lb.0);
            match eligibility {
                Eligibility::Registered => {
                    let record = backend.record(owner, object, name.clone(), lb);
                    desired.records.insert(name.clone(), record);
                }
                Eligibility::Kept => drop(desired.kept.insert(name.clone())),
                Eligibility::Unready => drop(desired.unready.insert(name.clone())),
                Eligibility::Deregistered => continue,
            }
            desired.aliases.insert(other, name);
        }
    }
    desired
}

/// The usable load balancers by their names.
pub(crate) fn usable(
    load_balancers: &BTreeMap<String, LoadBalancerUse>,
) -> impl Iterator<Item = (&str, &UsableLoadBalancer)> {
    load_balancers.iter().filter_map(|(name, lb)| match lb {
        LoadBalancerUse::Usable(lb) => Some((name.as_str(), lb)),
        _ => None,
    })
}

fn backends(state: &BackendsState) -> Vec<(Backend<'_>, Eligibility)> {
    let policy = state.object.deregister_policy();
    let mut backends = Vec::new();
    match (&state.candidates, state.object.service()) {
        (Candidates::Pods(pods, verdict), _) => {
            let ports = ports(&state.owner, &*state.object);
            for pod in pods {
                let eligibility = eligibility_of_pod(pod, policy, verdict);
                let of_ports = ports.iter().cloned();
                let of_ports = of_ports.map(|port| (Backend::Pod { pod, port }, eligibility));
                backends.extend(of_ports);
            }
        }
        (Candidates::Nodes(Some(found), candidates), Some(selection)) => {
            let service = selection.name.as_str();
            for (port, node) in nodes::backends(found, selection, candidates) {
                let backend = Backend::Node {
                    service,
                    port,
                    node,
                };
                backends.push((backend, Eligibility::Registered));
            }
        }
        (Candidates::Endpoints(candidates), Some(selection)) => {
            let service = selection.name.as_str();
            for endpoint in candidates.backends(selection, policy) {
                let eligibility = endpoint.eligibility;
                backends.push((Backend::Endpoint { service, endpoint }, eligibility));
            }
        }
        (Candidates::Addresses(addresses), _) => {
            let addresses = addresses.iter().filter(|addr| !addr.is_empty());
            backends.extend(addresses.map(|it| (Backend::Static(it), Eligibility::Registered)));
        }
        (Candidates::Nodes(..) | Candidates::Endpoints(_), _) => {}
    }
    backends
}

/// The names of the records of addresses that no slice has now, and that may come back, unless
/// their load balancer is another one now. Those that become backends again in the meantime are not
/// registered again.
fn awaited(state: &BackendsState) -> BTreeSet<String> {
    let Candidates::Endpoints(candidates) = &state.candidates else {
        return BTreeSet::new();
    };
    let is_awaited = |record: &&Arc<BackendRecord>| {
        let spec = &record.spec;
        let lb = state.load_balancers.get(&spec.lb_name);
        spec.endpoint_backend.is_some()
            && candidates.awaited.contains(unit_of(record))
            && matches!(lb, Some(LoadBalancerUse::Usable(lb))
                if lb.lb_info == spec.lb_info && lb.driver == spec.lb_driver)
    };
    let records = state.records.iter().filter(is_awaited);
    records
        .filter_map(|record| record.metadata.name.clone())
        .collect()
}

#[cfg(test)]
mod tests;
