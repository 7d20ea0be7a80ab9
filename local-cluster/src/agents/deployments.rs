//! Deployments: a ReplicaSet for each version of a template, and the way from one to the next.

mod revision;
mod scale;
mod set;
mod status;

use std::time::Duration;

use serde_json::Value;

use self::revision::{annotate, current, is_current, new_set, numbered, outlived, resized};
use self::scale::{Resize, empty, proportional, roll, size_of_new, was_scaled};
use self::set::{REVISION, Set, Strategy};
use self::status::{Report, is_complete};
use super::desk::{Desk, Owner};
use super::kin::controller;
use super::pods::{has_ended, number};
use super::write::{self, NotCreated};
use crate::object::{Object, at, is_deleting, text};
use crate::resources::Kind;
use crate::selector::LabelSelector;

/// A Deployment while it is looked at.
struct Rollout<'a> {
    owner: Owner<'a>,
    sets_kind: &'a Kind,
    strategy: Strategy,
    /// The old ReplicaSets, oldest first, and then the new one if there is one.
    sets: Vec<Set>,
    has_new: bool,
    report: Report,
}

/// Looks at one Deployment.
pub(super) fn sync(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    selector: &LabelSelector,
) -> Option<Duration> {
    let kind = desk.kind("apps", "replicasets")?;
    let deployment = owner.object();
    let claimed = desk.claim(&kind, owner, selector, |_| true);
    let mut sets: Vec<Set> = claimed.iter().map(Set::of).collect();
    sets.sort_by_key(Set::age);
    let new = current(deployment, &sets);
    if let Some(new) = new {
        let new = sets.remove(new);
        sets.push(new);
    }
    let mut rollout = Rollout {
        owner,
        sets_kind: &kind,
        strategy: Strategy::of(deployment),
        sets,
        has_new: new.is_some(),
        report: Report::of(deployment, desk.now),
    };
    if is_deleting(deployment) {
        return rollout.report(desk, false);
    }
    let paused = at(deployment, &["spec", "paused"]) == Some(&Value::Bool(true));
    rollout.report.pause(paused);
    rollout.number_new(desk);
    let rolls = !paused && !was_scaled(rollout.strategy, &rollout.sets);
    if rolls {
        rollout.roll(desk);
    } else {
        let total = number(deployment, &["status", "replicas"], 0);
        let sizes = proportional(rollout.strategy, &rollout.sets, rollout.has_new, total);
        rollout.resize(desk, &sizes);
        if paused {
            rollout.clean_up(desk);
        }
    }
    rollout.report(desk, rolls)
}

impl Rollout<'_> {
    fn old(&self) -> &[Set] {
        match self.sets.split_last() {
            Some((_, old)) if self.has_new => old,
            _ => &self.sets,
        }
    }

    fn next_revision(&self) -> i64 {
        let last = self.old().iter().map(|set| set.revision).max();
        last.unwrap_or(0) + 1
    }

    /// Brings the annotations of the current ReplicaSet up to date.
    fn number_new(&mut self, desk: &mut Desk<'_>) {
        let revision = self.next_revision();
        let Some(new) = self.sets.last_mut().filter(|_| self.has_new) else {
            return;
        };
        let mut next = new.stored.object.clone();
        annotate(self.owner.object(), &mut next, revision);
        if next != new.stored.object
            && let Some(written) = desk.update(self.sets_kind, &new.stored, next)
        {
            *new = Set::of(&written);
        }
        if !self.report.has_progress() {
            let message = format!("Found new replica set {:?}", new.name());
            self.report.progress("True", "FoundNewReplicaSet", &message);
        }
    }

    fn roll(&mut self, desk: &mut Desk<'_>) {
        if self.strategy.recreate {
            let sizes = empty(self.old());
            if !sizes.is_empty() {
                self.resize(desk, &sizes);
                return;
            }
            if self.old_pods_run(desk) {
                return;
            }
        }
        if !self.has_new && !self.create(desk) {
            return;
        }
        let sizes = roll(self.strategy, &self.sets);
        if sizes.is_empty() {
            if is_complete(self.strategy, &self.sets) {
                self.clean_up(desk);
            }
            return;
        }
        self.resize(desk, &sizes);
    }

    /// Whether pods of old versions run, or still end.
    fn old_pods_run(&self, desk: &Desk<'_>) -> bool {
        let Some(pods) = desk.kind("", "pods") else {
            return false;
        };
        self.old().iter().any(|set| {
            let own = desk.controlled(&pods, set.stored.uid());
            set.actual > 0 || own.iter().any(|pod| !has_ended(&pod.object))
        })
    }

    /// Makes the ReplicaSet of a new version; says whether there is one now.
    fn create(&mut self, desk: &mut Desk<'_>) -> bool {
        let deployment = self.owner.object();
        let revision = self.next_revision();
        let body = new_set(deployment, self.report.collisions, revision);
        let name = crate::object::name(&body).to_owned();
        let size = size_of_new(self.strategy, &self.sets, 0);
        let body = resized(&body, size, self.strategy);
        let namespace = &self.owner.stored.namespace;
        let made = match desk.create(self.sets_kind, self.owner, &body) {
            Ok(made) => {
                let message = format!("Created new replica set {name:?}");
                self.report
                    .progress("True", "NewReplicaSetCreated", &message);
                Some(made)
            }
            Err(NotCreated::Exists) => {
                let found = desk
                    .cluster
                    .store
                    .get(&self.sets_kind.storage, namespace, &name);
                let own = found.filter(|found| {
                    controller(&found.object) == Some(self.owner.stored.uid())
                        && is_current(deployment, &found.object)
                });
                if own.is_none() {
                    // Another's: the next hash is made with this count, when it is seen to be written.
                    self.report.collisions = Some(self.report.collisions.unwrap_or(0) + 1);
                }
                own
            }
            Err(NotCreated::NoNamespace) => None,
            Err(why) => {
                let why = why.message(self.sets_kind, &name, namespace);
                let message = format!("Failed to create new replica set {name:?}: {why}");
                self.report
                    .progress("False", "ReplicaSetCreateError", &message);
                None
            }
        };
        self.has_new = made.is_some();
        self.sets.extend(made.as_ref().map(Set::of));
        self.has_new
    }

    fn resize(&mut self, desk: &mut Desk<'_>, sizes: &[Resize]) {
        for (index, size) in sizes {
            let Some(set) = self.sets.get_mut(*index) else {
                continue;
            };
            let next = resized(&set.stored.object, *size, self.strategy);
            if let Some(written) = desk.update(self.sets_kind, &set.stored, next) {
                *set = Set::of(&written);
            }
        }
    }

    fn clean_up(&self, desk: &mut Desk<'_>) {
        let old = self.old();
        for index in outlived(self.owner.object(), old) {
            if let Some(set) = old.get(index) {
                desk.delete(self.sets_kind, &set.stored);
            }
        }
    }

    /// Writes what was found out, and the number of the current version.
    fn report(self, desk: &Desk<'_>, rolls: bool) -> Option<Duration> {
        let deployment = self.owner.object();
        let new = self.sets.last().filter(|_| self.has_new);
        let revision =
            new.and_then(|new| text(&new.stored.object, &["metadata", "annotations", REVISION]));
        let mut next: Object = match revision {
            Some(revision) => numbered(deployment, revision),
            None => deployment.clone(),
        };
        let (status, again) =
            self.report
                .finish(deployment, self.strategy, &self.sets, self.has_new, rolls);
        next.insert("status".to_owned(), Value::Object(status));
        write::replace(desk.cluster, self.owner.kind, self.owner.stored, next);
        again
    }
}
