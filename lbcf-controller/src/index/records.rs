//! Backend records by owner and unit, load balancer, pod and address.

use super::address::{Address, AddressHasher, AddressKey};
use super::deletions::Deletions;
use super::leaving::Leaving;
use super::multi_map::MultiMap;
use super::record_uids::RecordUids;
use super::store::{Diff, Store};
use super::tallies::Tallies;
use crate::api::{
    BackendRecord, Condition, Conditions, ObjectExt, ObjectKey, StringMap, condition_types, names,
};
use crate::index::request::{BindLoadBalancerKey, Owner, RequestKey, Unit};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(super) store: Store<BackendRecord>,
    by_unit: MultiMap<(Owner, Unit), ObjectKey>,
    units: MultiMap<Owner, Unit>,
    pub(crate) tallies: Tallies,
    pub(super) leaving: Leaving,
    pub(super) deletions: Deletions,
    /// Those that are not being deleted.
    kept: MultiMap<Owner, ObjectKey>,
    /// Those of `kept` that are not registered for a reason that is known.
    troubled: MultiMap<Owner, ObjectKey>,
    by_load_balancer: MultiMap<RequestKey, ObjectKey>,
    by_pod: MultiMap<ObjectKey, ObjectKey>,
    /// By the hash of the address, which may be that of another one too.
    by_address: MultiMap<u64, ObjectKey>,
    hasher: AddressHasher,
    pub(crate) unregistered: usize,
    pub(crate) uids: RecordUids,
    pub(super) shared_maps: SharedMaps,
}

impl Records {
    /// Updates the indexes with a change of a record. Most changes are of its status only.
    pub(super) fn update(&mut self, key: &ObjectKey, diff: &Diff<BackendRecord>) {
        self.uids.update(key, diff);
        self.deletions.update(key, diff);
        let is_moved = diff.is_change(|old, new| place_of(old) != place_of(new));
        let is_tallied = is_moved
            || diff.is_change(|old, new| counts_as_registered(old) != counts_as_registered(new));
        let is_troubled = is_moved
            || diff
                .is_change(|old, new| unregistered(old).is_some() != unregistered(new).is_some());
        let has_address = diff.is_change(|old, new| Address::of(old) != Address::of(new));
        for (record, is_present) in [(&diff.old, false), (&diff.new, true)] {
            let Some(record) = record else { continue };
            if !is_registered(record) {
                match is_present {
                    true => self.unregistered += 1,
                    false => self.unregistered -= 1,
                }
            }
            if is_moved {
                self.set_place(key, record, is_present);
            }
            if is_tallied {
                self.set_tally(key, record, is_present);
            }
            if is_troubled
                && !record.is_deleting()
                && unregistered(record).is_some()
                && let Some(owner) = Owner::of(record)
            {
                self.troubled.set(owner, key.clone(), is_present);
            }
            if is_moved
                && !is_present
                && let Some(owner) = Owner::of(record)
            {
                self.leaving.remove(&owner, key);
            }
            if has_address && let Some(address) = Address::of(record) {
                let hash = self.hasher.hash(address);
                self.by_address.set(hash, key.clone(), is_present);
            }
        }
    }

    fn set_place(&mut self, key: &ObjectKey, record: &BackendRecord, is_present: bool) {
        if let Some(owner) = Owner::of(record) {
            let unit = Unit::from(unit_of(record));
            if !record.is_deleting() {
                self.kept.set(owner.clone(), key.clone(), is_present);
            }
            let of_unit = (owner.clone(), Arc::clone(&unit));
            self.by_unit.set(of_unit.clone(), key.clone(), is_present);
            let has_records = self.by_unit.count(&of_unit) > 0;
            self.units.set(owner, unit, has_records);
        }
        if let Some(pod) = &record.spec.pod_backend {
            let pod = ObjectKey::new(namespace_of(record), pod.name.as_str());
            self.by_pod.set(pod, key.clone(), is_present);
        }
        let lb = load_balancer_of(record);
        self.by_load_balancer.set(lb, key.clone(), is_present);
    }

