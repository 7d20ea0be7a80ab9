//! What the controller knows of the cluster: its own index of what the watches said.
//!
//! Every question that deciding asks ("the groups of this pod", "the records of this load
//! balancer", "who else has this address") is one look-up here; nothing scans the cluster (u40).
//! Each change answers with the work that it means, as [`Work`]. There is no I/O and no clock
//! in here, so it is tested by feeding it objects.

mod groups;
mod load_balancers;
mod multi_map;
mod pods;
mod records;
mod table;

pub(crate) use pods::PodView;
pub(crate) use records::AddressKey;

use crate::api::{BackendGroup, BackendRecord, LoadBalancer, LoadBalancerDriver};
use crate::key::{ObjectKey, WorkKey};
use crate::work::Work;
use groups::Groups;
use load_balancers::LoadBalancers;
use pods::Pods;
use records::Records;
use std::sync::Arc;
use table::Table;

/// What became of an object.
#[derive(Debug)]
pub(crate) enum Change<T> {
    /// A watch starts to list everything there is.
    ListBegins,
    /// One object of that list.
    Listed(T),
    /// One object of that list that is not what its kind should be; its name is all there is.
    Unreadable(ObjectKey),
    /// The list is complete: what it did not name is gone.
    ListEnds,
    /// An object is new or changed, says the watch.
    Applied(T),
    /// An object is gone, says the watch.
    Deleted(T),
    /// An object that could not be understood is gone.
    Gone(ObjectKey),
    /// The API server's answer to a write of ours, which may come before or after the watch tells
    /// of it.
    Written(T),
}

/// Whether something that was looked up is there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lookup<T> {
    /// It is there.
    Found(T),
    /// It is not there.
    Missing,
    /// It is there, but cannot be understood: nothing may be concluded from it (u9).
    Unreadable,
}

impl<T> Lookup<T> {
    /// It, if it is there.
    pub(crate) fn found(self) -> Option<T> {
        match self {
            Self::Found(object) => Some(object),
            Self::Missing | Self::Unreadable => None,
        }
    }
}

/// The index of all kinds.
#[derive(Debug, Default)]
pub(crate) struct Index {
    drivers: Table<LoadBalancerDriver>,
    load_balancers: LoadBalancers,
    groups: Groups,
    records: Records,
    pods: Pods,
}

impl Index {
    /// Takes in what became of a driver.
    pub(crate) fn driver(&mut self, change: Change<LoadBalancerDriver>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.drivers.change(change) {
            work.push(Work::in_turn(WorkKey::Driver(key.clone())));
            let reached_otherwise = match (&diff.old, &diff.new) {
                (Some(old), Some(new)) => old.spec != new.spec,
                _ => true,
            };
            if reached_otherwise {
                // Whoever waits for this driver need not wait for the next retry.
                let lbs = self
                    .load_balancers
                    .of_driver(&key)
                    .map(WorkKey::LoadBalancer);
                work.extend(lbs.map(Work::in_turn));
                let records = self.records.of_driver(&key).map(WorkKey::Record);
                work.extend(records.map(Work::in_turn));
            }
        }
        work
    }

    /// Takes in what became of a load balancer.
    pub(crate) fn load_balancer(&mut self, change: Change<LoadBalancer>) -> Vec<Work> {
        let mut work = Vec::new();
        for wake in self.load_balancers.change(change) {
            if wake.itself {
                work.push(Work::in_turn(WorkKey::LoadBalancer(wake.key.clone())));
            }
            if wake.users {
                let groups = self.groups.of_load_balancer(&wake.key).map(WorkKey::Group);
                work.extend(groups.map(Work::in_turn));
            }
        }
        work
    }

    /// Takes in what became of a backend group.
    pub(crate) fn group(&mut self, change: Change<BackendGroup>) -> Vec<Work> {
        self.groups.change(change, &self.pods)
    }

