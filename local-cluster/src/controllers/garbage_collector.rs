//! Deletes objects whose owners are deleted, and completes foreground and orphaning deletions.
//!
//! The graph of dependents decides; the controller performs.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::indexes::MultiMap;
use super::owners::without_owners;
use super::run::Controller;
use super::write::{modify, remove_finalizer};
use crate::object::{self, finalizers, is_deleting, items};
use crate::rules::{DeleteOptions, FOREGROUND, ORPHAN, Propagation};
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

/// The number of objects that a turn handles. Deleting all dependents of an owner in one turn would drop events
/// from the watch cache before clients, or this controller, have read them.
const BATCH: usize = 64;

#[derive(Debug, Default)]
pub(super) struct GarbageCollector {
    graph: DependencyGraph,
    /// The uids to decide about.
    queue: BTreeSet<String>,
}

impl Controller for GarbageCollector {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        self.graph = DependencyGraph::default();
        for (resource, stored) in &objects {
            self.graph.insert(resource, stored);
        }
        // Decided once the graph is complete: an owner may come after its dependents.
        self.queue = objects.iter().map(|(_, s)| s.uid().to_owned()).collect();
    }

    fn apply(&mut self, event: &StoreEvent) {
        let affected = if event.kind == EventType::Deleted {
            self.graph.remove(event.object.uid())
        } else {
            self.graph.insert(&event.resource, &event.object)
        };
        self.queue.extend(affected);
    }

    async fn reconcile(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        for _ in 0..BATCH {
            let uid = self.queue.pop_first()?;
            if let Some(action) = self.graph.decide(&uid) {
                self.perform(cluster, &uid, &action);
            }
        }
        tokio::task::yield_now().await;
        Some(now)
    }
}

impl GarbageCollector {
    fn perform(&self, cluster: &Cluster, uid: &str, action: &GarbageAction) {
        let Some(node) = self.graph.get(uid) else {
            return;
        };
        let Some(kind) = cluster.registry.of_storage(&node.resource) else {
            return;
        };
        match action {
            GarbageAction::Delete(propagation) => {
                let options = DeleteOptions {
                    propagation: Some(*propagation),
                    uid: Some(uid.to_owned()),
                    ..DeleteOptions::default()
                };
                // If it is deleted, or another object has its name, nothing is left to do.
                let _ = cluster.delete(&kind, &node.namespace, &node.name, &options);
            }
            GarbageAction::RemoveOwners(owners) => remove_owners(cluster, node, uid, owners),
            GarbageAction::Orphan(dependents) => {
                for dependent in dependents {
                    if let Some(found) = self.graph.get(dependent) {
                        remove_owners(cluster, found, dependent, &[uid.to_owned()]);
                    }
                }
            }
            GarbageAction::RemoveFinalizer(finalizer) => {
                let key = (node.namespace.as_str(), node.name.as_str());
                remove_finalizer(cluster, &node.resource, key, uid, finalizer);
            }
        }
    }
}

fn remove_owners(cluster: &Cluster, node: &ObjectNode, uid: &str, owners: &[String]) {
    let key = (node.namespace.as_str(), node.name.as_str());
    modify(cluster, &node.resource, key, |object| {
        (object::uid(object) == uid).then(|| without_owners(object, owners))
    });
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ObjectNode {
    resource: Resource,
    namespace: String,
    name: String,
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
enum GarbageAction {
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
struct DependencyGraph {
    nodes: HashMap<String, ObjectNode>,
    dependents: MultiMap<String, String>,
}

impl DependencyGraph {
    fn get(&self, uid: &str) -> Option<&ObjectNode> {
        self.nodes.get(uid)
    }

    /// Inserts or replaces an object. Returns the uids to decide about.
    fn insert(&mut self, resource: &Resource, stored: &Stored) -> Vec<String> {
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
    fn remove(&mut self, uid: &str) -> Vec<String> {
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

    fn decide(&self, uid: &str) -> Option<GarbageAction> {
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
mod tests;