    pub(super) fn set_tally(&mut self, key: &ObjectKey, record: &BackendRecord, is_present: bool) {
        if let Some(owner) = Owner::of(record)
            && counts_as_registered(record)
            && !self.leaving.contains(key)
        {
            let unit = Unit::from(unit_of(record));
            match is_present {
                true => self.tallies.add(&owner, &unit),
                false => self.tallies.remove(&owner, &unit),
            }
        }
    }

    pub(super) fn of_unit(
        &self,
        owner: &Owner,
        unit: &str,
    ) -> impl Iterator<Item = &Arc<BackendRecord>> {
        self.by_unit
            .get(&(owner.clone(), unit.into()))
            .filter_map(|key| self.store.find(key))
    }

    /// All records of an owner.
    pub(super) fn of_owner(&self, owner: &Owner) -> impl Iterator<Item = ObjectKey> {
        let units = self.units(owner);
        let records = units.flat_map(|unit| self.of_unit(owner, unit));
        records.map(|record| ObjectKey::of(&**record))
    }

    /// The units that an owner has records of.
    pub(super) fn units(&self, owner: &Owner) -> impl Iterator<Item = &Unit> {
        self.units.get(owner)
    }

    pub(crate) fn has_records(&self, owner: &Owner) -> bool {
        self.units(owner).next().is_some()
    }

    /// True if some records cannot be parsed, so that it is unknown what they register.
    pub(crate) fn has_unreadable(&self) -> bool {
        self.store.has_unreadable()
    }

    /// The records of an owner that are not being deleted.
    pub(super) fn kept(&self, owner: &Owner) -> impl Iterator<Item = &ObjectKey> {
        self.kept.get(owner)
    }

    /// The first record of an owner that is not registered for a known reason.
    pub(crate) fn first_troubled(&self, owner: &Owner) -> Option<&Arc<BackendRecord>> {
        self.store.find(self.troubled.get(owner).next()?)
    }

    /// The number of records of an owner that are not being deleted and do not wait to be.
    pub(crate) fn count_kept(&self, owner: &Owner) -> usize {
        self.kept.count(owner) - self.leaving.count_waiting(owner)
    }

    /// The number of readable records of a load balancer, which is named by its request.
    pub(crate) fn count_of_load_balancer(&self, lb: &RequestKey) -> usize {
        self.by_load_balancer.count(lb)
    }

    /// The first of these records.
    pub(super) fn of_load_balancer(&self, lb: &RequestKey) -> impl Iterator<Item = &ObjectKey> {
        self.by_load_balancer.get(lb)
    }

    pub(crate) fn first_of_load_balancer(&self, lb: &RequestKey) -> Option<&ObjectKey> {
        self.by_load_balancer.get(lb).next()
    }

    pub(super) fn of_pod(&self, pod: &ObjectKey) -> impl Iterator<Item = &Arc<BackendRecord>> {
        let records = self.by_pod.get(pod);
        records.filter_map(|key| self.store.find(key))
    }

    /// Records of a pod that have no address yet.
    pub(super) fn without_address(&self, pod: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        let records = self.by_pod.get(pod).filter(|key| {
            let record = self.store.find(key);
            record.is_some_and(|record| Address::of(record).is_none())
        });
        records.cloned()
    }

    /// True if a record has an address, in whatever namespace.
    pub(crate) fn has_address(&self, address: &AddressKey) -> bool {
        self.at(address.as_ref()).next().is_some()
    }

    /// The other records with a record's address on the same load balancer.
    pub(super) fn neighbours(&self, record: &BackendRecord) -> Vec<Arc<BackendRecord>> {
        let key = ObjectKey::of(record);
        let address = Address::of(record).into_iter();
        let records = address.flat_map(|address| self.at(address));
        let others = records.filter(|other| ObjectKey::of(&***other) != key);
        others.cloned().collect()
    }

    fn at<'a>(&'a self, address: Address<'a>) -> impl Iterator<Item = &'a Arc<BackendRecord>> {
        let keys = self.by_address.get(&self.hasher.hash(address));
        let records = keys.filter_map(|key| self.store.find(key));
        records.filter(move |record| Address::of(record) == Some(address))
    }
}

