//! Serves what CustomResourceDefinitions define.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use super::run::{Agent, rewrite};
use crate::clock;
use crate::object::{Object, at, finalizers, is_deleting, set_finalizers, text};
use crate::resources::{Names, accept_names, is_established, kinds_of};
use crate::rules::{DEFINITION_CLEANUP, DeleteOptions};
use crate::store::{Change, ChangeKind, Resource, Stored, WriteError};
use crate::writer::Cluster;

/// The definition agent.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// Definitions to look at.
    changed: BTreeSet<String>,
    /// Definitions whose resources are being deleted.
    ending: BTreeSet<String>,
}

fn definitions() -> Resource {
    Resource::new("apiextensions.k8s.io", "customresourcedefinitions")
}

impl Agent for Definitions {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        let definitions = definitions();
        self.changed = objects
            .iter()
            .filter(|(resource, _)| *resource == definitions)
            .map(|(_, stored)| stored.name.clone())
            .collect();
    }

    fn observe(&mut self, change: &Change) {
        if change.resource == definitions() {
            self.changed.insert(change.object.name.clone());
        } else if change.kind == ChangeKind::Deleted && !self.ending.is_empty() {
            let name = format!("{}.{}", change.resource.plural, change.resource.group);
            if self.ending.contains(&name) {
                self.changed.insert(name);
            }
        }
    }

    fn act(&mut self, cluster: &Cluster, _now: Instant) -> Option<Instant> {
        let mut waiting: Vec<Arc<Stored>> = Vec::new();
        for name in std::mem::take(&mut self.changed) {
            match cluster.store.get(&definitions(), "", &name) {
                None => {
                    self.ending.remove(&name);
                    cluster.registry.remove_custom(&name);
                    // Its names are free for others now.
                    let (all, _) = cluster.store.list(&definitions(), None);
                    waiting.extend(all.iter().filter(|d| !is_settled(&d.object)).cloned());
                }
                Some(definition) if is_deleting(&definition.object) => {
                    self.ending.insert(name);
                    self.clean_up(cluster, &definition);
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

/// Decides about a definition's names, and serves it under those that it has.
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
    // Whoever sees that it is served can use it.
    if is_established(next) {
        let kinds = kinds_of(next);
        cluster.registry.set_custom(&definition.name, kinds);
    }
    rewrite(cluster, &definitions(), ("", &definition.name), |object| {
        accept_names(object, &taken, &now)
    });
}

impl Definitions {
    /// Deletes the resources of a definition; when none is left, the definition may go.
    fn clean_up(&self, cluster: &Cluster, definition: &Stored) {
        if let Some(kind) = kinds_of(&definition.object).first() {
            let (objects, _) = cluster.store.list(&kind.storage, None);
            for stored in objects.iter().filter(|o| !is_deleting(&o.object)) {
                // What is gone or held by finalizers is counted below.
                let options = DeleteOptions::default();
                let _ = cluster.delete(kind, &stored.namespace, &stored.name, &options);
            }
            if !cluster.store.list(&kind.storage, None).0.is_empty() {
                return;
            }
        }
        while let Some(current) = cluster.store.get(&definitions(), "", &definition.name) {
            let mut next = current.object.clone();
            let left: Vec<&str> = finalizers(&current.object)
                .into_iter()
                .filter(|f| *f != DEFINITION_CLEANUP)
                .collect();
            set_finalizers(&mut next, &left);
            let done = if left.is_empty() {
                cluster.store.remove(&definitions(), &current, next)
            } else {
                cluster.store.replace(&definitions(), &current, next)
            };
            if !matches!(done, Err(WriteError::Stale)) {
                return;
            }
        }
    }
}

/// Whether a definition has the names that it wants.
fn is_settled(definition: &Object) -> bool {
    at(definition, &["status", "acceptedNames"]) == at(definition, &["spec", "names"])
}
