//! Serves the kinds that CustomResourceDefinitions define.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use super::run::Controller;
use super::write::{delete_all, modify, remove_finalizer};
use crate::clock;
use crate::object::{Object, at, is_deleting, text};
use crate::resources::{Names, accept_names, is_established, kinds_of};
use crate::rules::DEFINITION_CLEANUP;
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The definitions to reconcile, by name.
    queue: BTreeSet<String>,
    /// Definitions whose custom resources are being deleted.
    terminating: BTreeSet<String>,
}

fn definitions() -> Resource {
    Resource::new("apiextensions.k8s.io", "customresourcedefinitions")
}

impl Controller for Definitions {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        let definitions = definitions();
        self.queue = objects
            .iter()
            .filter(|(resource, _)| *resource == definitions)
            .map(|(_, stored)| stored.name.clone())
            .collect();
    }

    fn apply(&mut self, event: &StoreEvent) {
        if event.resource == definitions() {
            self.queue.insert(event.object.name.clone());
        } else if event.kind == EventType::Deleted && !self.terminating.is_empty() {
            let name = format!("{}.{}", event.resource.plural, event.resource.group);
            if self.terminating.contains(&name) {
                self.queue.insert(name);
            }
        }
    }

    async fn reconcile(&mut self, cluster: &Cluster, _now: Instant) -> Option<Instant> {
        let mut waiting: Vec<Arc<Stored>> = Vec::new();
        for name in std::mem::take(&mut self.queue) {
            match cluster.store.get(&definitions(), "", &name) {
                None => {
                    self.terminating.remove(&name);
                    cluster.registry.remove_custom(&name);
                    // Other definitions may wait for the names that it had.
                    let (all, _) = cluster.store.list(&definitions(), None);
                    waiting.extend(all.iter().filter(|d| !has_names(&d.object)).cloned());
                }
                Some(definition) if is_deleting(&definition.object) => {
                    self.terminating.insert(name);
                    clean_up(cluster, &definition);
                }
                Some(definition) => serve(cluster, &definition),
            }
        }
        for definition in waiting {
            serve(cluster, &definition);
        }
        None
    }
}

/// Accepts or rejects a definition's names, and serves it under those that it has.
fn serve(cluster: &Cluster, definition: &Stored) {
    let mut taken = Names::default();
    let group = text(&definition.object, &["spec", "group"]);
    let (all, _) = cluster.store.list(&definitions(), None);
    let others = all.iter().filter(|other| other.name != definition.name);
    for other in others.filter(|other| text(&other.object, &["spec", "group"]) == group) {
        taken.add(&other.object);
    }
    let now = clock::now();
    let next = accept_names(&definition.object, &taken, &now);
    let next = next.as_ref().unwrap_or(&definition.object);
    // Served before the status is written: a client that reads Established can use the kind at once.
    if is_established(next) {
        cluster
            .registry
            .set_custom(&definition.name, kinds_of(next));
    }
    modify(cluster, &definitions(), ("", &definition.name), |object| {
        accept_names(object, &taken, &now)
    });
}

/// Deletes a definition's custom resources and, when none is left, its finalizer.
fn clean_up(cluster: &Cluster, definition: &Stored) {
    let kinds = kinds_of(&definition.object);
    if kinds.first().is_none_or(|kind| delete_all(cluster, kind)) {
        let key = ("", definition.name.as_str());
        let uid = definition.uid();
        remove_finalizer(cluster, &definitions(), key, uid, DEFINITION_CLEANUP);
    }
}

/// A definition has all names that it asks for.
fn has_names(definition: &Object) -> bool {
    at(definition, &["status", "acceptedNames"]) == at(definition, &["spec", "names"])
}
