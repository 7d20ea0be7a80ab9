//! Deployments: one ReplicaSet for each revision of the template, and rollouts between them.

mod revision;
mod scale;
mod status;

use std::time::Duration;

use serde_json::Value;

use self::revision::{
    annotate, beyond_history, current, is_current, new_replica_set, resized, with_revision,
};
use self::scale::{
    REVISION, ReplicaSet, Resize, RolloutStrategy, rolling_update, scale_paused, size_of_new,
    to_zero,
};
use self::status::{StatusUpdate, is_complete};
use super::context::Context;
use super::owners::controller_uid;
use super::pods::has_ended;
use super::write;
use crate::object::{Object, at, is_deleting, name, text};
use crate::resources::Kind;

/// A Deployment while it is reconciled.
struct Rollout<'a, 'c> {
    ctx: &'a mut Context<'c>,
    kind: &'a Kind,
    strategy: RolloutStrategy,
    /// The old ReplicaSets, oldest first, then the new one if it exists.
    sets: Vec<ReplicaSet>,
    has_new: bool,
    status: StatusUpdate,
}

pub(super) fn reconcile(ctx: &mut Context<'_>) -> Option<Duration> {
    let kind = ctx.builtin("apps", "replicasets")?;
    let deployment = ctx.object();
    let claimed = ctx.claim(&kind, |_| true);
    let mut sets: Vec<ReplicaSet> = claimed.iter().map(ReplicaSet::of).collect();
    sets.sort_by_key(ReplicaSet::age);
    let new = current(deployment, &sets);
    if let Some(new) = new {
        let new = sets.remove(new);
        sets.push(new);
    }
    let status = StatusUpdate::of(deployment, ctx.now);
    let mut rollout = Rollout {
        ctx,
        kind: &kind,
        strategy: RolloutStrategy::of(deployment),
        sets,
        has_new: new.is_some(),
        status,
    };
    if is_deleting(deployment) {
        return rollout.update_status(false);
    }
    let paused = at(deployment, &["spec", "paused"]) == Some(&Value::Bool(true));
    rollout.status.set_paused(paused);
    rollout.annotate_new();
    if paused {
        let sizes = scale_paused(rollout.strategy, &rollout.sets);
        rollout.resize(&sizes);
        rollout.prune_history();
    } else {
        rollout.roll();
    }
    rollout.update_status(!paused)
}

impl Rollout<'_, '_> {
    fn new_set(&self) -> Option<&ReplicaSet> {
        self.sets.last().filter(|_| self.has_new)
    }

    fn old_sets(&self) -> &[ReplicaSet] {
        match self.sets.split_last() {
            Some((_, old)) if self.has_new => old,
            _ => &self.sets,
        }
    }

    fn next_revision(&self) -> i64 {
        let last = self.old_sets().iter().map(|set| set.revision).max();
        last.unwrap_or(0) + 1
    }

    /// Updates the annotations of the new ReplicaSet.
    fn annotate_new(&mut self) {
        let revision = self.next_revision();
        let Some(new) = self.sets.last_mut().filter(|_| self.has_new) else {
            return;
        };
        let mut next = new.stored.object.clone();
        annotate(self.ctx.object(), &mut next, revision);
        if next != new.stored.object
            && let Some(written) = self.ctx.update(self.kind, &new.stored, next)
        {
            *new = ReplicaSet::of(&written);
        }
        if !self.status.has_progress() {
            let message = format!("Found new replica set {:?}", new.stored.name);
            self.status
                .set_progress("True", "FoundNewReplicaSet", &message);
        }
    }

    fn roll(&mut self) {
        if self.strategy.recreate {
            let sizes = to_zero(self.old_sets());
            if !sizes.is_empty() {
                self.resize(&sizes);
                return;
            }
            if self.has_old_pods() {
                return;
            }
        }
        if !self.has_new && !self.create_new() {
            return;
        }
        let sizes = rolling_update(self.strategy, &self.sets);
        self.resize(&sizes);
        if sizes.is_empty() && is_complete(self.strategy, &self.sets) {
            self.prune_history();
        }
    }

    /// Pods that are being deleted count until they have ended.
    fn has_old_pods(&self) -> bool {
        let Some(pods) = self.ctx.builtin("", "pods") else {
            return false;
        };
        self.old_sets().iter().any(|set| {
            let own = self.ctx.controlled(&pods, set.stored.uid());
            set.actual > 0 || own.iter().any(|pod| !has_ended(&pod.object))
        })
    }

    /// Creates the new ReplicaSet. Returns whether it exists.
    fn create_new(&mut self) -> bool {
        let deployment = self.ctx.object();
        let body = new_replica_set(deployment, self.next_revision());
        let name = name(&body).to_owned();
        let size = size_of_new(self.strategy, &self.sets, 0);
        let namespace = &self.ctx.owner.namespace;
        let new = match self.ctx.create(self.kind, &resized(&body, size)) {
            Ok(created) => {
                let message = format!("Created new replica set {name:?}");
                self.status
                    .set_progress("True", "NewReplicaSetCreated", &message);
                Some(created)
            }
            Err(why) if why.reason() == "AlreadyExists" => {
                let store = &self.ctx.cluster.store;
                let found = store.get(&self.kind.storage, namespace, &name);
                found.filter(|found| {
                    controller_uid(&found.object) == Some(self.ctx.owner.uid())
                        && is_current(deployment, &found.object)
                })
            }
            Err(why) if write::lacks_namespace(&why) => None,
            Err(why) => {
                let why = why.message();
                let message = format!("Failed to create new replica set {name:?}: {why}");
                self.status
                    .set_progress("False", "ReplicaSetCreateError", &message);
                None
            }
        };
        self.has_new = new.is_some();
        self.sets.extend(new.as_ref().map(ReplicaSet::of));
        self.has_new
    }

    fn resize(&mut self, sizes: &[Resize]) {
        for (index, size) in sizes {
            let Some(set) = self.sets.get_mut(*index) else {
                continue;
            };
            let next = resized(&set.stored.object, *size);
            if let Some(written) = self.ctx.update(self.kind, &set.stored, next) {
                *set = ReplicaSet::of(&written);
            }
        }
    }

    fn prune_history(&self) {
        for set in beyond_history(self.ctx.object(), self.old_sets()) {
            self.ctx.delete(self.kind, &set.stored);
        }
    }

    /// Writes the status and the number of the current revision.
    fn update_status(self, rolls: bool) -> Option<Duration> {
        let deployment = self.ctx.object();
        let revision = self
            .new_set()
            .and_then(|new| text(&new.stored.object, &["metadata", "annotations", REVISION]));
        let mut next: Object = match revision {
            Some(revision) => with_revision(deployment, revision),
            None => deployment.clone(),
        };
        let (status, again) =
            self.status
                .finish(deployment, self.strategy, &self.sets, self.has_new, rolls);
        next.insert("status".to_owned(), status.into());
        write::replace(self.ctx.cluster, self.ctx.kind, self.ctx.owner, next);
        again
    }
}
