//! Deletes the content of namespaces that are being deleted, then finalizes them.
//!
//! Unlike the other controllers it sends its deletions through admission, as a delete collection for
//! each kind: webhooks that protect objects decide about these deletions too, and one that denies them
//! for ever keeps the namespace for ever.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::run::Controller;
use super::write::modify;
use crate::object::{child, is_deleting};
use crate::resources::Kind;
use crate::rules::DeleteOptions;
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

/// The wait of a namespace after a first denied deletion; the wait doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Kubernetes waits up to a minute.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The namespaces that are being deleted.
#[derive(Debug, Default)]
pub(super) struct Namespaces(BTreeMap<String, Terminating>);

#[derive(Debug)]
struct Terminating {
    /// When it is reconciled next; none before an object in it is gone.
    due: Option<Instant>,
    /// Counts deletions in a row that were denied or failed.
    denials: u32,
}

impl Terminating {
    fn new() -> Self {
        Self {
            due: Some(Instant::now()),
            denials: 0,
        }
    }
}

impl Controller for Namespaces {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        let terminating = objects.iter().filter(|(resource, stored)| {
            resource.is("", "namespaces") && is_deleting(&stored.object)
        });
        let names = terminating.map(|(_, stored)| stored.name.clone());
        self.0 = names.map(|name| (name, Terminating::new())).collect();
    }

    fn apply(&mut self, event: &StoreEvent) {
        let deleted = event.kind == EventType::Deleted;
        let object = &event.object;
        if event.resource.is("", "namespaces") {
            if deleted {
                self.0.remove(&object.name);
            } else if is_deleting(&object.object) {
                self.0.insert(object.name.clone(), Terminating::new());
            }
        } else if deleted && let Some(namespace) = self.0.get_mut(&object.namespace) {
            namespace.due = Some(Instant::now());
        }
    }

    /// Deletes what is in the namespaces that are due. Returns when the next one is.
    async fn reconcile(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        for (name, namespace) in &mut self.0 {
            if namespace.due.is_none_or(|due| due > now) {
                continue;
            }
            namespace.due = None;
            match delete_content(cluster, name).await {
                Content::Empty => finalize(cluster, name),
                Content::Waiting => namespace.denials = 0,
                Content::Denied => {
                    let wait = FIRST_WAIT.saturating_mul(1 << namespace.denials.min(20));
                    namespace.due = Some(Instant::now() + wait.min(LONGEST_WAIT));
                    namespace.denials += 1;
                }
            }
        }
        self.0.values().filter_map(|namespace| namespace.due).min()
    }
}

/// The rest after an attempt to delete everything in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Empty,
    /// Objects that are being deleted.
    Waiting,
    /// Objects that a webhook did not allow to be deleted, or whose deletion failed.
    Denied,
}

async fn delete_content(cluster: &Cluster, namespace: &str) -> Content {
    let (mut seen, mut content) = (HashSet::new(), Content::Empty);
    for kind in cluster.registry.all() {
        if kind.namespaced && seen.insert(kind.storage.clone()) {
            let is_denied = !delete_collection(cluster, &kind, namespace).await;
            let (left, _) = cluster.store.list(&kind.storage, Some(namespace));
            content = match content {
                _ if is_denied => Content::Denied,
                Content::Empty if !left.is_empty() => Content::Waiting,
                content => content,
            };
        }
    }
    content
}

/// Deletes the objects of a kind until a deletion is denied. Returns whether none was.
async fn delete_collection(cluster: &Cluster, kind: &Kind, namespace: &str) -> bool {
    let (objects, _) = cluster.store.list(&kind.storage, Some(namespace));
    for object in objects.iter().filter(|o| !is_deleting(&o.object)) {
        let options = DeleteOptions {
            uid: Some(object.uid().to_owned()),
            collection: true,
            ..DeleteOptions::default()
        };
        let address = (namespace, object.name.as_str());
        let deleted = cluster.delete_reviewed(kind, address, &options);
        if let Err(error) = deleted.await
            && error.code() != 404
        {
            tracing::debug!(
                namespace,
                kind = %kind.kind,
                name = object.name,
                error = error.message(),
                "an object cannot be deleted with its namespace"
            );
            return false;
        }
    }
    true
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
