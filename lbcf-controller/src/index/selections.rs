//! Which pods an owner selects.
//!
//! A pod's labels lead to the few owners that may select it, and an owner to its pods.

use super::multi_map::MultiMap;
use super::pods::{PodView, Pods};
use crate::api::{ObjectKey, PodSelection};
use crate::index::request::{Owner, Unit};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Which pods an owner selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PodRule {
    pub(super) pods: PodSelection,
    /// True if only pods with this controller's readiness gate are of interest, as for an owner on
    /// endpoints, whose slices have everything else.
    pub(super) only_gated: bool,
}

impl PodRule {
    fn selects(&self, pod: &PodView) -> bool {
        (!self.only_gated || pod.gate.is_some()) && self.pods.selects(&pod.key.name, &pod.labels)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Selections {
    rules: HashMap<Owner, PodRule>,
    /// Owners by one of the labels that they select.
    by_label: MultiMap<(Arc<str>, String, String), Owner>,
    by_name: MultiMap<ObjectKey, Owner>,
    /// The names of the pods that an owner selects.
    pub(super) members: MultiMap<Owner, Unit>,
    /// Those of them that are being deleted.
    deleting: MultiMap<Owner, Unit>,
    /// Those of them that are neither available nor being deleted.
    pub(super) unready: MultiMap<Owner, Unit>,
    /// Those of the unready ones that have finished.
    finished: MultiMap<Owner, Unit>,
    /// Those of all of them that wait for this controller's readiness gate.
    pub(super) waiting_for_gate: MultiMap<Owner, Unit>,
    /// Those of them that are available, by node.
    available_on: MultiMap<(Owner, String), Unit>,
    pub(super) of_pod: MultiMap<ObjectKey, Owner>,
}

impl Selections {
    /// Sets or removes an owner's rule.
    pub(super) fn set(&mut self, owner: &Owner, rule: Option<&PodRule>, pods: &Pods) {
        if self.rules.get(owner) == rule {
            return;
        }
        self.remove(owner, pods);
        let Some(rule) = rule else {
            return;
        };
        let namespace = &owner.key().namespace;
        self.set_postings(owner, &rule.pods, true);
        self.rules.insert(owner.clone(), rule.clone());
        if rule.pods.by_label.is_some() {
            for pod in pods.in_namespace(namespace) {
                if rule.selects(pod) {
                    self.add_member(owner, pod);
                }
            }
        } else {
            for name in &rule.pods.by_name {
                let pod = pods
                    .store
                    .find(&ObjectKey::new(Arc::clone(namespace), name.as_str()));
                if let Some(pod) = pod.filter(|pod| rule.selects(pod)) {
                    self.add_member(owner, pod);
                }
            }
        }
    }

    fn remove(&mut self, owner: &Owner, pods: &Pods) {
        let Some(rule) = self.rules.remove(owner) else {
            return;
        };
        self.set_postings(owner, &rule.pods, false);
        let members: Vec<Unit> = self.members.get(owner).cloned().collect();
        for name in members {
            let pod = ObjectKey::new(owner.key().namespace.clone(), name);
            let node = pods.store.find(&pod).map(|pod| pod.node.as_str());
            self.remove_member(owner, &pod, node);
        }
    }

    /// Inserts or removes what leads from pods to an owner: one of the selected labels, or the
    /// names.
    fn set_postings(&mut self, owner: &Owner, rule: &PodSelection, is_present: bool) {
        let namespace = &owner.key().namespace;
        match &rule.by_label {
            Some(by_label) => {
                if let Some((label, value)) = by_label.selector.iter().next() {
                    let label = (namespace.clone(), label.clone(), value.clone());
                    self.by_label.set(label, owner.clone(), is_present);
                }
            }
            None => {
                for name in &rule.by_name {
                    let pod = ObjectKey::new(Arc::clone(namespace), name.as_str());
                    self.by_name.set(pod, owner.clone(), is_present);
                }
            }
        }
    }

    /// Updates the selections with a changed pod; returns the owners that selected it before or
    /// do now.
    pub(super) fn pod_changed(
        &mut self,
        pod: &ObjectKey,
        old: Option<&PodView>,
        new: Option<&PodView>,
    ) -> BTreeSet<Owner> {
        let before: BTreeSet<Owner> = self.of_pod.get(pod).cloned().collect();
        let now: BTreeSet<Owner> = new.map(|new| self.selecting(new)).unwrap_or_default();
        for owner in &before {
            self.remove_member(owner, pod, old.map(|old| old.node.as_str()));
        }
        if let Some(new) = new {
            for owner in &now {
                self.add_member(owner, new);
            }
        }
        &before | &now
    }

    fn add_member(&mut self, owner: &Owner, pod: &PodView) {
        let name = &pod.key.name;
        self.members.insert(owner.clone(), name.clone());
        self.of_pod.insert(pod.key.clone(), owner.clone());
        if pod.is_waiting_for_gate() {
            self.waiting_for_gate.insert(owner.clone(), name.clone());
        }
        if pod.deleting {
            self.deleting.insert(owner.clone(), name.clone());
        } else if pod.is_available() {
            self.available_on
                .insert((owner.clone(), pod.node.clone()), name.clone());
        } else {
            self.unready.insert(owner.clone(), name.clone());
            if pod.finished {
                self.finished.insert(owner.clone(), name.clone());
            }
        }
    }

    fn remove_member(&mut self, owner: &Owner, pod: &ObjectKey, node: Option<&str>) {
        self.members.remove(owner, &pod.name);
        self.deleting.remove(owner, &pod.name);
        self.finished.remove(owner, &pod.name);
        self.unready.remove(owner, &pod.name);
        self.waiting_for_gate.remove(owner, &pod.name);
        self.of_pod.remove(pod, owner);
        if let Some(node) = node {
            self.available_on
                .remove(&(owner.clone(), node.to_owned()), &pod.name);
        }
    }

    /// The number of pods that an owner selects and that are neither being deleted nor finished: one that the
    /// deregister policy keeps is registered all the same.
    pub(crate) fn count(&self, owner: &Owner) -> usize {
        self.members.count(owner) - self.deleting.count(owner) - self.finished.count(owner)
    }

    /// True if an owner selects a pod that is not available and may become so.
    pub(super) fn awaits_pods(&self, owner: &Owner) -> bool {
        self.unready.count(owner) > self.finished.count(owner)
    }

    /// True if an available pod that an owner selects runs on a node.
    pub(crate) fn has_available_on(&self, owner: &Owner, node: &str) -> bool {
        self.available_on.count(&(owner.clone(), node.to_owned())) > 0
    }

    fn selecting(&self, pod: &PodView) -> BTreeSet<Owner> {
        let by_label = pod.labels.iter().flat_map(|(label, value)| {
            self.by_label
                .get(&(pod.key.namespace.clone(), label.clone(), value.clone()))
        });
        by_label
            .chain(self.by_name.get(&pod.key))
            .filter(|owner| {
                let rule = self.rules.get(owner);
                rule.is_some_and(|rule| rule.selects(pod))
            })
            .cloned()
            .collect()
    }
}
