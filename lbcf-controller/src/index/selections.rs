//! Which pods an owner selects.
//!
//! A pod's labels lead to the few owners that may select it; an owner's name leads to its pods.

use super::multi_map::MultiMap;
use super::pods::{PodView, Pods};
use crate::api::PodSelection;
use crate::key::{ObjectKey, Owner};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Selections {
    rules: HashMap<Owner, PodSelection>,
    /// Owners by one of the labels that they ask for.
    by_label: MultiMap<(String, String, String), Owner>,
    by_name: MultiMap<ObjectKey, Owner>,
    /// The names of the pods that an owner selects.
    members: MultiMap<Owner, String>,
    /// Those of them that are being deleted.
    going: MultiMap<Owner, String>,
    /// Those of them that are not available and are to stay.
    unready: MultiMap<Owner, String>,
    /// Those of them that are available, by node.
    available_on: MultiMap<(Owner, String), String>,
    /// The owners that select a pod.
    of_pod: MultiMap<ObjectKey, Owner>,
}

impl Selections {
    /// Says which pods an owner selects: those of its namespace that the rule fits.
    pub(super) fn set(&mut self, owner: &Owner, rule: Option<&PodSelection>, pods: &Pods) {
        if self.rules.get(owner) == rule {
            return;
        }
        self.forget(owner, pods);
        let Some(rule) = rule else {
            return;
        };
        let namespace = &owner.key().namespace;
        for posting in postings(namespace, rule) {
            match posting {
                Posting::Label(label) => self.by_label.insert(label, owner.clone()),
                Posting::Name(pod) => self.by_name.insert(pod, owner.clone()),
            }
        }
        self.rules.insert(owner.clone(), rule.clone());
        if rule.by_label.is_some() {
            for pod in pods.in_namespace(namespace) {
                if selects(rule, &pod.key.name, &pod.labels) {
                    self.join(owner, pod);
                }
            }
        } else {
            for name in &rule.by_name {
                if let Some(pod) = pods.get(&ObjectKey::new(namespace.clone(), name.clone())) {
                    self.join(owner, &pod);
                }
            }
        }
    }

    fn forget(&mut self, owner: &Owner, pods: &Pods) {
        let Some(rule) = self.rules.remove(owner) else {
            return;
        };
        let namespace = &owner.key().namespace;
        for posting in postings(namespace, &rule) {
            match posting {
                Posting::Label(label) => self.by_label.remove(&label, owner),
                Posting::Name(pod) => self.by_name.remove(&pod, owner),
            }
        }
        let members: Vec<String> = self.members.get(owner).cloned().collect();
        for name in members {
            let pod = ObjectKey::new(namespace.clone(), name);
            let node = pods.get(&pod).map(|pod| pod.node.clone());
            self.leave(owner, &pod, node.as_deref());
        }
    }

    /// Takes in a pod's change; gives the owners that it concerns: those that selected it and
    /// those that do now.
    pub(super) fn pod_changed(
        &mut self,
        pod: &ObjectKey,
        old: Option<&PodView>,
        new: Option<&PodView>,
    ) -> BTreeSet<Owner> {
        let before: BTreeSet<Owner> = self.of_pod.get(pod).cloned().collect();
        let now: BTreeSet<Owner> = new.map(|new| self.selecting(new)).unwrap_or_default();
        for owner in &before {
            self.leave(owner, pod, old.map(|old| old.node.as_str()));
        }
        if let Some(new) = new {
            for owner in &now {
                self.join(owner, new);
            }
        }
        &before | &now
    }

    fn join(&mut self, owner: &Owner, pod: &PodView) {
        let name = &pod.key.name;
        self.members.insert(owner.clone(), name.clone());
        self.of_pod.insert(pod.key.clone(), owner.clone());
        if pod.deleting {
            self.going.insert(owner.clone(), name.clone());
        } else if pod.is_available() {
            self.available_on
                .insert((owner.clone(), pod.node.clone()), name.clone());
        } else {
            self.unready.insert(owner.clone(), name.clone());
        }
    }

    fn leave(&mut self, owner: &Owner, pod: &ObjectKey, node: Option<&str>) {
        self.members.remove(owner, &pod.name);
        self.going.remove(owner, &pod.name);
        self.unready.remove(owner, &pod.name);
        self.of_pod.remove(pod, owner);
        if let Some(node) = node {
            self.available_on
                .remove(&(owner.clone(), node.to_owned()), &pod.name);
        }
    }

    /// The pods that an owner selects.
    pub(super) fn members(&self, owner: &Owner) -> impl Iterator<Item = &String> {
        self.members.get(owner)
    }

    /// Whether an owner selects a pod.
    pub(super) fn has_member(&self, owner: &Owner, pod: &str) -> bool {
        self.members.contains(owner, pod)
    }

    /// How many pods an owner selects that are there to stay.
    pub(super) fn count_staying(&self, owner: &Owner) -> usize {
        self.members.count(owner) - self.going.count(owner)
    }

    /// The selected pods that are not available and are to stay.
    pub(super) fn unready(&self, owner: &Owner) -> impl Iterator<Item = &String> {
        self.unready.get(owner)
    }

    /// Whether a selected pod that is available runs on a node.
    pub(super) fn has_available_on(&self, owner: &Owner, node: &str) -> bool {
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
                self.rules
                    .get(owner)
                    .is_some_and(|rule| selects(rule, &pod.key.name, &pod.labels))
            })
            .cloned()
            .collect()
    }
}

/// Where an owner is filed.
enum Posting {
    Label((String, String, String)),
    Name(ObjectKey),
}

fn postings(namespace: &str, rule: &PodSelection) -> Vec<Posting> {
    match &rule.by_label {
        Some(by_label) => by_label
            .selector
            .iter()
            .next()
            .map(|(label, value)| {
                Posting::Label((namespace.to_owned(), label.clone(), value.clone()))
            })
            .into_iter()
            .collect(),
        None => rule
            .by_name
            .iter()
            .map(|name| Posting::Name(ObjectKey::new(namespace, name.clone())))
            .collect(),
    }
}

/// Whether a selection fits a pod of its namespace (b23, b25). An empty selector selects nothing;
/// labels win over names (b94).
#[must_use]
fn selects(rule: &PodSelection, name: &str, labels: &BTreeMap<String, String>) -> bool {
    match &rule.by_label {
        Some(by_label) => {
            !by_label.selector.is_empty()
                && by_label
                    .selector
                    .iter()
                    .all(|(label, value)| labels.get(label) == Some(value))
                && !by_label.except.iter().any(|except| except == name)
        }
        None => rule.by_name.iter().any(|wanted| wanted == name),
    }
}
