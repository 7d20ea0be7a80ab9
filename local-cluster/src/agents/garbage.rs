//! The garbage collector: carries out what the lineage of objects asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use super::lineage::{Action, Lineage, disowned};
use super::run::{Agent, rewrite};
use crate::object::{finalizers, set_finalizers};
use crate::rules::DeleteOptions;
use crate::store::{Change, ChangeKind, Resource, Stored};
use crate::writer::Cluster;

/// The garbage collector.
#[derive(Debug, Default)]
pub(super) struct Collector {
    lineage: Lineage,
    to_decide: BTreeSet<String>,
}

impl Agent for Collector {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        self.lineage = Lineage::default();
        for (resource, stored) in &objects {
            self.lineage.insert(resource, stored);
        }
        // Decided only when all are known: an owner may come after its dependents.
        self.to_decide = objects.iter().map(|(_, s)| s.uid().to_owned()).collect();
    }

    fn observe(&mut self, change: &Change) {
        let affected = if change.kind == ChangeKind::Deleted {
            self.lineage.remove(change.object.uid())
        } else {
            self.lineage.insert(&change.resource, &change.object)
        };
        self.to_decide.extend(affected);
    }

    fn act(&mut self, cluster: &Cluster, _now: Instant) -> Option<Instant> {
        for uid in std::mem::take(&mut self.to_decide) {
            if let Some(action) = self.lineage.decide(&uid) {
                self.carry_out(cluster, &uid, &action);
            }
        }
        None
    }
}

impl Collector {
    fn carry_out(&self, cluster: &Cluster, uid: &str, action: &Action) {
        let Some(member) = self.lineage.get(uid) else {
            return;
        };
        let Some(kind) = cluster.registry.of_storage(&member.resource) else {
            return;
        };
        let place = (member.namespace.as_str(), member.name.as_str());
        match action {
            Action::Delete(propagation) => {
                let options = DeleteOptions {
                    propagation: Some(*propagation),
                    uid: Some(uid.to_owned()),
                    ..DeleteOptions::default()
                };
                // Gone already, or another object by that name: nothing is left to do.
                let _ = cluster.delete(&kind, place.0, place.1, &options);
            }
            Action::Disown(owners) => disown(cluster, &member.resource, place, uid, owners),
            Action::Orphan(dependents) => {
                for dependent in dependents {
                    if let Some(found) = self.lineage.get(dependent) {
                        let place = (found.namespace.as_str(), found.name.as_str());
                        let owner = [uid.to_owned()];
                        disown(cluster, &found.resource, place, dependent, &owner);
                    }
                }
            }
            Action::Finish(finalizer) => {
                rewrite(cluster, &member.resource, place, |object| {
                    (crate::object::uid(object) == uid).then(|| {
                        let mut next = object.clone();
                        let mut left = finalizers(object);
                        left.retain(|f| f != finalizer);
                        set_finalizers(&mut next, &left);
                        next
                    })
                });
            }
        }
    }
}

fn disown(
    cluster: &Cluster,
    resource: &Resource,
    place: (&str, &str),
    uid: &str,
    owners: &[String],
) {
    rewrite(cluster, resource, place, |object| {
        (crate::object::uid(object) == uid).then(|| disowned(object, owners))
    });
}
