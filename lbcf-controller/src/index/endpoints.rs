//! The endpoints of Services: what follows from a change of a slice, and look-ups.

use super::slices::{Endpoint, SliceView};
use super::store::Diff;
use super::users::service_key;
use super::{Index, Indexed, Store, StoreEvent, gates};
use crate::api::{AddressFamily, BackendRecord, ObjectKey, PodSelection, SelectPodByLabel};
use crate::index::request::{Owner, Request, RequestKey, Unit};
use crate::index::{PodView, ServiceView};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// An endpoint in a slice, which may be in another one as well.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SliceEndpoint {
    pub slice: Arc<SliceView>,
    pub endpoint: Endpoint,
    /// True if it is not ready for no other reason than that its pod waits for its registration.
    pub awaits_gate: bool,
}

impl Indexed for SliceView {
    const KIND: &'static str = "EndpointSlice";

    fn store(index: &Index) -> &Store<Self> {
        &index.slices.store
    }

    /// A change concerns the owners on its Service, and of each only the addresses that changed. One
    /// that moves to another slice is two changes of the same address.
    fn apply(index: &mut Index, event: StoreEvent<Self>) -> Vec<Request> {
        let mut requests = Vec::new();
        for (key, diff) in index.slices.store.apply(event) {
            index.slices.of_service.update(&diff, |slice| {
                let service = slice.service.clone();
                service.map(|service| (service, key.clone()))
            });
            requests.extend(index.after_change_of_slice(&diff));
        }
        requests
    }
}

impl Index {
    fn after_change_of_slice(&mut self, diff: &Diff<SliceView>) -> Vec<Request> {
        let (old, new) = (diff.old.as_deref(), diff.new.as_deref());
        let services: BTreeSet<&ObjectKey> = [old, new]
            .into_iter()
            .flatten()
            .filter_map(|slice| slice.service.as_ref())
            .collect();
        let mut requests = Vec::new();
        for service in services {
            let of_service = |slice: &&SliceView| slice.service.as_ref() == Some(service);
            let (old, new) = (old.filter(of_service), new.filter(of_service));
            let owners = self.owners_on_endpoints(service);
            if owners.is_empty() {
                continue;
            }
            let changed = SliceView::changes(old, new);
            let state = |slice: Option<&SliceView>| {
                slice.map(|it| (it.problems.clone(), it.is_unknown, it.ports.is_empty()))
            };
            if changed.is_empty() && state(old) == state(new) {
                continue;
            }
            let may_deregister = changed.iter().any(|(_, may_deregister)| *may_deregister);
            for owner in owners {
                for (unit, may_deregister) in &changed {
                    self.pending.mark(&owner, Arc::clone(unit), *may_deregister);
                    requests.extend(self.records.waiting_for_address(&owner, unit));
                    let endpoints = [old, new].into_iter().flatten();
                    let endpoints = endpoints.flat_map(|slice| slice.at(unit));
                    requests.extend(gates::of_endpoints(&self.selections, &owner, endpoints));
                }
                // What is unknown no longer may have to be deregistered.
                if old.is_some_and(|old| old.is_unknown) {
                    self.pending.mark_all(&owner);
                }
                requests.push(Request::high_if(may_deregister, owner.request_key()));
            }
        }
        requests
    }

    fn owners_on_endpoints(&self, service: &ObjectKey) -> Vec<Owner> {
        let owners = self.service_owners.of_service(service).into_iter();
        let is_on_endpoints = |owner: &Owner| self.service_of_endpoints(owner).is_some();
        owners.filter(is_on_endpoints).collect()
    }

    /// The slices of a Service, in the order of their names.
    pub(crate) fn slices_of(&self, service: &ObjectKey) -> Vec<Arc<SliceView>> {
        let keys = self.slices.of_service.get(service);
        let slices = keys.filter_map(|key| self.slices.store.find(key));
        slices.cloned().collect()
    }

    /// The addresses of a Service's endpoints.
    pub(super) fn addresses_of(&self, service: &ObjectKey) -> BTreeSet<Unit> {
        let slices = self.slices_of(service);
        let endpoints = slices.iter().flat_map(|slice| &slice.endpoints);
        endpoints.map(|it| Arc::clone(&it.address)).collect()
    }

    /// The Service of an owner whose backends are its endpoints.
    pub(super) fn service_of_endpoints(&self, owner: &Owner) -> Option<ObjectKey> {
        let selection = self.backend_owner(owner)?.service_of_endpoints()?;
        Some(service_key(owner, selection))
    }

    /// The units of an owner that a change of a pod concerns: those of its records and, if the pod has
    /// this controller's readiness gate, those that it may get records at.
    pub(super) fn units_behind(
        &self,
        owner: &Owner,
        service: &ObjectKey,
        pod: &ObjectKey,
    ) -> BTreeSet<Unit> {
        let mut units = self.units_of_pod(owner, pod);
        let gated = self.pods.store.find(pod).filter(|pod| pod.gate.is_some());
        if let Some(pod) = gated {
            let endpoints = endpoints_of_pod(&self.slices_of(service), pod).into_iter();
            units.extend(endpoints.map(|found| found.endpoint.address));
        }
        units
    }

