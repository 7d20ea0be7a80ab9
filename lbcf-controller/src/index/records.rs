//! Backend records: by group, load balancer, driver, pod and address.

use super::multi_map::MultiMap;
use super::table::{Diff, Table};
use super::{Change, Lookup};
use crate::api::{BackendRecord, Conditions, StringMap, condition_types};
use crate::key::ObjectKey;
use crate::names;
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
    by_group: MultiMap<ObjectKey, ObjectKey>,
    by_load_balancer: MultiMap<ObjectKey, ObjectKey>,
    by_driver: MultiMap<ObjectKey, ObjectKey>,
    by_pod: MultiMap<ObjectKey, ObjectKey>,
    by_address: MultiMap<AddressKey, ObjectKey>,
}

/// Whom a change concerns.
#[derive(Default)]
pub(super) struct Wake {
    pub(super) itself: Option<ObjectKey>,
    /// Its group, whose counts changed.
    pub(super) recount: Option<ObjectKey>,
    /// Its group, which may have waited for it to go.
    pub(super) refill: Option<ObjectKey>,
    /// Records that may have waited for this one's address.
    pub(super) neighbours: Vec<ObjectKey>,
    /// The load balancer, if it waited for the last of its records to go.
    pub(super) load_balancer: Option<ObjectKey>,
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

    pub(super) fn of_group(&self, group: &ObjectKey) -> Vec<Arc<BackendRecord>> {
        self.by_group
            .get(group)
            .filter_map(|key| self.table.peek(key).cloned())
            .collect()
    }

    pub(super) fn of_driver(&self, driver: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_driver.get(driver).cloned()
    }

    pub(super) fn count_of_load_balancer(&self, lb: &ObjectKey) -> usize {
        self.by_load_balancer.count(lb)
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
        if let Some(group) = group_of(record) {
            self.by_group.insert(group, key.clone());
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
        if let Some(group) = group_of(record) {
            self.by_group.remove(&group, key);
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
                    recount: (is_registered(old) != is_registered(new))
                        .then(|| group_of(new))
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
                refill: group_of(old),
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

fn is_registered(record: &BackendRecord) -> bool {
    record
        .status
        .as_ref()
        .is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED))
}

fn namespace_of(record: &BackendRecord) -> &str {
    record.metadata.namespace.as_deref().unwrap_or_default()
}

fn load_balancer_of(record: &BackendRecord) -> ObjectKey {
    names::resolve(namespace_of(record), &record.spec.lb_name)
}

fn driver_of(record: &BackendRecord) -> ObjectKey {
    names::resolve(namespace_of(record), &record.spec.lb_driver)
}

fn pod_of(record: &BackendRecord) -> Option<ObjectKey> {
    let pod = record.spec.pod_backend.as_ref()?;
    Some(ObjectKey::new(namespace_of(record), pod.name.clone()))
}

/// The group that owns a record (b41).
fn group_of(record: &BackendRecord) -> Option<ObjectKey> {
    record
        .metadata
        .owner_references
        .iter()
        .flatten()
        .find(|owner| owner.kind == "BackendGroup" && owner.controller == Some(true))
        .map(|owner| ObjectKey::new(namespace_of(record), owner.name.clone()))
}
