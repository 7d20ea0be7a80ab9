//! Deletes objects whose owners are deleted, and completes foreground and orphaning deletions.

mod graph;

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use self::graph::{DependencyGraph, GarbageAction, ObjectNode};
use super::owners::without_owners;
use super::run::Controller;
use super::write::{modify, remove_finalizer};
use crate::object;
use crate::rules::DeleteOptions;
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

#[cfg(test)]
mod tests;
