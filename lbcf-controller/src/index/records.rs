//! Backend records by owner and unit, load balancer, pod and address.

use super::multi_map::MultiMap;
use super::record_uids::RecordUids;
use super::store::{Diff, Store};
use super::tallies::Tallies;
use crate::api::{BackendRecord, Conditions, StringMap, condition_types};
use crate::key::{BindLoadBalancerKey, ObjectKey, Owner, RequestKey};
use crate::names;
use crate::object::ObjectExt;
use std::sync::Arc;

/// One address of one load balancer, which identifies a backend in a cloud (d31).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AddressKey {
    driver: ObjectKey,
    lb_info: StringMap,
    addr: String,
}

impl AddressKey {
    /// The address of a backend that a driver lists.
    pub(crate) const fn new(driver: ObjectKey, lb_info: StringMap, addr: String) -> Self {
        Self {
            driver,
            lb_info,
            addr,
        }
    }

    pub(crate) fn addr(&self) -> &str {
        &self.addr
    }

    /// None while the record has no address.
    pub(crate) fn of(record: &BackendRecord) -> Option<Self> {
        let addr = &record.status.as_ref()?.backend_addr;
        (!addr.is_empty()).then(|| Self {
            driver: names::resolve(namespace_of(record), &record.spec.lb_driver),
            lb_info: record.spec.lb_info.clone(),
            addr: addr.clone(),
        })
    }
}

#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(super) store: Store<BackendRecord>,
    by_unit: MultiMap<(Owner, String), ObjectKey>,
    units: MultiMap<Owner, String>,
    pub(crate) tallies: Tallies,
    /// Those that are not being deleted.
    kept: MultiMap<Owner, ObjectKey>,
    by_load_balancer: MultiMap<RequestKey, ObjectKey>,
    by_pod: MultiMap<ObjectKey, ObjectKey>,
    by_address: MultiMap<AddressKey, ObjectKey>,
    pub(crate) unregistered: usize,
    pub(crate) uids: RecordUids,
}

impl Records {
    /// Updates the indexes with a change of a record.
    pub(super) fn update(&mut self, key: &ObjectKey, diff: &Diff<BackendRecord>) {
        self.uids.update(key, diff);
        if let Some(old) = &diff.old {
            self.unregistered -= usize::from(!is_registered(old));
            self.set(key, old, false);
        }
        if let Some(new) = &diff.new {
            self.unregistered += usize::from(!is_registered(new));
            self.set(key, new, true);
        }
    }

    fn set(&mut self, key: &ObjectKey, record: &BackendRecord, is_present: bool) {
        if let Some(owner) = Owner::of(record) {
            let unit = unit_of(record);
            match (counts_as_registered(record), is_present) {
                (true, true) => self.tallies.add(&owner, unit),
                (true, false) => self.tallies.remove(&owner, unit),
                (false, _) => {}
            }
            if !record.is_deleting() {
                self.kept.set(owner.clone(), key.clone(), is_present);
            }
            let of_unit = (owner.clone(), unit.to_owned());
            self.by_unit.set(of_unit.clone(), key.clone(), is_present);
            let has_records = self.by_unit.count(&of_unit) > 0;
            self.units.set(owner, unit.to_owned(), has_records);
        }
        if let Some(pod) = &record.spec.pod_backend {
            let pod = ObjectKey::new(namespace_of(record), pod.name.clone());
            self.by_pod.set(pod, key.clone(), is_present);
        }
        if let Some(address) = AddressKey::of(record) {
            self.by_address.set(address, key.clone(), is_present);
        }
        let lb = load_balancer_of(record);
        self.by_load_balancer.set(lb, key.clone(), is_present);
    }

    pub(super) fn of_unit(
        &self,
        owner: &Owner,
        unit: &str,
    ) -> impl Iterator<Item = &Arc<BackendRecord>> {
        self.by_unit
            .get(&(owner.clone(), unit.to_owned()))
            .filter_map(|key| self.store.find(key))
    }

    /// The units that an owner has records of.
    pub(super) fn units(&self, owner: &Owner) -> impl Iterator<Item = &String> {
        self.units.get(owner)
    }

    pub(crate) fn has_records(&self, owner: &Owner) -> bool {
        self.units(owner).next().is_some()
    }

    /// Whether some records cannot be parsed, so that it is unknown what they register.
    pub(crate) fn has_unreadable(&self) -> bool {
        self.store.has_unreadable()
    }

    /// The records of an owner that are not being deleted.
    pub(super) fn kept(&self, owner: &Owner) -> impl Iterator<Item = &ObjectKey> {
        self.kept.get(owner)
    }

    /// How many records of an owner are not being deleted.
    pub(crate) fn count_kept(&self, owner: &Owner) -> usize {
        self.kept.count(owner)
    }

    /// How many readable records a load balancer has, which is named by its request.
    pub(crate) fn count_of_load_balancer(&self, lb: &RequestKey) -> usize {
        self.by_load_balancer.count(lb)
    }

    /// The first of these records.
    pub(crate) fn first_of_load_balancer(&self, lb: &RequestKey) -> Option<&ObjectKey> {
        self.by_load_balancer.get(lb).next()
    }

    /// Records of a pod that have no address yet.
    pub(super) fn without_address(&self, pod: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        let records = self.by_pod.get(pod).filter(|key| {
            let record = self.store.find(key);
            record.is_some_and(|record| AddressKey::of(record).is_none())
        });
        records.cloned()
    }

    /// Whether a record has an address, in whatever namespace.
    pub(crate) fn has_address(&self, address: &AddressKey) -> bool {
        self.by_address.count(address) > 0
    }

    /// The other records with a record's address on the same load balancer.
    pub(super) fn neighbours(&self, record: &BackendRecord) -> Vec<Arc<BackendRecord>> {
        let key = ObjectKey::of(record);
        AddressKey::of(record)
            .iter()
            .flat_map(|address| self.by_address.get(address))
            .filter(|other| **other != key)
            .filter_map(|other| self.store.find(other).cloned())
            .collect()
    }
}

/// Whether a record is registered and stays so.
pub(crate) fn counts_as_registered(record: &BackendRecord) -> bool {
    !record.is_deleting() && is_registered(record)
}

pub(super) fn is_registered(record: &BackendRecord) -> bool {
    let status = record.status.as_ref();
    status.is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED))
}

/// The name of the pod or node, or the address, that a record registers.
pub(crate) fn unit_of(record: &BackendRecord) -> &str {
    let spec = &record.spec;
    let pod = spec.pod_backend.as_ref().map(|pod| &pod.name);
    let service = spec.service_backend.as_ref();
    pod.or_else(|| service.map(|service| &service.node_name))
        .or(spec.static_addr.as_ref())
        .map_or("", String::as_str)
}

fn namespace_of(record: &BackendRecord) -> &str {
    record.metadata.namespace.as_deref().unwrap_or_default()
}

/// The load balancer that a record's address is registered to.
pub(super) fn load_balancer_of(record: &BackendRecord) -> RequestKey {
    match Owner::of(record) {
        Some(Owner::Bind(bind)) => RequestKey::BindLoadBalancer(BindLoadBalancerKey {
            bind,
            name: record.spec.lb_name.clone(),
        }),
        _ => RequestKey::LoadBalancer(names::resolve(namespace_of(record), &record.spec.lb_name)),
    }
}