    /// The units of an owner's records of a pod.
    pub(super) fn units_of_pod(&self, owner: &Owner, pod: &ObjectKey) -> BTreeSet<Unit> {
        let records = self.records.of_pod(pod);
        let own = records.filter(|record| Owner::of(record).as_ref() == Some(owner));
        own.map(|record| super::unit_of(record).into()).collect()
    }

    /// Marks the units of an owner's pods as having to be reconciled: the pods themselves or, where
    /// the backends are endpoints, the addresses of their records.
    pub(crate) fn mark_units_of_pods<'a>(
        &mut self,
        owner: &Owner,
        pods: impl IntoIterator<Item = &'a ObjectKey>,
    ) {
        for pod in pods {
            let units = self.units_of_pod(owner, pod);
            self.mark_units(owner, units.iter().chain([&pod.name]));
        }
    }

    /// The pods that an owner's deregister policy is about if its backends are endpoints.
    pub(crate) fn pods_behind(&self, owner: &Owner) -> Option<PodSelection> {
        let key = self.service_of_endpoints(owner)?;
        self.find::<ServiceView>(&key)?.pods()
    }

    /// The endpoints that a record may stand for: those with its address.
    pub(crate) fn endpoints_of_record(&self, record: &BackendRecord) -> Vec<SliceEndpoint> {
        let (Some(owner), Some(backend)) = (Owner::of(record), &record.spec.endpoint_backend)
        else {
            return Vec::new();
        };
        let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
        let slices = self.slices_of(&ObjectKey::new(namespace, backend.service.as_str()));
        self.endpoints_at(&owner, &slices, &backend.address)
    }

    /// The endpoints with an address in an owner's slices.
    pub(crate) fn endpoints_at(
        &self,
        owner: &Owner,
        slices: &[Arc<SliceView>],
        address: &str,
    ) -> Vec<SliceEndpoint> {
        let of_slice = |slice: &Arc<SliceView>| {
            let endpoints = slice.at(address).iter().map(|endpoint| SliceEndpoint {
                awaits_gate: self.awaits_gate(owner, endpoint),
                slice: Arc::clone(slice),
                endpoint: endpoint.clone(),
            });
            endpoints.collect::<Vec<_>>()
        };
        slices.iter().flat_map(of_slice).collect()
    }

    /// True if an endpoint is not ready only because its pod waits for this controller's gate. Only
    /// pods that the Service selects count: changes of others are not noticed.
    fn awaits_gate(&self, owner: &Owner, endpoint: &Endpoint) -> bool {
        let conditions = endpoint.conditions;
        if conditions.is_ready() || conditions.is_terminating() {
            return false;
        }
        let Some(target) = &endpoint.pod else {
            return false;
        };
        if !self.selections.members.contains(owner, &*target.name) {
            return false;
        }
        let namespace = Arc::clone(&owner.key().namespace);
        let key = ObjectKey::new(namespace, Arc::clone(&target.name));
        let pod = self.pods.store.find(&key);
        pod.is_some_and(|pod| *pod.uid == *target.uid && pod.gate.is_some() && pod.is_available())
    }
}

/// The endpoints of a pod. Those with its address are looked up; endpoints of another type, as in clusters
/// with two, are found by the pod's uid.
pub(crate) fn endpoints_of_pod(slices: &[Arc<SliceView>], pod: &PodView) -> Vec<SliceEndpoint> {
    let family = match pod.ip.parse() {
        Ok(IpAddr::V4(_)) => AddressFamily::IPv4,
        Ok(IpAddr::V6(_)) => AddressFamily::IPv6,
        // It has no address yet.
        Err(_) => return Vec::new(),
    };
    let of_slice = |slice: &Arc<SliceView>| {
        let candidates = match slice.family == family {
            true => slice.at(&pod.ip),
            false => &slice.endpoints,
        };
        let is_of_pod = |endpoint: &&Endpoint| {
            let target = endpoint.pod.as_ref();
            target.is_some_and(|target| *target.uid == *pod.uid)
        };
        let found = candidates.iter().filter(is_of_pod);
        let found = found.map(|endpoint| SliceEndpoint {
            slice: Arc::clone(slice),
            endpoint: endpoint.clone(),
            awaits_gate: false,
        });
        found.collect::<Vec<_>>()
    };
    slices.iter().flat_map(of_slice).collect()
}

impl ServiceView {
    /// The pods that its selector selects; none without a selector.
    pub(crate) fn pods(&self) -> Option<PodSelection> {
        (!self.selector.is_empty()).then(|| PodSelection {
            by_label: Some(SelectPodByLabel {
                selector: self.selector.clone(),
                except: Vec::new(),
            }),
            ..PodSelection::default()
        })
    }
}

impl super::Records {
    /// The requests for the records of a unit that have no address yet.
    fn waiting_for_address(&self, owner: &Owner, unit: &Unit) -> Vec<Request> {
        let records = self.of_unit(owner, unit);
        let waiting = records.filter(|record| {
            let status = record.status.as_ref();
            status.is_none_or(|status| status.backend_addr.is_empty())
        });
        let keys = waiting.map(|record| RequestKey::Record(ObjectKey::of(&**record)));
        keys.map(Request::normal).collect()
    }
}
