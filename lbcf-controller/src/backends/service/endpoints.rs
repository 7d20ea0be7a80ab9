//! Which endpoints of a Service are backends. No I/O, no clock.

use crate::api::{DeregisterPolicy, ServiceMode, ServiceSelection};
use crate::backends::pods::{Eligibility, eligibility_of_unready};
use crate::index::{
    Index, Owner, PodView, ServicePortView, ServiceView, SliceEndpoint, SliceView, Unit, UnitTally,
    service_key,
};
use crate::runtime::verdicts::DeregisterVerdict;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The endpoints at some addresses of a Service.
#[derive(Debug, Default)]
pub(crate) struct EndpointCandidates {
    pub service: Option<Arc<ServiceView>>,
    pub endpoints: Vec<SliceEndpoint>,
    /// The pods behind them by uid, as far as the deregister policy needs them.
    pub pods: BTreeMap<String, Arc<PodView>>,
    pub verdict: Arc<DeregisterVerdict>,
    /// Addresses that no slice has now, and whose records are kept for a moment.
    pub awaited: BTreeSet<Unit>,
}

/// One backend: an endpoint and its port.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EndpointPort {
    pub found: SliceEndpoint,
    pub port: (i32, Protocol),
    pub eligibility: Eligibility,
}

/// The state of an endpoint. The first is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EndpointState {
    Ready,
    NotReady,
    /// It is terminating and still serves what it has begun.
    Draining,
    Terminated,
}

impl EndpointState {
    /// An endpoint that is terminating is never ready, whatever else is published. One whose
    /// pod waits only for its registration is ready for that.
    pub(crate) fn of(found: &SliceEndpoint) -> Self {
        let conditions = found.endpoint.conditions;
        match (conditions.is_terminating(), conditions.is_serving()) {
            (true, true) => Self::Draining,
            (true, false) => Self::Terminated,
            (false, _) if conditions.is_ready() || found.awaits_gate => Self::Ready,
            (false, _) => Self::NotReady,
        }
    }
}

impl EndpointCandidates {
    /// One for each address, port and protocol, whichever slices have it.
    pub(crate) fn backends(
        &self,
        selection: &ServiceSelection,
        policy: Option<DeregisterPolicy>,
    ) -> Vec<EndpointPort> {
        let service = self.service.as_ref().filter(|service| !service.deleting);
        let Some(port) = service.and_then(|service| service.port(&selection.port)) else {
            return Vec::new();
        };
        let mut selected: BTreeMap<(&str, i32, Protocol), Vec<&SliceEndpoint>> = BTreeMap::new();
        for found in &self.endpoints {
            if takes(selection, found)
                && let Some((number, protocol)) = port_of_slice(port, &found.slice)
            {
                let key = (&*found.endpoint.address, number, protocol);
                selected.entry(key).or_default().push(found);
            }
        }
        let backends = selected
            .into_iter()
            .filter_map(|((_, number, protocol), same)| {
                let found = the_one(&same)?;
                Some(EndpointPort {
                    found: found.clone(),
                    port: (number, protocol),
                    eligibility: self.eligibility(found, policy),
                })
            });
        backends.collect()
    }

    fn eligibility(&self, found: &SliceEndpoint, policy: Option<DeregisterPolicy>) -> Eligibility {
        match EndpointState::of(found) {
            EndpointState::Ready => return Eligibility::Registered,
            EndpointState::Draining | EndpointState::Terminated => {
                return Eligibility::Deregistered;
            }
            EndpointState::NotReady => {}
        }
        let target = found.endpoint.pod.as_ref();
        let pod = target.and_then(|target| self.pods.get(&*target.uid));
        eligibility_of_unready(pod.map(|pod| &**pod), policy, &self.verdict)
    }
}

fn takes(selection: &ServiceSelection, found: &SliceEndpoint) -> bool {
    selection.takes_family(found.slice.family)
        && (selection.zones.is_empty() || found.endpoint.is_for_zone(&selection.zones))
}

/// The port of a slice's endpoints that a Service's port stands for. They have the same name; a
/// slice's port without a number stands for all, of which it is the Service's targetPort.
pub(crate) fn port_of_slice(port: &ServicePortView, slice: &SliceView) -> Option<(i32, Protocol)> {
    let protocol = port.protocol();
    let mut ports = slice.ports.iter();
    let found = ports.find(|it| it.name == port.name && it.protocol == protocol)?;
    Some((found.port.or(port.target_port)?, protocol))
}

/// The endpoint that counts of equal ones. Of states of the same pod it is the latest in its life, as one of the
/// slices may be outdated; of different pods it is the better one, as the other gave its address up.
pub(crate) fn the_one<'a>(same: &[&'a SliceEndpoint]) -> Option<&'a SliceEndpoint> {
    let mut of_targets: BTreeMap<Option<&str>, (EndpointState, &SliceEndpoint)> = BTreeMap::new();
    for &found in same {
        let target = found.endpoint.pod.as_ref().map(|pod| &*pod.uid);
        let state = EndpointState::of(found);
        let latest = of_targets.entry(target).or_insert((state, found));
        if state > latest.0 {
            *latest = (state, found);
        }
    }
    // A pod is more than an address without one.
    let rank =
        |(state, found): &(EndpointState, &SliceEndpoint)| (*state, found.endpoint.pod.is_none());
    let best = of_targets.into_values().min_by_key(rank);
    best.map(|(_, found)| found)
}

/// The count of each unit in the status of its owner.
pub(crate) fn tallies(backends: &[EndpointPort]) -> BTreeMap<Unit, UnitTally> {
    let mut tallies: BTreeMap<Unit, UnitTally> = BTreeMap::new();
    for backend in backends {
        let state = EndpointState::of(&backend.found);
        if state > EndpointState::NotReady {
            continue;
        }
        let unit = Arc::clone(&backend.found.endpoint.address);
        let tally = tallies.entry(unit).or_default();
        tally.endpoints += 1;
        tally.unready += usize::from(state == EndpointState::NotReady);
    }
    tallies
}

/// The Service that an owner selects.
#[derive(Debug, Default)]
pub(crate) struct SelectedService {
    pub(crate) service: Option<Arc<ServiceView>>,
    /// Its slices, if its endpoints are the backends.
    pub(crate) slices: Vec<Arc<SliceView>>,
}

impl SelectedService {
    pub(crate) fn of(index: &Index, owner: &Owner, selection: &ServiceSelection) -> Self {
        let key = service_key(owner, selection);
        Self {
            service: index.find(&key),
            slices: match selection.mode() {
                ServiceMode::NodePort => Vec::new(),
                ServiceMode::Endpoints => index.slices_of(&key),
            },
        }
    }
}

#[cfg(test)]
mod tests;
