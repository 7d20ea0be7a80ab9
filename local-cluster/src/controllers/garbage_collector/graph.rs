//! The graph of owners and dependents, and what it decides about each object.

use std::collections::HashMap;

use serde_json::Value;

use crate::controllers::indexes::MultiMap;
use crate::object::{finalizers, is_deleting, items};
use crate::rules::{FOREGROUND, ORPHAN, Propagation};
use crate::store::{Resource, Stored};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectNode {
    pub(super) resource: Resource,
    pub(super) namespace: String,
    pub(super) name: String,
    owners: Vec<OwnerReference>,
    deleting: bool,
    foreground: bool,
    orphaning: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnerReference {
    uid: String,
    blocks: bool,
}

/// The next write of the garbage collector to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GarbageAction {
    /// Delete it: its owners do not exist, or wait in foreground deletion.
    Delete(Propagation),
    /// Remove the references to these owners, which do not exist; others do.
    RemoveOwners(Vec<String>),
    /// Remove this finalizer: the dependents that it waited for are deleted.
    RemoveFinalizer(&'static str),
    /// Remove it from the owners of these dependents, which outlive it.
    Orphan(Vec<String>),
}

/// All objects and their dependents; keys are uids.
#[derive(Debug, Default)]
pub(super) struct DependencyGraph {
    nodes: HashMap<String, ObjectNode>,
    dependents: MultiMap<String, String>,
}

impl DependencyGraph {
    pub(super) fn get(&self, uid: &str) -> Option<&ObjectNode> {
        self.nodes.get(uid)
    }

    /// Inserts or replaces an object. Returns the uids to decide about.
    pub(super) fn insert(&mut self, resource: &Resource, stored: &Stored) -> Vec<String> {
        let uid = stored.uid().to_owned();
        let node = ObjectNode {
            resource: resource.clone(),
            namespace: stored.namespace.clone(),
            name: stored.name.clone(),
            owners: owners(stored),
            deleting: is_deleting(&stored.object),
            foreground: finalizers(&stored.object).contains(&FOREGROUND),
            orphaning: finalizers(&stored.object).contains(&ORPHAN),
        };
        let mut affected = Vec::new();
        if let Some(before) = self.nodes.get(&uid) {
            if *before == node {
                return affected;
            }
            for owner in &before.owners {
                self.dependents.remove(&owner.uid, &uid);
                affected.push(owner.uid.clone());
            }
        }
        for owner in &node.owners {
            self.dependents.insert(owner.uid.clone(), uid.clone());
        }
        if node.deleting {
            affected.extend(self.dependents_of(&uid));
        }
        self.nodes.insert(uid.clone(), node);
        affected.push(uid);
        affected
    }

    /// Removes an object that no longer exists. Returns the uids to decide about.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<String> {
        let mut affected = self.dependents_of(uid);
        if let Some(node) = self.nodes.remove(uid) {
            for owner in node.owners {
                self.dependents.remove(&owner.uid, uid);
                affected.push(owner.uid);
            }
        }
        affected
    }

    fn dependents_of(&self, uid: &str) -> Vec<String> {
        let dependents = self.dependents.get(uid);
        dependents.into_iter().flatten().cloned().collect()
    }

    pub(super) fn decide(&self, uid: &str) -> Option<GarbageAction> {
        let node = self.nodes.get(uid)?;
        // An owner is decided about whenever one of its dependents is deleted, so they are not copied.
        let dependents = || self.dependents.get(uid).into_iter().flatten();
        let has_dependents = dependents().next().is_some();
        if node.deleting {
            if node.orphaning {
                return Some(if has_dependents {
                    GarbageAction::Orphan(self.dependents_of(uid))
                } else {
                    GarbageAction::RemoveFinalizer(ORPHAN)
                });
            }
            let is_blocked = |dependent: &String| {
                let mut owners = self
                    .nodes
                    .get(dependent)
                    .into_iter()
                    .flat_map(|d| &d.owners);
                owners.any(|o| o.uid == uid && o.blocks)
            };
            return (node.foreground && !dependents().any(is_blocked))
                .then_some(GarbageAction::RemoveFinalizer(FOREGROUND));
        }
        if node.owners.is_empty() {
            return None;
        }
        let (mut solid, mut absent, mut waiting) = (0, Vec::new(), false);
        for owner in &node.owners {
            match self.nodes.get(&owner.uid) {
                // An owner must be cluster-scoped or in the same namespace; others do not count.
                Some(found) if found.namespace.is_empty() || found.namespace == node.namespace => {
                    if found.deleting && found.foreground {
                        waiting = true;
                        absent.push(owner.uid.clone());
                    } else {
                        solid += 1;
                    }
                }
                _ => absent.push(owner.uid.clone()),
            }
        }
        match (solid, absent.is_empty()) {
            (_, true) => None,
            (0, false) if waiting && has_dependents => {
                Some(GarbageAction::Delete(Propagation::Foreground))
            }
            (0, false) => Some(GarbageAction::Delete(Propagation::Background)),
            (_, false) => Some(GarbageAction::RemoveOwners(absent)),
        }
    }
}

