//! Taking in what the watches say: each change answers with the work that it means.

use super::groups;
use super::service_groups::{service_key, service_of};
use super::{Change, Index, LoadBalancerOf, Lookup, NodeView, PodView, ServiceView};
use crate::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, PodSelection,
    SelectPodByLabel,
};
use crate::key::{BindLoadBalancerKey, ObjectKey, Owner, WorkKey};
use crate::work::Work;
use std::collections::BTreeSet;

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

    pub(super) fn knows(&self, owner: &Owner) -> bool {
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
}

fn work_of(owner: &Owner, may_leave: bool) -> Work {
    if may_leave {
        Work::first(owner.work())
    } else {
        Work::in_turn(owner.work())
    }
}
