//! What the index has about a Service's backends at some units of their owner.

use super::candidates::ServiceCandidates;
use super::endpoints::{EndpointCandidates, tallies};
use super::nodes::CandidateNode;
use super::selected::SelectedService;
use crate::api::{
    BackendOwner, BackendRecord, DeregisterPolicy, ObjectKey, ServiceMode, ServiceSelection,
};
use crate::index::{Index, NodeView, Owner, PodView, Unit, unit_of};
use crate::runtime::Context;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The candidates at these units. `records` are those that the owner has there.
pub(crate) fn observe_service(
    context: &Context,
    index: &Index,
    owner: &Owner,
    (selection, policy): (&ServiceSelection, Option<DeregisterPolicy>),
    units: &BTreeSet<Unit>,
    records: &[Arc<BackendRecord>],
) -> ServiceCandidates {
    let selected = SelectedService::of(index, owner, selection);
    if selection.mode() == ServiceMode::NodePort {
        let nodes = units.iter().filter_map(|name| {
            Some(CandidateNode {
                has_pods: index.selections.has_available_on(owner, name),
                node: index.find::<NodeView>(&ObjectKey::new("", Unit::clone(name)))?,
            })
        });
        return ServiceCandidates::Nodes {
            service: selected.service,
            nodes: nodes.collect(),
        };
    }
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
    ServiceCandidates::Endpoints(EndpointCandidates {
        awaited: awaited.cloned().collect(),
        verdict: context.verdicts.current(owner, &pods),
        pods: pods.into_iter().map(|pod| (pod.uid.clone(), pod)).collect(),
        service: selected.service,
        endpoints,
    })
}

/// Whether a record's endpoint, which no slice has, may be moving to another slice (d61).
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
pub(crate) fn count_endpoints(
    context: &Context,
    owner: &Owner,
    object: &dyn BackendOwner,
    candidates: &ServiceCandidates,
    units: &BTreeSet<Unit>,
) {
    let ServiceCandidates::Endpoints(candidates) = candidates else {
        return;
    };
    let Some(selection) = object.service_of_endpoints() else {
        return;
    };
    let tallies = tallies(&candidates.backends(selection, object.deregister_policy()));
    let mut index = context.index();
    for unit in units {
        let tally = tallies.get(unit).copied().unwrap_or_default();
        index.unit_tallies.set(owner, unit, tally);
    }
}
