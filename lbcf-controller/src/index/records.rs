//! Backend records: by owner and unit, load balancer, driver, pod and address.

use super::multi_map::MultiMap;
use super::table::{Diff, Table};
use super::tallies::Tallies;
use super::{Change, Lookup};
use crate::api::{BackendRecord, Conditions, StringMap, condition_types};
use crate::key::{BindLoadBalancerKey, ObjectKey, Owner};
use crate::names;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// One address of one load balancer, by which a cloud tells backends apart (d31).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AddressKey {
    driver: ObjectKey,
    lb_info: StringMap,
    addr: String,
}

impl AddressKey {
    /// The address of a record; none while it has none.
    #[must_use]
    pub(crate) fn of(record: &BackendRecord) -> Option<Self> {
        let addr = &record.status.as_ref()?.backend_addr;
        (!addr.is_empty()).then(|| Self {
            driver: driver_of(record),
            lb_info: record.spec.lb_info.clone(),
            addr: addr.clone(),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Records {
    table: Table<BackendRecord>,
    /// By owner and unit: the pod, node or address behind them.
    by_unit: MultiMap<(Owner, String), ObjectKey>,
    units: MultiMap<Owner, String>,
    tallies: Tallies,
    /// How many records an owner has that are to stay.
    staying: HashMap<Owner, usize>,
    by_load_balancer: MultiMap<LoadBalancerOf, ObjectKey>,
    by_driver: MultiMap<ObjectKey, ObjectKey>,
    by_pod: MultiMap<ObjectKey, ObjectKey>,
    by_address: MultiMap<AddressKey, ObjectKey>,
    unregistered: usize,
}

/// What a record's address is registered at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum LoadBalancerOf {
    /// A LoadBalancer.
    LoadBalancer(ObjectKey),
    /// A Bind's load balancer.
    Bind(BindLoadBalancerKey),
}

/// Whom a change concerns.
#[derive(Default)]
pub(super) struct Wake {
    pub(super) itself: Option<ObjectKey>,
    /// Its owner, whose counts changed.
    pub(super) recount: Option<Owner>,
    /// Its owner and unit, for which something may have waited until it was gone.
    pub(super) refill: Option<(Owner, String)>,
    /// Records that may have waited for this one's address.
    pub(super) neighbours: Vec<ObjectKey>,
    /// The load balancer, if it waited for the last of its records to go.
    pub(super) load_balancer: Option<LoadBalancerOf>,
}

impl Records {
    pub(super) fn change(&mut self, change: Change<BackendRecord>) -> Vec<Wake> {
        let diffs = self.table.change(change);
        diffs
            .into_iter()
            .map(|(key, diff)| {
                if let Some(old) = &diff.old {
                    self.forget(&key, old);
                }
                if let Some(new) = &diff.new {
                    self.learn(&key, new);
                }
                self.wake(key, &diff)
            })
            .collect()
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<BackendRecord>> {
        self.table.get(key)
    }

    pub(super) fn is_deleting(&self, key: &ObjectKey) -> bool {
        self.table
            .peek(key)
            .is_some_and(|record| record.metadata.deletion_timestamp.is_some())
    }

    pub(super) fn has_unreadable(&self) -> bool {
        self.table.has_unreadable()
    }

    /// The records of an owner's unit.
    pub(super) fn of_unit(
        &self,
        owner: &Owner,
        unit: &str,
    ) -> impl Iterator<Item = &Arc<BackendRecord>> {
        self.by_unit
            .get(&(owner.clone(), unit.to_owned()))
            .filter_map(|key| self.table.peek(key))
    }

    /// The units that an owner has records of.
    pub(super) fn units(&self, owner: &Owner) -> impl Iterator<Item = &String> {
        self.units.get(owner)
    }

    pub(super) const fn tallies(&self) -> &Tallies {
        &self.tallies
    }

    pub(super) fn staying(&self, owner: &Owner) -> usize {
        self.staying.get(owner).copied().unwrap_or(0)
    }

    pub(super) fn of_driver(&self, driver: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_driver.get(driver).cloned()
    }

    pub(super) fn count_of_load_balancer(&self, lb: &LoadBalancerOf) -> usize {
        self.by_load_balancer.count(lb)
    }

    pub(super) const fn unregistered(&self) -> usize {
        self.unregistered
    }

    /// Records of a pod that have no address yet.
    pub(super) fn waiting_for_pod(&self, pod: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_pod
            .get(pod)
            .filter(|key| {
                self.table
                    .peek(key)
                    .is_some_and(|record| AddressKey::of(record).is_none())
            })
            .cloned()
    }

    pub(super) fn neighbours(&self, record: &BackendRecord) -> Vec<Arc<BackendRecord>> {
        let key = ObjectKey::of(record);
        AddressKey::of(record)
            .iter()
            .flat_map(|address| self.by_address.get(address))
            .filter(|other| **other != key)
            .filter_map(|other| self.table.peek(other).cloned())
            .collect()
    }

    fn learn(&mut self, key: &ObjectKey, record: &BackendRecord) {
        self.unregistered += usize::from(!is_registered(record));
        if let Some(owner) = Owner::of(record) {
            let unit = unit_of(record);
            if counts(record) {
                self.tallies.add(&owner, unit);
            }
            if stays(record) {
                *self.staying.entry(owner.clone()).or_default() += 1;
            }
            self.units.insert(owner.clone(), unit.to_owned());
            self.by_unit.insert((owner, unit.to_owned()), key.clone());
        }
        if let Some(pod) = pod_of(record) {
            self.by_pod.insert(pod, key.clone());
        }
        if let Some(address) = AddressKey::of(record) {
            self.by_address.insert(address, key.clone());
        }
        self.by_load_balancer
            .insert(load_balancer_of(record), key.clone());
        self.by_driver.insert(driver_of(record), key.clone());
    }

    fn forget(&mut self, key: &ObjectKey, record: &BackendRecord) {
        self.unregistered = self
            .unregistered
            .saturating_sub(usize::from(!is_registered(record)));
        if let Some(owner) = Owner::of(record) {
            let unit = unit_of(record);
            if counts(record) {
                self.tallies.remove(&owner, unit);
            }
            if stays(record)
                && let Entry::Occupied(mut staying) = self.staying.entry(owner.clone())
            {
                *staying.get_mut() -= 1;
                if *staying.get() == 0 {
                    staying.remove();
                }
            }
            let of_unit = (owner, unit.to_owned());
            self.by_unit.remove(&of_unit, key);
            if self.by_unit.count(&of_unit) == 0 {
                self.units.remove(&of_unit.0, &of_unit.1);
            }
        }
        if let Some(pod) = pod_of(record) {
            self.by_pod.remove(&pod, key);
        }
        if let Some(address) = AddressKey::of(record) {
            self.by_address.remove(&address, key);
        }
        self.by_load_balancer.remove(&load_balancer_of(record), key);
        self.by_driver.remove(&driver_of(record), key);
    }

    fn wake(&self, key: ObjectKey, diff: &Diff<BackendRecord>) -> Wake {
        match (&diff.old, &diff.new) {
            (Some(old), Some(new)) => {
                let is_concerned = old.metadata.generation != new.metadata.generation
                    || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                    || old.metadata.uid != new.metadata.uid;
                Wake {
                    itself: is_concerned.then_some(key),
                    recount: (counts(old) != counts(new))
                        .then(|| Owner::of(new))
                        .flatten(),
                    ..Wake::default()
                }
            }
            (None, Some(_)) => Wake {
                itself: Some(key),
                ..Wake::default()
            },
            (Some(old), None) => Wake {
                // Whatever back-off it had is over.
                itself: Some(key),
                refill: Owner::of(old).map(|owner| (owner, unit_of(old).to_owned())),
                neighbours: AddressKey::of(old)
                    .iter()
                    .flat_map(|address| self.by_address.get(address))
                    .cloned()
                    .collect(),
                load_balancer: Some(load_balancer_of(old)),
                recount: None,
            },
            (None, None) => Wake::default(),
        }
    }
}

/// Whether a record counts as registered: it is, and is to stay.
fn counts(record: &BackendRecord) -> bool {
    stays(record) && is_registered(record)
}

fn is_registered(record: &BackendRecord) -> bool {
    record
        .status
        .as_ref()
        .is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED))
}

fn stays(record: &BackendRecord) -> bool {
    record.metadata.deletion_timestamp.is_none()
}

/// What stands behind a record: a pod, a node or an address.
pub(crate) fn unit_of(record: &BackendRecord) -> &str {
    let spec = &record.spec;
    let pod = spec.pod_backend.as_ref().map(|pod| &pod.name);
    let node = || {
        spec.service_backend
            .as_ref()
            .map(|service| &service.node_name)
    };
    pod.or_else(node)
        .or(spec.static_addr.as_ref())
        .map_or("", String::as_str)
}

fn namespace_of(record: &BackendRecord) -> &str {
    record.metadata.namespace.as_deref().unwrap_or_default()
}

/// Where a record's address is registered.
pub(super) fn load_balancer_of(record: &BackendRecord) -> LoadBalancerOf {
    match Owner::of(record) {
        Some(Owner::Bind(bind)) => LoadBalancerOf::Bind(BindLoadBalancerKey {
            bind,
            name: record.spec.lb_name.clone(),
        }),
        _ => {
            LoadBalancerOf::LoadBalancer(names::resolve(namespace_of(record), &record.spec.lb_name))
        }
    }
}

fn driver_of(record: &BackendRecord) -> ObjectKey {
    names::resolve(namespace_of(record), &record.spec.lb_driver)
}

fn pod_of(record: &BackendRecord) -> Option<ObjectKey> {
    let pod = record.spec.pod_backend.as_ref()?;
    Some(ObjectKey::new(namespace_of(record), pod.name.clone()))
}
