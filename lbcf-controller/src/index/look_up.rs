//! The questions that deciding asks, each one look-up.

use super::service_groups::service_of;
use super::{Index, LoadBalancerOf, Lookup, NodeView, PodView, ServiceView, binds};
use crate::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, StringMap};
use crate::key::{ObjectKey, Owner, WorkKey};
use crate::names;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Index {
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
