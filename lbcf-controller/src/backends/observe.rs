//! Reads the state of an owner and of some of its units from the index.

use super::decide::{BackendsState, Candidates};
use super::service::{CandidateNode, EndpointCandidates, SelectedService, tallies};
use super::status::OwnerKind;
use crate::api::{BackendRecord, DeregisterPolicy, ObjectKey, ServiceMode, ServiceSelection};
use crate::index::{Index, NodeView, Owner, PodView, Unit, unit_of};
use crate::runtime::Context;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn observe<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
    units: &BTreeSet<Unit>,
) -> Option<BackendsState> {
    let index = context.index();
    let object = index.find::<K>(owner.key())?;
    let status = object.status().cloned().unwrap_or_default();
    let load_balancers = object.load_balancers(&index, &status);
    let records = index.records_of(owner, units);
    let candidates = match (object.pods(), object.service()) {
        (Some(_), _) => {
            let pods = index.pods_of(owner, units);
            let verdict = context.verdicts.current(owner, &pods);
            Candidates::Pods(pods, verdict)
        }
        (None, Some(service)) => {
            let selected = SelectedService::of(&index, owner, service);
            match service.mode() {
                ServiceMode::NodePort => nodes(&index, owner, selected, units),
                ServiceMode::Endpoints => {
                    let selection = (service, object.deregister_policy());
                    endpoints(
                        context,
                        &index,
                        owner,
                        selection,
                        selected,
                        (units, &records),
                    )
                }
            }
        }
        (None, None) => {
            let addresses = object.static_addresses().iter();
            let addresses = addresses.filter(|addr| units.contains(addr.as_str()));
            Candidates::Addresses(addresses.cloned().collect())
        }
    };
    Some(BackendsState {
        owner: owner.clone(),
        object,
        load_balancers,
        candidates,
        records,
    })
}

fn nodes(
    index: &Index,
    owner: &Owner,
    selected: SelectedService,
    units: &BTreeSet<Unit>,
) -> Candidates {
    let nodes = units.iter().filter_map(|name| {
        Some(CandidateNode {
            has_pods: index.selections.has_available_on(owner, name),
            node: index.find::<NodeView>(&ObjectKey::new("", Unit::clone(name)))?,
        })
    });
    Candidates::Nodes(selected.service, nodes.collect())
}

/// The endpoints at these units, at which the owner has these records.
fn endpoints(
    context: &Context,
    index: &Index,
    owner: &Owner,
    (selection, policy): (&ServiceSelection, Option<DeregisterPolicy>),
    selected: SelectedService,
    (units, records): (&BTreeSet<Unit>, &[Arc<BackendRecord>]),
) -> Candidates {
    let endpoints: Vec<_> = units
        .iter()
        .flat_map(|unit| index.endpoints_at(owner, &selected.slices, unit))
        .collect();
    let mut pods = Vec::new();
    if policy.unwrap_or_default() != DeregisterPolicy::IfNotReady {
        let targets = endpoints.iter().filter_map(|it| it.endpoint.pod.as_ref());
        let names = targets.map(|target| Arc::clone(&target.name)).collect();
        // Those that the service selects: changes of others are not noticed.
        pods = index.pods_of(owner, &names);
    }
    let is_unknown = selected.slices.iter().any(|slice| slice.is_unknown);
    let awaited = units.iter().filter(|unit| {
        let is_present = endpoints.iter().any(|it| it.endpoint.address == **unit);
        let mut of_unit = records.iter().filter(|record| unit_of(record) == &***unit);
        // Endpoints of a service that is another one now, or of pods that are gone, do not come back.
        if is_present || !of_unit.any(|record| may_return(index, record, selection)) {
            context.absences.end(owner, unit);
            return false;
        }
        let grace_period = context.options.endpoint_grace_period;
        is_unknown || !context.absences.wait(owner, unit, grace_period).is_zero()
    });
    Candidates::Endpoints(EndpointCandidates {
        awaited: awaited.cloned().collect(),
        verdict: context.verdicts.current(owner, &pods),
        pods: pods.into_iter().map(|pod| (pod.uid.clone(), pod)).collect(),
        service: selected.service,
        endpoints,
    })
}

/// True if a record's endpoint, which no slice has, may be moving to another slice.
fn may_return(index: &Index, record: &BackendRecord, selection: &ServiceSelection) -> bool {
    let backend = record.spec.endpoint_backend.as_ref();
    if backend.is_none_or(|backend| backend.service != selection.name) {
        return false;
    }
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    record.spec.pod_backend.as_ref().is_none_or(|pod| {
        let pod = index.find::<PodView>(&ObjectKey::new(namespace, pod.name.as_str()));
        pod.is_some_and(|pod| !pod.deleting && !pod.finished)
    })
}

/// Stores what the endpoints at these addresses count in the status of their owner.
pub(super) fn count_endpoints(context: &Context, state: &BackendsState, units: &BTreeSet<Unit>) {
    let (Candidates::Endpoints(candidates), Some(selection)) =
        (&state.candidates, state.object.service())
    else {
        return;
    };
    let backends = candidates.backends(selection, state.object.deregister_policy());
    let tallies = tallies(&backends);
    let mut index = context.index();
    for unit in units {
        let tally = tallies.get(unit).copied().unwrap_or_default();
        index.unit_tallies.set(&state.owner, unit, tally);
    }
}