    /// Takes in what became of a backend record.
    pub(crate) fn record(&mut self, change: Change<BackendRecord>) -> Vec<Work> {
        let mut work = Vec::new();
        for wake in self.records.change(change) {
            work.extend(wake.itself.map(|key| {
                let is_deleting = self.records.is_deleting(&key);
                let key = WorkKey::Record(key);
                if is_deleting {
                    Work::first(key)
                } else {
                    Work::in_turn(key)
                }
            }));
            work.extend(wake.recount.map(|group| Work::soon(WorkKey::Group(group))));
            work.extend(
                wake.refill
                    .map(|group| Work::in_turn(WorkKey::Group(group))),
            );
            let neighbours = wake.neighbours.into_iter().map(WorkKey::Record);
            work.extend(neighbours.map(Work::in_turn));
            if let Some(lb) = wake.load_balancer
                && self.load_balancers.is_deleting(&lb)
            {
                work.push(Work::in_turn(WorkKey::LoadBalancer(lb)));
            }
        }
        work
    }

    /// Takes in what became of a pod.
    pub(crate) fn pod(&mut self, change: Change<PodView>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.pods.change(change) {
            let may_leave = diff.new.as_deref().is_none_or(|pod| !pod.is_available());
            let urgency = if may_leave {
                Work::first
            } else {
                Work::in_turn
            };
            let groups = self.groups.pod_changed(&key, diff.new.as_deref());
            work.extend(groups.into_iter().map(WorkKey::Group).map(urgency));
            let records = self.records.waiting_for_pod(&key).map(WorkKey::Record);
            work.extend(records.map(Work::in_turn));
        }
        work
    }

    /// A driver.
    #[must_use]
    pub(crate) fn get_driver(&self, key: &ObjectKey) -> Lookup<Arc<LoadBalancerDriver>> {
        self.drivers.get(key)
    }

    /// A load balancer.
    #[must_use]
    pub(crate) fn get_load_balancer(&self, key: &ObjectKey) -> Lookup<Arc<LoadBalancer>> {
        self.load_balancers.get(key)
    }

    /// A backend group.
    #[must_use]
    pub(crate) fn get_group(&self, key: &ObjectKey) -> Lookup<Arc<BackendGroup>> {
        self.groups.get(key)
    }

    /// A backend record.
    #[must_use]
    pub(crate) fn get_record(&self, key: &ObjectKey) -> Lookup<Arc<BackendRecord>> {
        self.records.get(key)
    }

    /// A pod.
    #[must_use]
    pub(crate) fn get_pod(&self, key: &ObjectKey) -> Option<Arc<PodView>> {
        self.pods.get(key)
    }

    /// The pods that a group selects, by name.
    #[must_use]
    pub(crate) fn pods_of_group(&self, group: &ObjectKey) -> Vec<Arc<PodView>> {
        self.groups
            .members(group)
            .filter_map(|name| {
                self.pods
                    .get(&ObjectKey::new(group.namespace.clone(), name))
            })
            .collect()
    }

    /// The records that a group owns.
    #[must_use]
    pub(crate) fn records_of_group(&self, group: &ObjectKey) -> Vec<Arc<BackendRecord>> {
        self.records.of_group(group)
    }

    /// Whether some of a group's records cannot be understood, so that nobody knows what they
    /// register.
    #[must_use]
    pub(crate) fn has_unreadable_records(&self) -> bool {
        self.records.has_unreadable()
    }

    /// How many records there are of a load balancer, the unreadable ones of its namespace not
    /// counted.
    #[must_use]
    pub(crate) fn records_of_load_balancer(&self, lb: &ObjectKey) -> usize {
        self.records.count_of_load_balancer(lb)
    }

    /// The other records with a record's address on the same load balancer.
    #[must_use]
    pub(crate) fn neighbours(&self, record: &BackendRecord) -> Vec<Arc<BackendRecord>> {
        self.records.neighbours(record)
    }
}

#[cfg(test)]
mod tests;
