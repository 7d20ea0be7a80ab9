//! Serves what CustomResourceDefinitions define.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::run::{Agent, rewrite};
use crate::clock;
use crate::object::{Object, at, child, condition, finalizers, is_deleting, set_finalizers};
use crate::resources::kinds_of;
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
        for name in std::mem::take(&mut self.changed) {
            match cluster.store.get(&definitions(), "", &name) {
                None => {
                    self.ending.remove(&name);
                    cluster.registry.remove_custom(&name);
                }
                Some(definition) if is_deleting(&definition.object) => {
                    self.ending.insert(name);
                    self.clean_up(cluster, &definition);
                }
                Some(definition) => {
                    cluster
                        .registry
                        .set_custom(&name, kinds_of(&definition.object));
                    rewrite(cluster, &definitions(), ("", &name), |object| {
                        (!is_established(object)).then(|| established(object, &clock::now()))
                    });
                }
            }
        }
        None
    }
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

fn is_established(definition: &Object) -> bool {
    let accepted = at(definition, &["status", "acceptedNames"]);
    accepted == at(definition, &["spec", "names"])
        && condition(definition, "Established").and_then(|c| c.get("status")?.as_str())
            == Some("True")
}

fn established(definition: &Object, now: &str) -> Object {
    let mut next = definition.clone();
    let names = at(definition, &["spec", "names"])
        .cloned()
        .unwrap_or_default();
    let status = child(&mut next, "status");
    status.insert("acceptedNames".to_owned(), names);
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": "True", "lastTransitionTime": now,
            "reason": reason, "message": message,
        })
    };
    status.insert(
        "conditions".to_owned(),
        Value::Array(vec![
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition(
                "Established",
                "InitialNamesAccepted",
                "the initial names have been accepted",
            ),
        ]),
    );
    next
}
