//! Empties namespaces that are being deleted, then lets them go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::run::{Agent, rewrite};
use crate::object::{child, is_deleting};
use crate::resources::Kind;
use crate::rules::DeleteOptions;
use crate::store::{Change, ChangeKind, Resource, Stored};
use crate::writer::Cluster;

/// The namespace agent.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// Namespaces being deleted, and whether one is to be looked at again.
    ending: BTreeMap<String, bool>,
}

fn is_namespaces(resource: &Resource) -> bool {
    resource.group.is_empty() && &*resource.plural == "namespaces"
}

impl Agent for Namespaces {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        self.ending = objects
            .iter()
            .filter(|(resource, stored)| is_namespaces(resource) && is_deleting(&stored.object))
            .map(|(_, stored)| (stored.name.clone(), true))
            .collect();
    }

    fn observe(&mut self, change: &Change) {
        if is_namespaces(&change.resource) {
            if change.kind == ChangeKind::Deleted {
                self.ending.remove(&change.object.name);
            } else if is_deleting(&change.object.object) {
                self.ending.insert(change.object.name.clone(), true);
            }
        } else if change.kind == ChangeKind::Deleted
            && let Some(again) = self.ending.get_mut(&change.object.namespace)
        {
            *again = true;
        }
    }

    fn act(&mut self, cluster: &Cluster, _now: Instant) -> Option<Instant> {
        for (namespace, again) in &mut self.ending {
            if std::mem::take(again) && empty(cluster, namespace) {
                finish(cluster, namespace);
            }
        }
        None
    }
}

/// Deletes the content; says whether there is none left.
fn empty(cluster: &Cluster, namespace: &str) -> bool {
    let mut seen = BTreeSet::new();
    let kinds: Vec<Arc<Kind>> = cluster.registry.all();
    for kind in kinds.iter().filter(|k| k.namespaced) {
        if !seen.insert(kind.storage.clone()) {
            continue;
        }
        let (objects, _) = cluster.store.list(&kind.storage, Some(namespace));
        for stored in objects.iter().filter(|o| !is_deleting(&o.object)) {
            // What is gone or held by finalizers is counted below.
            let _ = cluster.delete(kind, namespace, &stored.name, &DeleteOptions::default());
        }
    }
    seen.iter()
        .all(|resource| cluster.store.list(resource, Some(namespace)).0.is_empty())
}

/// Lets a namespace go, unless it has finalizers of its own.
fn finish(cluster: &Cluster, namespace: &str) {
    let resource = Resource::new("", "namespaces");
    rewrite(cluster, &resource, ("", namespace), |object| {
        let mut next = object.clone();
        child(&mut next, "spec").insert("finalizers".to_owned(), Value::Array(Vec::new()));
        Some(next)
    });
}