/// True if a record is registered and stays so.
pub(crate) fn counts_as_registered(record: &BackendRecord) -> bool {
    !record.is_deleting() && is_registered(record)
}

pub(super) fn is_registered(record: &BackendRecord) -> bool {
    let status = record.status.as_ref();
    status.is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED))
}

/// The condition of a record whose registration or deregistration was delayed or has failed.
pub(crate) fn unregistered(record: &BackendRecord) -> Option<&Condition> {
    let status = record.status.as_ref()?;
    status.conditions.find_unmet(condition_types::REGISTERED)
}

/// The name of the pod or node, or the address, that a record registers. For an endpoint it is the
/// address, also where that is a pod's: two pods may share one, and a pod may have two.
pub(crate) fn unit_of(record: &BackendRecord) -> &str {
    let spec = &record.spec;
    if let Some(endpoint) = &spec.endpoint_backend {
        return &endpoint.address;
    }
    let pod = spec.pod_backend.as_ref().map(|pod| &pod.name);
    let service = spec.service_backend.as_ref();
    pod.or_else(|| service.map(|service| &service.node_name))
        .or(spec.static_addr.as_ref())
        .map_or("", String::as_str)
}

/// The fields that decide to which owner, unit, pod and load balancer a record belongs.
fn place_of(record: &BackendRecord) -> impl PartialEq + use<'_> {
    let metadata = &record.metadata;
    (
        &metadata.owner_references,
        &metadata.labels,
        &record.spec,
        record.is_deleting(),
    )
}

pub(super) fn namespace_of(record: &BackendRecord) -> &str {
    record.metadata.namespace.as_deref().unwrap_or_default()
}

/// The load balancer that a record's address is registered to.
pub(crate) fn load_balancer_of(record: &BackendRecord) -> RequestKey {
    match Owner::of(record) {
        Some(Owner::Bind(bind)) => RequestKey::BindLoadBalancer(BindLoadBalancerKey {
            bind,
            name: record.spec.lb_name.clone(),
        }),
        _ => RequestKey::LoadBalancer(names::resolve(namespace_of(record), &record.spec.lb_name)),
    }
}

/// The least number of maps before those that no record has any more are removed.
const MIN_PRUNED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct SharedMaps {
    maps: HashSet<StringMap>,
    /// The number of maps that the last removal left.
    left: usize,
}

impl SharedMaps {
    /// Replaces the maps of a record by equal ones of other records.
    pub(super) fn share(&mut self, record: &mut BackendRecord) {
        let spec = &mut record.spec;
        for map in [
            &mut spec.lb_info,
            &mut spec.lb_attributes,
            &mut spec.parameters,
        ] {
            self.share_map(map);
        }
        if let Some(status) = &mut record.status {
            self.share_map(&mut status.injected_info);
        }
    }

    fn share_map(&mut self, map: &mut StringMap) {
        if let Some(shared) = self.maps.get(map) {
            *map = shared.clone();
            return;
        }
        self.maps.insert(map.clone());
        // The cost of removing is that of the insertions since.
        if self.maps.len() > (2 * self.left).max(MIN_PRUNED) {
            self.maps.retain(StringMap::is_shared);
            self.left = self.maps.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: usize) -> BackendRecord {
        let mut record = BackendRecord::default();
        record.spec.lb_info = StringMap::from([("id", id.to_string().as_str())]);
        record
    }

    #[test]
    fn equal_maps_are_kept_once_and_only_while_a_record_has_them() {
        let mut shared = SharedMaps::default();
        let mut records: Vec<_> = (0..1000).map(|number| record(number % 3)).collect();
        for record in &mut records {
            shared.share(record);
        }
        assert_eq!(shared.maps.len(), 4, "and the empty one");
        assert_eq!(records[998].spec, record(998 % 3).spec);
        for number in 0..10_000 {
            shared.share(&mut record(number));
        }
        assert!(shared.maps.len() <= MIN_PRUNED + 1, "{}", shared.maps.len());
        assert!(shared.maps.contains(&records[0].spec.lb_info));
    }
}
