//! What the controller knows of the cluster: its own index of what the watches said.
//!
//! Every question that deciding asks ("the groups of this pod", "the records of this load
//! balancer", "who else has this address") is one look-up here; nothing scans the cluster (u40).
//! Each change answers with the work that it means, as [`Work`]. There is no I/O and no clock
//! in here, so it is tested by feeding it objects.

mod binds;
mod groups;
mod load_balancers;
mod multi_map;
mod nodes;
mod pending;
mod pods;
mod records;
mod selections;
mod service_groups;
mod services;
mod table;
mod tallies;
mod users;

pub(crate) use nodes::NodeView;
pub(crate) use pods::PodView;
pub(crate) use records::{AddressKey, LoadBalancerOf, unit_of};
pub(crate) use service_groups::takes_node;
#[cfg(test)]
pub(crate) use services::ServicePortView;
pub(crate) use services::ServiceView;

use crate::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, PodSelection,
    SelectPodByLabel, StringMap,
};
use crate::key::{BindLoadBalancerKey, ObjectKey, Owner, WorkKey};
use crate::names;
use crate::work::Work;
use binds::Binds;
use groups::Groups;
use load_balancers::LoadBalancers;
use pending::Pending;
use pods::Pods;
use records::Records;
use selections::Selections;
use service_groups::{ServiceGroups, service_key, service_of};
use std::collections::BTreeSet;
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
    binds: Binds,
    records: Records,
    pods: Pods,
    services: Table<ServiceView>,
    nodes: Table<NodeView>,
    service_groups: ServiceGroups,
    selections: Selections,
    pending: Pending,
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
                let lbs = self.load_balancers.of_driver(&key);
                let binds = self.binds.of_driver(&key).cloned();
                let records = self.records.of_driver(&key);
                let judged = self.judged_by(&key);
                let keys = lbs
                    .map(WorkKey::LoadBalancer)
                    .chain(binds.map(WorkKey::BindLoadBalancer))
                    .chain(records.map(WorkKey::Record))
                    .chain(judged.iter().map(Owner::work));
                work.extend(keys.map(Work::in_turn));
            }
        }
        work
    }

    /// Takes in what became of a load balancer.
    pub(crate) fn load_balancer(&mut self, change: Change<LoadBalancer>) -> Vec<Work> {
        let mut work = Vec::new();
        // Whoever wrote it goes on by itself. Woken by its own write it would look twice, and so
        // call a driver again that has just said when it wants to be called.
        let is_own = matches!(change, Change::Written(_));
        for wake in self.load_balancers.change(change) {
            let is_gone = self.load_balancers.get(&wake.key) == Lookup::Missing;
            if wake.itself && (!is_own || is_gone) {
                work.push(Work::in_turn(WorkKey::LoadBalancer(wake.key.clone())));
            }
            if wake.users {
                for group in self.groups.of_load_balancer(&wake.key) {
                    self.pending.mark_whole(&Owner::Group(group.clone()));
                    work.push(Work::in_turn(WorkKey::Group(group)));
                }
            }
        }
        work
    }

    /// Takes in what became of a backend group.
    pub(crate) fn group(&mut self, change: Change<BackendGroup>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.groups.change(change) {
            let owner = Owner::Group(key.clone());
            if let Some(old) = &diff.old {
                self.service_groups.forget(&key, old);
            }
            if let Some(new) = &diff.new {
                self.service_groups.learn(&key, new);
            }
            self.select_for_group(&key);
            if groups::is_concerned(&diff) {
                match diff.new {
                    Some(_) => self.pending.mark_whole(&owner),
                    None => self.pending.forget(&owner),
                }
                work.push(Work::in_turn(WorkKey::Group(key)));
            }
        }
        work
    }

    /// Takes in what became of a Bind.
    pub(crate) fn bind(&mut self, change: Change<Bind>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff, wake) in self.binds.change(change) {
            let owner = Owner::Bind(key.clone());
            let rule = diff.new.as_ref().map(|bind| &bind.spec.pods);
            self.selections.set(&owner, rule, &self.pods);
            match diff.new {
                Some(_) if wake.records => self.pending.mark_whole(&owner),
                Some(_) => {}
                None => self.pending.forget(&owner),
            }
            if wake.itself || wake.records {
                work.push(Work::in_turn(WorkKey::Bind(key.clone())));
            }
            let lbs = wake.load_balancers.into_iter();
            let lbs = lbs.map(|name| BindLoadBalancerKey {
                bind: key.clone(),
                name,
            });
            work.extend(lbs.map(WorkKey::BindLoadBalancer).map(Work::in_turn));
        }
        work
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
            work.extend(wake.recount.map(|owner| Work::soon(owner.work())));
            if let Some((owner, unit)) = wake.refill {
                if self.knows(&owner) {
                    self.pending.mark(&owner, &unit, false);
                }
                work.push(Work::in_turn(owner.work()));
            }
            let neighbours = wake.neighbours.into_iter().map(WorkKey::Record);
            work.extend(neighbours.map(Work::in_turn));
            match wake.load_balancer {
                Some(LoadBalancerOf::LoadBalancer(lb)) if self.load_balancers.is_deleting(&lb) => {
                    work.push(Work::in_turn(WorkKey::LoadBalancer(lb)));
                }
                // One that stays is not woken: it may be waiting for the time that its driver named.
                Some(LoadBalancerOf::Bind(lb)) if self.binds.is_leaving(&lb) => {
                    work.push(Work::in_turn(WorkKey::BindLoadBalancer(lb)));
                }
                _ => {}
            }
        }
        work
    }

    /// Takes in what became of a pod.
    pub(crate) fn pod(&mut self, change: Change<PodView>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.pods.change(change) {
            let (old, new) = (diff.old.as_deref(), diff.new.as_deref());
            let may_leave = new.is_none_or(|pod| !pod.is_available());
            for owner in self.selections.pod_changed(&key, old, new) {
                if self.stands_on_a_service(&owner) {
                    for node in [old, new].into_iter().flatten().map(|pod| &pod.node) {
                        self.pending.mark(&owner, node, may_leave);
                    }
                } else {
                    self.pending.mark(&owner, &key.name, may_leave);
                }
                work.push(work_of(&owner, may_leave));
            }
            let records = self.records.waiting_for_pod(&key).map(WorkKey::Record);
            work.extend(records.map(Work::in_turn));
        }
        work
    }

    /// Takes in what became of a service (u14: by what it says, as its generation tells nothing).
    pub(crate) fn service(&mut self, change: Change<ServiceView>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.services.change(change) {
            if let (Some(old), Some(new)) = (&diff.old, &diff.new)
                && old.says_the_same(new)
            {
                continue;
            }
            for group in self.service_groups.of_service(&key) {
                self.select_for_group(&group);
                let owner = Owner::Group(group);
                self.pending.mark_whole(&owner);
                work.push(work_of(&owner, true));
            }
        }
        work
    }

    /// Takes in what became of a node (u15).
    pub(crate) fn node(&mut self, change: Change<NodeView>) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.nodes.change(change) {
            if let (Some(old), Some(new)) = (&diff.old, &diff.new)
                && old.says_the_same(new)
            {
                continue;
            }
            let may_leave = diff.new.as_ref().is_none_or(|node| !node.usable);
            let states = [&diff.old, &diff.new].into_iter().flatten();
            let groups: BTreeSet<ObjectKey> = states
                .flat_map(|node| self.service_groups.of_node(&node.labels))
                .collect();
            for owner in groups.into_iter().map(Owner::Group) {
                self.pending.mark(&owner, &key.name, may_leave);
                work.push(work_of(&owner, may_leave));
            }
        }
        work
    }

    /// Says which pods a group's backends depend on: those that it selects, or, where it stands on
    /// a service that forwards on the node only, the service's.
    fn select_for_group(&mut self, key: &ObjectKey) {
        let group = self.groups.peek(key).cloned();
        let rule = group.as_ref().and_then(|group| match &group.spec.pods {
            Some(pods) => Some(pods.clone()),
            None => {
                let service = service_key(key, service_of(group)?);
                let service = self.services.peek(&service)?;
                let is_by_pod = service.is_local && !service.selector.is_empty();
                is_by_pod.then(|| PodSelection {
                    by_label: Some(SelectPodByLabel {
                        selector: service.selector.clone(),
                        except: Vec::new(),
                    }),
                    ..PodSelection::default()
                })
            }
        });
        let owner = Owner::Group(key.clone());
        self.selections.set(&owner, rule.as_ref(), &self.pods);
    }

    fn knows(&self, owner: &Owner) -> bool {
        match owner {
            Owner::Group(key) => self.groups.peek(key).is_some(),
            Owner::Bind(key) => self.binds.peek(key).is_some(),
        }
    }

    fn stands_on_a_service(&self, owner: &Owner) -> bool {
        let Owner::Group(key) = owner else {
            return false;
        };
        let group = self.groups.peek(key);
        group.is_some_and(|group| service_of(group).is_some())
    }

    /// Whether there is something to work on.
    #[must_use]
    pub(crate) fn has(&self, key: &WorkKey) -> bool {
        match key {
            WorkKey::Driver(key) => self.drivers.peek(key).is_some(),
            WorkKey::LoadBalancer(key) => self.load_balancers.get(key).found().is_some(),
            WorkKey::Group(key) => self.groups.peek(key).is_some(),
            WorkKey::Record(key) => self.records.get(key).found().is_some(),
            WorkKey::Bind(key) => self.binds.peek(key).is_some(),
            WorkKey::Judgement(owner) => self.knows(owner),
            WorkKey::BindLoadBalancer(key) => {
                let bind = self.binds.peek(&key.bind);
                bind.is_some_and(|bind| binds::names_of(bind).contains(&key.name))
            }
        }
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

    /// A Bind.
    #[must_use]
    pub(crate) fn get_bind(&self, key: &ObjectKey) -> Lookup<Arc<Bind>> {
        self.binds.get(key)
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

    /// A service.
    #[must_use]
    pub(crate) fn get_service(&self, key: &ObjectKey) -> Option<Arc<ServiceView>> {
        self.services.peek(key).cloned()
    }

    /// A node, by its name.
    #[must_use]
    pub(crate) fn get_node(&self, name: &str) -> Option<Arc<NodeView>> {
        self.nodes.peek(&ObjectKey::new("", name)).cloned()
    }

    /// The driver that work on an object calls, and what the driver knows the load balancer by;
    /// none where it calls nobody.
    #[must_use]
    pub(crate) fn target_of(&self, key: &WorkKey) -> Option<(ObjectKey, StringMap)> {
        match key {
            WorkKey::Driver(_) | WorkKey::Group(_) | WorkKey::Bind(_) | WorkKey::Judgement(_) => {
                None
            }
            WorkKey::LoadBalancer(key) => {
                let lb = self.load_balancers.get(key).found()?;
                let status = lb.status.as_ref();
                let known = status.map(|status| &status.lb_info);
                let known = known.filter(|lb_info| !lb_info.is_empty());
                let driver = names::resolve(&key.namespace, &lb.spec.lb_driver);
                Some((driver, known.unwrap_or(&lb.spec.lb_spec).clone()))
            }
            WorkKey::BindLoadBalancer(key) => {
                let bind = self.binds.peek(&key.bind)?;
                let mut wanted = bind.spec.load_balancers.iter();
                let wanted = wanted.find(|lb| lb.name == key.name);
                let mut there = bind
                    .status
                    .iter()
                    .flat_map(|status| &status.load_balancer_statuses);
                let (driver, known) = match there.find(|lb| lb.name == key.name) {
                    Some(there) => (&there.driver, &there.lb_info),
                    None => wanted.map(|lb| (&lb.driver, &lb.spec))?,
                };
                Some((names::resolve(&key.bind.namespace, driver), known.clone()))
            }
            WorkKey::Record(key) => {
                let record = self.records.get(key).found()?;
                let driver = names::resolve(&key.namespace, &record.spec.lb_driver);
                Some((driver, record.spec.lb_info.clone()))
            }
        }
    }

    /// The next units of an owner that have to be looked at, at most `limit`: pods, nodes or
    /// addresses, by name. They are the caller's from then on.
    pub(crate) fn take_units(&mut self, owner: &Owner, limit: usize) -> BTreeSet<String> {
        if self.pending.take_whole(owner) {
            let mut units: BTreeSet<String> = self.records.units(owner).cloned().collect();
            units.extend(self.candidates(owner));
            for unit in units {
                self.pending.mark(owner, &unit, false);
            }
        }
        self.pending.take(owner, limit)
    }

    /// Gives units back that are to be looked at again.
    pub(crate) fn put_back<'a>(&mut self, owner: &Owner, units: impl Iterator<Item = &'a String>) {
        if !self.knows(owner) {
            return;
        }
        for unit in units {
            self.pending.mark(owner, unit, false);
        }
    }

    /// Everything that an owner's backends may be made of.
    fn candidates(&self, owner: &Owner) -> Vec<String> {
        let group = match owner {
            Owner::Group(key) => self.groups.peek(key),
            Owner::Bind(_) => None,
        };
        match group {
            Some(group) if service_of(group).is_some() => {
                self.nodes.keys().map(|node| node.name.clone()).collect()
            }
            Some(group) if group.spec.pods.is_none() => group.spec.static_addresses.clone(),
            _ => self.selections.members(owner).cloned().collect(),
        }
    }

    /// Those of the units that are pods which the owner selects.
    #[must_use]
    pub(crate) fn pods_of(&self, owner: &Owner, units: &BTreeSet<String>) -> Vec<Arc<PodView>> {
        let namespace = &owner.key().namespace;
        units
            .iter()
            .filter(|name| self.selections.has_member(owner, name))
            .filter_map(|name| {
                let key = ObjectKey::new(namespace.clone(), (*name).clone());
                self.pods.get(&key)
            })
            .collect()
    }

    /// How many pods an owner selects that are there to stay.
    #[must_use]
    pub(crate) fn count_pods_of(&self, owner: &Owner) -> usize {
        self.selections.count_staying(owner)
    }

    /// Whether an owner selects a pod that is to stay and is not available.
    #[must_use]
    pub(crate) fn has_unready_pods(&self, owner: &Owner) -> bool {
        self.selections.unready(owner).next().is_some()
    }

    /// The pods that an owner selects, that are to stay and are not available, and that have
    /// records.
    #[must_use]
    pub(crate) fn unready_pods_of(&self, owner: &Owner) -> Vec<Arc<PodView>> {
        let namespace = &owner.key().namespace;
        self.selections
            .unready(owner)
            .filter(|pod| self.records.of_unit(owner, pod).next().is_some())
            .filter_map(|pod| {
                let key = ObjectKey::new(namespace.clone(), pod.clone());
                self.pods.get(&key)
            })
            .collect()
    }

    /// Whether a pod of a service that a group stands on is available on a node.
    #[must_use]
    pub(crate) fn has_available_on(&self, owner: &Owner, node: &str) -> bool {
        self.selections.has_available_on(owner, node)
    }

    /// The records of an owner's units.
    #[must_use]
    pub(crate) fn records_of(
        &self,
        owner: &Owner,
        units: &BTreeSet<String>,
    ) -> Vec<Arc<BackendRecord>> {
        units
            .iter()
            .flat_map(|unit| self.records.of_unit(owner, unit))
            .cloned()
            .collect()
    }

    /// Whether an owner has any record.
    #[must_use]
    pub(crate) fn has_records(&self, owner: &Owner) -> bool {
        self.records.units(owner).next().is_some()
    }

    /// How many records an owner has that are to stay.
    #[must_use]
    pub(crate) fn staying_records(&self, owner: &Owner) -> usize {
        self.records.staying(owner)
    }

    /// How many records of an owner are registered.
    #[must_use]
    pub(crate) fn registered_records(&self, owner: &Owner) -> usize {
        self.records.tallies().records(owner)
    }

    /// How many of an owner's units have at least so many registered records.
    #[must_use]
    pub(crate) fn registered_units(&self, owner: &Owner, at_least: usize) -> usize {
        self.records.tallies().units(owner, at_least)
    }

    /// Whether some records cannot be understood, so that nobody knows what they register.
    #[must_use]
    pub(crate) fn has_unreadable_records(&self) -> bool {
        self.records.has_unreadable()
    }

    /// How many records are not registered.
    #[must_use]
    pub(crate) const fn unregistered_records(&self) -> usize {
        self.records.unregistered()
    }

    /// How many records there are of a load balancer, the unreadable ones not counted.
    #[must_use]
    pub(crate) fn records_of_load_balancer(&self, lb: &LoadBalancerOf) -> usize {
        self.records.count_of_load_balancer(lb)
    }

    /// The other records with a record's address on the same load balancer.
    #[must_use]
    pub(crate) fn neighbours(&self, record: &BackendRecord) -> Vec<Arc<BackendRecord>> {
        self.records.neighbours(record)
    }

    /// The groups and Binds that ask a driver about pods that are not ready.
    #[must_use]
    pub(crate) fn judged_by(&self, driver: &ObjectKey) -> Vec<Owner> {
        let groups = self.groups.of_judge(driver).map(Owner::Group);
        groups
            .chain(self.binds.of_judge(driver).map(Owner::Bind))
            .collect()
    }
}

fn work_of(owner: &Owner, may_leave: bool) -> Work {
    if may_leave {
        Work::first(owner.work())
    } else {
        Work::in_turn(owner.work())
    }
}

#[cfg(test)]
mod tests;