fn owners(stored: &Stored) -> Vec<OwnerReference> {
    items(&stored.object, &["metadata", "ownerReferences"])
        .filter_map(|reference| {
            Some(OwnerReference {
                uid: reference.get("uid")?.as_str()?.to_owned(),
                blocks: reference.get("blockOwnerDeletion") == Some(&Value::Bool(true)),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn stored(uid: &str, owners: &[&str], extra: Value) -> Stored {
        let references: Vec<Value> = owners
            .iter()
            .map(|o| json!({"uid": o, "blockOwnerDeletion": true}))
            .collect();
        let mut meta =
            json!({"name": uid, "namespace": "d", "uid": uid, "ownerReferences": references});
        json_patch::merge(&mut meta, &extra);
        Stored::new(object(json!({"metadata": meta})), 1)
    }

    fn graph(objects: &[Stored]) -> DependencyGraph {
        let mut graph = DependencyGraph::default();
        for object in objects {
            graph.insert(&Resource::new("g", "things"), object);
        }
        graph
    }

    #[test]
    fn dependents_are_deleted_with_their_last_owner() {
        let mut graph = graph(&[
            stored("a", &[], json!({})),
            stored("b", &[], json!({})),
            stored("c", &["a", "b"], json!({})),
        ]);
        assert_eq!(graph.decide("c"), None);
        assert_eq!(graph.remove("a"), ["c"]);
        assert_eq!(
            graph.decide("c"),
            Some(GarbageAction::RemoveOwners(vec!["a".into()]))
        );
        graph.remove("b");
        assert_eq!(
            graph.decide("c"),
            Some(GarbageAction::Delete(Propagation::Background))
        );
    }

    #[test]
    fn foreground_deletion_starts_at_the_leaves() {
        let foreground = json!({"deletionTimestamp": "t", "finalizers": [FOREGROUND]});
        let mut graph = graph(&[
            stored("root", &[], foreground),
            stored("branch", &["root"], json!({})),
            stored("leaf", &["branch"], json!({})),
        ]);
        assert_eq!(graph.decide("root"), None);
        assert_eq!(
            graph.decide("branch"),
            Some(GarbageAction::Delete(Propagation::Foreground))
        );
        graph.remove("leaf");
        assert_eq!(
            graph.decide("branch"),
            Some(GarbageAction::Delete(Propagation::Background))
        );
        assert_eq!(graph.remove("branch"), ["root"]);
        assert_eq!(
            graph.decide("root"),
            Some(GarbageAction::RemoveFinalizer(FOREGROUND))
        );
    }

    #[test]
    fn orphans_lose_the_reference_before_their_owner_is_deleted() {
        let orphaning = json!({"deletionTimestamp": "t", "finalizers": [ORPHAN]});
        let mut graph = graph(&[stored("a", &[], orphaning), stored("b", &["a"], json!({}))]);
        assert_eq!(
            graph.decide("a"),
            Some(GarbageAction::Orphan(vec!["b".into()]))
        );
        assert_eq!(graph.decide("b"), None);
        let freed = graph.insert(&Resource::new("g", "things"), &stored("b", &[], json!({})));
        assert_eq!(freed, ["a", "b"]);
        assert_eq!(
            graph.decide("a"),
            Some(GarbageAction::RemoveFinalizer(ORPHAN))
        );
    }

    #[test]
    fn an_owner_in_another_namespace_does_not_count() {
        let graph = graph(&[
            stored("a", &[], json!({"namespace": "other"})),
            stored("b", &["a"], json!({})),
        ]);
        assert_eq!(
            graph.decide("b"),
            Some(GarbageAction::Delete(Propagation::Background))
        );
    }
}
