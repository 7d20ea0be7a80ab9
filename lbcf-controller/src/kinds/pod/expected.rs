//! Which records a pod should have, by the names that they may have. No I/O, no clock.

use crate::api::{BackendOwner, ServiceSelection};
use crate::backends::{Backend, EndpointCandidates, SelectedService, ports};
use crate::index::{LoadBalancerUse, Owner, PodView, UnusableLoadBalancer, endpoints_of_pod};
use std::collections::BTreeMap;

/// A record has one of these names; none is known yet if there are none.
pub(super) type RecordNames = Vec<String>;

/// The records of a pod that an owner selects, one for each port at each load balancer. Of load balancers
/// that have no backends until a user acts there are none.
pub(super) fn expected(
    owner: &Owner,
    object: &dyn BackendOwner,
    load_balancers: &BTreeMap<String, LoadBalancerUse>,
    pod: &PodView,
    service: &SelectedService,
) -> Vec<RecordNames> {
    if object.metadata().deletion_timestamp.is_some() {
        return Vec::new();
    }
    let backends = match object.pods() {
        Some(_) => {
            let ports = ports(owner, object).into_iter();
            Some(ports.map(|port| Backend::Pod { pod, port }).collect())
        }
        None => of_service(object, pod, service),
    };
    let lbs = load_balancers.iter();
    let lbs = lbs.filter(|(_, lb)| will_have_backends(lb));
    let names = lbs.flat_map(|(lb, _)| match &backends {
        Some(backends) => backends
            .iter()
            .map(|it| it.record_names(owner, lb).to_vec())
            .collect(),
        None => vec![RecordNames::new()],
    });
    names.collect()
}

/// The backends that an owner registers of a pod behind its Service; None if the slices do not have the pod yet, which
/// they will.
fn of_service<'a>(
    object: &'a dyn BackendOwner,
    pod: &PodView,
    selected: &SelectedService,
) -> Option<Vec<Backend<'a>>> {
    let has_port = |selection: &&_| has_port(selected, selection);
    let Some(selection) = object.service_of_endpoints().filter(has_port) else {
        return Some(Vec::new());
    };
    let candidates = EndpointCandidates {
        service: selected.service.clone(),
        endpoints: endpoints_of_pod(&selected.slices, pod),
        ..EndpointCandidates::default()
    };
    if candidates.endpoints.is_empty() {
        return None;
    }
    let endpoints = candidates.backends(selection, None).into_iter();
    let service = &selection.name;
    Some(
        endpoints
            .map(|endpoint| Backend::Endpoint { service, endpoint })
            .collect(),
    )
}

fn has_port(selected: &SelectedService, selection: &ServiceSelection) -> bool {
    let service = selected.service.as_ref();
    service.is_some_and(|it| !it.deleting && it.port(&selection.port).is_some())
}

const fn will_have_backends(lb: &LoadBalancerUse) -> bool {
    match lb {
        LoadBalancerUse::Usable(_) | LoadBalancerUse::Unknown => true,
        LoadBalancerUse::Unusable(why) => matches!(why, UnusableLoadBalancer::NotCreated(_)),
    }
}

#[cfg(test)]
mod tests;
