//! Backend groups, the pods they select and the load balancers they use.

use super::multi_map::MultiMap;
use super::pods::{PodView, Pods};
use super::table::Table;
use super::{Change, Lookup};
use crate::api::{BackendGroup, PodSelection};
use crate::key::{ObjectKey, WorkKey};
use crate::names;
use crate::work::Work;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Groups {
    table: Table<BackendGroup>,
    by_load_balancer: MultiMap<ObjectKey, ObjectKey>,
    /// Groups by one of the labels that they ask for: a pod's labels lead to the few groups that
    /// may select it.
    by_label: MultiMap<(String, String, String), ObjectKey>,
    by_pod_name: MultiMap<ObjectKey, ObjectKey>,
    /// The names of the pods that a group selects.
    members: MultiMap<ObjectKey, String>,
    /// The groups that select a pod.
    of_pod: MultiMap<ObjectKey, ObjectKey>,
}

impl Groups {
    pub(super) fn change(&mut self, change: Change<BackendGroup>, pods: &Pods) -> Vec<Work> {
        let mut work = Vec::new();
        for (key, diff) in self.table.change(change) {
            let (old, new) = (diff.old.as_deref(), diff.new.as_deref());
            let spec_is_same = matches!((old, new), (Some(old), Some(new)) if old.spec == new.spec);
            if !spec_is_same {
                if let Some(old) = old {
                    self.forget(&key, old);
                }
                if let Some(new) = new {
                    self.learn(&key, new, pods);
                }
            }
            let is_concerned = match (old, new) {
                (Some(old), Some(new)) => {
                    !spec_is_same
                        || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                        || old.metadata.uid != new.metadata.uid
                }
                _ => true,
            };
            if is_concerned {
                work.push(Work::in_turn(WorkKey::Group(key)));
            }
        }
        work
    }

    /// The groups that a pod's change concerns: those that selected it and those that do now.
    pub(super) fn pod_changed(
        &mut self,
        pod: &ObjectKey,
        view: Option<&PodView>,
    ) -> BTreeSet<ObjectKey> {
        let before: BTreeSet<ObjectKey> = self.of_pod.get(pod).cloned().collect();
        let now: BTreeSet<ObjectKey> = view.map(|view| self.selecting(view)).unwrap_or_default();
        for group in before.difference(&now) {
            self.members.remove(group, &pod.name);
            self.of_pod.remove(pod, group);
        }
        for group in now.difference(&before) {
            self.members.insert(group.clone(), pod.name.clone());
            self.of_pod.insert(pod.clone(), group.clone());
        }
        &before | &now
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Lookup<Arc<BackendGroup>> {
        self.table.get(key)
    }

    pub(super) fn members(&self, group: &ObjectKey) -> impl Iterator<Item = &String> {
        self.members.get(group)
    }

    pub(super) fn of_load_balancer(&self, lb: &ObjectKey) -> impl Iterator<Item = ObjectKey> {
        self.by_load_balancer.get(lb).cloned()
    }

    fn selecting(&self, pod: &PodView) -> BTreeSet<ObjectKey> {
        let by_label = pod.labels.iter().flat_map(|(label, value)| {
            self.by_label
                .get(&(pod.key.namespace.clone(), label.clone(), value.clone()))
        });
        by_label
            .chain(self.by_pod_name.get(&pod.key))
            .filter(|group| {
                self.table
                    .peek(group)
                    .and_then(|group| group.spec.pods.as_ref())
                    .is_some_and(|pods| selects(pods, &pod.key.name, &pod.labels))
            })
            .cloned()
            .collect()
    }

    fn learn(&mut self, key: &ObjectKey, group: &BackendGroup, pods: &Pods) {
        for lb in group.spec.load_balancer_names() {
            self.by_load_balancer
                .insert(names::resolve(&key.namespace, lb), key.clone());
        }
        let Some(selection) = &group.spec.pods else {
            return;
        };
        for posting in postings(&key.namespace, selection) {
            match posting {
                Posting::Label(label) => self.by_label.insert(label, key.clone()),
                Posting::Name(pod) => self.by_pod_name.insert(pod, key.clone()),
            }
        }
        for pod in pods.in_namespace(&key.namespace) {
            if selects(selection, &pod.key.name, &pod.labels) {
                self.members.insert(key.clone(), pod.key.name.clone());
                self.of_pod.insert(pod.key.clone(), key.clone());
            }
        }
    }

    fn forget(&mut self, key: &ObjectKey, group: &BackendGroup) {
        for lb in group.spec.load_balancer_names() {
            self.by_load_balancer
                .remove(&names::resolve(&key.namespace, lb), key);
        }
        for posting in group
            .spec
            .pods
            .iter()
            .flat_map(|selection| postings(&key.namespace, selection))
        {
            match posting {
                Posting::Label(label) => self.by_label.remove(&label, key),
                Posting::Name(pod) => self.by_pod_name.remove(&pod, key),
            }
        }
        let members: Vec<String> = self.members.get(key).cloned().collect();
        for pod in members {
            self.of_pod
                .remove(&ObjectKey::new(key.namespace.clone(), pod), key);
        }
        self.members.remove_all(key);
    }
}

/// Where a group is filed.
enum Posting {
    Label((String, String, String)),
    Name(ObjectKey),
}

fn postings(namespace: &str, selection: &PodSelection) -> Vec<Posting> {
    match &selection.by_label {
        Some(by_label) => by_label
            .selector
            .iter()
            .next()
            .map(|(label, value)| {
                Posting::Label((namespace.to_owned(), label.clone(), value.clone()))
            })
            .into_iter()
            .collect(),
        None => selection
            .by_name
            .iter()
            .map(|name| Posting::Name(ObjectKey::new(namespace, name.clone())))
            .collect(),
    }
}

/// Whether a group selects a pod of its namespace (b23, b25). An empty selector selects nothing.
#[must_use]
pub(crate) fn selects(
    selection: &PodSelection,
    name: &str,
    labels: &BTreeMap<String, String>,
) -> bool {
    match &selection.by_label {
        Some(by_label) => {
            !by_label.selector.is_empty()
                && by_label
                    .selector
                    .iter()
                    .all(|(label, value)| labels.get(label) == Some(value))
                && !by_label.except.iter().any(|except| except == name)
        }
        None => selection.by_name.iter().any(|wanted| wanted == name),
    }
}
