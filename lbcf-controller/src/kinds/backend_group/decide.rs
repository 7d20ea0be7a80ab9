//! Which records a group creates, updates and deletes, and its status. No I/O, no clock.

use super::records::{self, GroupBackend};
use crate::api::{
    BackendGroup, BackendGroupStatus, BackendOwner, BackendRecord, ObjectExt, ObjectKey,
};
use crate::backends::{
    DesiredRecords, Eligibility, OwnerCounts, RecordPlan, RecordSettings, ServiceCandidates,
    compare, count_of_service, count_units, eligibility_of_pod, owner_reference, ports, to_i32,
};
use crate::index::{LoadBalancerUse, Owner, PodView};
use crate::runtime::verdicts::DeregisterVerdict;
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
    Service(ServiceCandidates),
    Addresses(Vec<String>),
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
    let key = Owner::Group(ObjectKey::of(group));
    for (lb_name, lb) in records::usable(&state.load_balancers) {
        for &(ref backend, eligibility) in &backends {
            let name = records::name(&key, lb_name, backend);
            match eligibility {
                Eligibility::Registered => {
                    let record = records::record(group, name.clone(), (lb_name, lb), backend);
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
        (Candidates::Service(candidates), _, Some(selection)) => {
            let backends = candidates.backends(selection, spec.deregister_policy);
            let backends = backends.into_iter();
            backends
                .map(|(backend, eligibility)| (GroupBackend::Service(backend), eligibility))
                .collect()
        }
        (Candidates::Addresses(addresses), ..) => addresses
            .iter()
            .filter(|addr| !addr.is_empty())
            .map(|addr| (GroupBackend::Static { addr }, Eligibility::Registered))
            .collect(),
        _ => Vec::new(),
    }
}

/// The records that are kept because their endpoints may come back.
fn awaited(state: &GroupState) -> BTreeSet<String> {
    let Candidates::Service(candidates) = &state.candidates else {
        return BTreeSet::new();
    };
    candidates.awaited(&state.records, |record| {
        let lb = state.load_balancers.get(&record.spec.lb_name);
        matches!(lb, Some(LoadBalancerUse::Usable(lb))
            if lb.lb_info == record.spec.lb_info && lb.driver == record.spec.lb_driver)
    })
}

/// The counts in the status of a group (d8). `registered_units` returns how many pods or addresses have at least
/// so many registered records.
pub(crate) fn decide_status(
    group: &BackendGroup,
    counts: &OwnerCounts,
    registered_units: impl Fn(usize) -> usize,
) -> BackendGroupStatus {
    if group.is_deleting() {
        return group.status.clone().unwrap_or_default();
    }
    // A backend has a record for each load balancer and port.
    let result = if let Some(pods) = group.pods() {
        let per_pod = ports(pods).len() * counts.load_balancers;
        count_units(counts.pods, per_pod, registered_units)
    } else if let Some(service) = group.service() {
        count_of_service(service.mode(), counts, registered_units)
    } else {
        let addresses: BTreeSet<&String> = group
            .spec
            .static_addresses
            .iter()
            .filter(|addr| !addr.is_empty())
            .collect();
        count_units(addresses.len(), counts.load_balancers, registered_units)
    };
    BackendGroupStatus {
        backends: to_i32(result.backends),
        registered_backends: to_i32(result.registered),
        records: to_i32(result.records),
        registered_records: to_i32(counts.registered),
        observed_generation: group.metadata.generation,
        conditions: group.status.clone().unwrap_or_default().conditions,
    }
}

#[cfg(test)]
mod tests;
