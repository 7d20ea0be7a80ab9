//! What the index has about a group and some of its units.

use super::decide::{CandidateNode, Candidates, GroupState};
use super::endpoints::EndpointCandidates;
use super::load_balancer_use::LoadBalancerUse;
use crate::api::{BackendGroup, BackendRecord, DeregisterPolicy, ServiceSelection};
use crate::context::Context;
use crate::index::{Index, NodeView, PodView, ServiceView, SliceView, endpoints_of, unit_of};
use crate::key::{ObjectKey, Owner, Unit};
use crate::names;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) fn observe(
    context: &Context,
    owner: &Owner,
    units: &BTreeSet<Unit>,
) -> Option<GroupState> {
    let index = context.index();
    let group = index.find::<BackendGroup>(owner.key())?;
    let records = index.records_of(owner, units);
    let candidates = match (&group.spec.pods, &group.spec.service) {
        (Some(_), _) => {
            let pods = index.pods_of(owner, units);
            let verdict = context.verdicts.current(owner, &pods);
            Candidates::Pods(pods, verdict)
        }
        (None, Some(service)) if endpoints_of(&group).is_some() => {
            let candidates = endpoints(context, &index, owner, &group, service, units, &records);
            Candidates::Endpoints(candidates)
        }
        (None, Some(service)) => {
            let nodes = units.iter().filter_map(|name| {
                Some(CandidateNode {
                    has_pods: index.selections.has_available_on(owner, name),
                    node: index.find::<NodeView>(&ObjectKey::new("", Unit::clone(name)))?,
                })
            });
            Candidates::Nodes {
                service: find_service(&index, owner, service),
                nodes: nodes.collect(),
            }
        }
        (None, None) => {
            let addresses = group.spec.static_addresses.iter();
            let addresses = addresses.filter(|addr| units.contains(addr.as_str()));
            Candidates::Addresses(addresses.cloned().collect())
        }
    };
    Some(GroupState {
        load_balancers: load_balancers(&index, owner, &group),
        candidates,
        records,
        group,
    })
}

fn service_key(owner: &Owner, service: &ServiceSelection) -> ObjectKey {
    ObjectKey::new(owner.key().namespace.clone(), service.name.clone())
}

pub(super) fn find_service(
    index: &Index,
    owner: &Owner,
    service: &ServiceSelection,
) -> Option<Arc<ServiceView>> {
    index.find::<ServiceView>(&service_key(owner, service))
}

pub(super) fn slices_of(
    index: &Index,
    owner: &Owner,
    service: &ServiceSelection,
) -> Vec<Arc<SliceView>> {
    index.slices_of(&service_key(owner, service))
}

fn endpoints(
    context: &Context,
    index: &Index,
    owner: &Owner,
    group: &BackendGroup,
    selection: &ServiceSelection,
    units: &BTreeSet<Unit>,
    records: &[Arc<BackendRecord>],
) -> EndpointCandidates {
    let slices = slices_of(index, owner, selection);
    let endpoints: Vec<_> = units
        .iter()
        .flat_map(|unit| index.endpoints_at(owner, &slices, unit))
        .collect();
    let policy = group.spec.deregister_policy.unwrap_or_default();
    let mut pods = Vec::new();
    if policy != DeregisterPolicy::IfNotReady {
        let targets = endpoints.iter().filter_map(|it| it.endpoint.pod.as_ref());
        let names = targets.map(|target| Arc::clone(&target.name)).collect();
        // Those that the service selects: changes of others are not noticed.
        pods = index.pods_of(owner, &names);
    }
    let is_unknown = slices.iter().any(|slice| slice.is_unknown);
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
    EndpointCandidates {
        awaited: awaited.cloned().collect(),
        verdict: context.verdicts.current(owner, &pods),
        pods: pods.into_iter().map(|pod| (pod.uid.clone(), pod)).collect(),
        service: find_service(index, owner, selection),
        endpoints,
    }
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

pub(super) fn load_balancers(
    index: &Index,
    owner: &Owner,
    group: &BackendGroup,
) -> BTreeMap<String, LoadBalancerUse> {
    let namespace = &owner.key().namespace;
    let names = group.spec.load_balancer_names();
    let uses = names.map(|name| {
        let lb = index.get(&names::resolve(namespace, name));
        (name.to_owned(), LoadBalancerUse::of(&lb, namespace))
    });
    uses.collect()
}
