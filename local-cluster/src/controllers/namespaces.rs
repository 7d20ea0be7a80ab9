//! Deletes the content of namespaces that are being deleted, then finalizes them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;

use super::run::Controller;
use super::write::{delete_all, modify};
use crate::object::{child, is_deleting};
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// Terminating namespaces, and whether each is to be reconciled.
    terminating: BTreeMap<String, bool>,
}

impl Controller for Namespaces {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        self.terminating = objects
            .iter()
            .filter(|(resource, stored)| {
                resource.is("", "namespaces") && is_deleting(&stored.object)
            })
            .map(|(_, stored)| (stored.name.clone(), true))
            .collect();
    }

    fn apply(&mut self, event: &StoreEvent) {
        let deleted = event.kind == EventType::Deleted;
        if event.resource.is("", "namespaces") {
            if deleted {
                self.terminating.remove(&event.object.name);
            } else if is_deleting(&event.object.object) {
                self.terminating.insert(event.object.name.clone(), true);
            }
        } else if deleted && let Some(dirty) = self.terminating.get_mut(&event.object.namespace) {
            *dirty = true;
        }
    }

    fn reconcile(&mut self, cluster: &Cluster, _now: Instant) -> Option<Instant> {
        for (namespace, dirty) in &mut self.terminating {
            if std::mem::take(dirty) && delete_content(cluster, namespace) {
                finalize(cluster, namespace);
            }
        }
        None
    }
}

/// Deletes everything in a namespace. Returns whether nothing is left.
fn delete_content(cluster: &Cluster, namespace: &str) -> bool {
    let (mut seen, mut empty) = (HashSet::new(), true);
    for kind in cluster.registry.all() {
        if kind.namespaced && seen.insert(kind.storage.clone()) {
            empty &= delete_all(cluster, &kind, Some(namespace));
        }
    }
    empty
}

/// Clears `spec.finalizers`, which removes the namespace unless its metadata has finalizers.
fn finalize(cluster: &Cluster, namespace: &str) {
    let resource = Resource::new("", "namespaces");
    modify(cluster, &resource, ("", namespace), |object| {
        let mut next = object.clone();
        child(&mut next, "spec").insert("finalizers".to_owned(), json!([]));
        Some(next)
    });
}
