//! The status of a Deployment, and the progress of its rollout.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::scale::{ReplicaSet, RolloutStrategy};
use crate::clock;
use crate::conditions::{conditions_of, find};
use crate::controllers::status::set_counts;
use crate::object::{Object, generation, name, number, object, string};

const PROGRESSING: &str = "Progressing";

/// The `progressDeadlineSeconds` that stands for no deadline.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// The next status of a Deployment while it is reconciled.
#[derive(Clone, Debug)]
pub(super) struct StatusUpdate {
    pub(super) conditions: Vec<Value>,
    now: Timestamp,
    deadline: Option<i64>,
}

impl StatusUpdate {
    /// Starts from the present status.
    pub(super) fn of(deployment: &Object, now: Timestamp) -> Self {
        let deadline = ["spec", "progressDeadlineSeconds"];
        let deadline = number(deployment, &deadline, NO_DEADLINE);
        Self {
            conditions: conditions_of(deployment),
            now,
            deadline: Some(deadline).filter(|seconds| *seconds != NO_DEADLINE),
        }
    }

    /// Sets the `Progressing` condition, which only Deployments with a deadline have.
    pub(super) fn set_progress(&mut self, status: &str, reason: &str, message: &str) {
        if self.deadline.is_some() {
            self.set(PROGRESSING, status, reason, message);
        }
    }

    pub(super) fn has_progress(&self) -> bool {
        find(&self.conditions, PROGRESSING).is_some()
    }

    fn progress_reason(&self) -> &str {
        find(&self.conditions, PROGRESSING).map_or("", |c| string(c, "reason"))
    }

    pub(super) fn set_paused(&mut self, paused: bool) {
        match (paused, self.progress_reason()) {
            (_, "ProgressDeadlineExceeded") | (true, "DeploymentPaused") => {}
            (true, _) => self.set_progress("Unknown", "DeploymentPaused", "Deployment is paused"),
            (false, "DeploymentPaused") => {
                self.set_progress("Unknown", "DeploymentResumed", "Deployment is resumed");
            }
            (false, _) => {}
        }
    }

    /// Sets a condition, unless only its message would change.
    fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let same = |c: &Value| string(c, "status") == status && string(c, "reason") == reason;
        if !find(&self.conditions, kind).is_some_and(same) {
            self.put(kind, status, reason, message);
        }
    }

    fn put(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let now = Value::from(clock::seconds(self.now));
        let before = find(&self.conditions, kind).filter(|c| string(c, "status") == status);
        let since = before.and_then(|c| c.get("lastTransitionTime").cloned());
        let condition = json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastUpdateTime": now, "lastTransitionTime": since.unwrap_or(now),
        });
        self.remove(kind);
        self.conditions.push(condition);
    }

    fn remove(&mut self, kind: &str) {
        self.conditions.retain(|c| string(c, "type") != kind);
    }

    /// The status to write, and when to reconcile again. `rolls`: a rollout may be in progress, not
    /// only a change of size.
    pub(super) fn finish(
        mut self,
        deployment: &Object,
        strategy: RolloutStrategy,
        sets: &[ReplicaSet],
        has_new: bool,
        rolls: bool,
    ) -> (Object, Option<Duration>) {
        let counts = ReplicaCounts::of(sets, has_new);
        if counts.available >= strategy.min_available() {
            let message = "Deployment has minimum availability.";
            self.set("Available", "True", "MinimumReplicasAvailable", message);
        } else {
            let message = "Deployment does not have minimum availability.";
            self.set("Available", "False", "MinimumReplicasUnavailable", message);
        }
        let mut again = None;
        if rolls {
            let new = sets.last().filter(|_| has_new);
            again = self.update_progress(deployment, strategy, counts, new);
        }
        (self.status(deployment, counts), again)
    }

    /// Returns the time left until the progress deadline.
    fn update_progress(
        &mut self,
        deployment: &Object,
        strategy: RolloutStrategy,
        counts: ReplicaCounts,
        new: Option<&ReplicaSet>,
    ) -> Option<Duration> {
        let Some(deadline) = self.deadline else {
            self.remove(PROGRESSING);
            return None;
        };
        let finished = self.progress_reason() == "NewReplicaSetAvailable";
        if finished && counts.total == counts.updated {
            return None;
        }
        let subject = match new {
            Some(new) => format!("ReplicaSet {:?}", new.stored.name),
            None => format!("Deployment {:?}", name(deployment)),
        };
        if counts.complete(strategy) {
            let message = format!("{subject} has successfully progressed.");
            self.set(PROGRESSING, "True", "NewReplicaSetAvailable", &message);
            return None;
        }
        if counts.has_progressed(deployment) {
            let message = format!("{subject} is progressing.");
            self.put(PROGRESSING, "True", "ReplicaSetUpdated", &message);
        }
        let condition = find(&self.conditions, PROGRESSING)?;
        if matches!(
            string(condition, "reason"),
            "NewReplicaSetAvailable" | "ProgressDeadlineExceeded"
        ) {
            return None;
        }
        let since: Timestamp = string(condition, "lastUpdateTime").parse().ok()?;
        let ends = since
            .checked_add(SignedDuration::from_secs(deadline))
            .ok()?;
        if ends < self.now {
            let message = format!("{subject} has timed out progressing.");
            self.set(PROGRESSING, "False", "ProgressDeadlineExceeded", &message);
            return None;
        }
        // One second more, because times are written in whole seconds.
        let left = Duration::try_from(ends.duration_since(self.now)).unwrap_or_default();
        Some(left + Duration::from_secs(1))
    }

    fn status(self, deployment: &Object, pods: ReplicaCounts) -> Object {
        let mut status = object(json!({"observedGeneration": generation(deployment)}));
        let counts = [
            ("replicas", pods.total),
            ("updatedReplicas", pods.updated),
            ("readyReplicas", pods.ready),
            ("availableReplicas", pods.available),
            ("unavailableReplicas", pods.total - pods.available),
        ];
        set_counts(&mut status, counts);
        status.insert("terminatingReplicas".to_owned(), pods.terminating.into());
        status.insert("conditions".to_owned(), self.conditions.into());
        status
    }
}

/// The pods of all ReplicaSets of a Deployment.
#[derive(Clone, Copy, Debug)]
struct ReplicaCounts {
    total: i64,
    updated: i64,
    ready: i64,
    available: i64,
    terminating: i64,
}

impl ReplicaCounts {
    fn of(sets: &[ReplicaSet], has_new: bool) -> Self {
        let sum = |of: fn(&ReplicaSet) -> i64| sets.iter().map(of).sum();
        Self {
            total: sum(|set| set.actual),
            updated: sets.last().filter(|_| has_new).map_or(0, |new| new.actual),
            ready: sum(|set| set.ready),
            available: sum(|set| set.available),
            terminating: sum(|set| set.terminating),
        }
    }

    fn complete(self, strategy: RolloutStrategy) -> bool {
        [self.updated, self.total, self.available] == [strategy.replicas; 3]
    }

    /// Compares with the status as it was written last.
    fn has_progressed(self, deployment: &Object) -> bool {
        let before = |key| number(deployment, &["status", key], 0);
        self.updated > before("updatedReplicas")
            || self.total - self.updated < before("replicas") - before("updatedReplicas")
            || self.ready > before("readyReplicas")
            || self.available > before("availableReplicas")
    }
}

/// All pods are available and of the new revision.
pub(super) fn is_complete(strategy: RolloutStrategy, sets: &[ReplicaSet]) -> bool {
    ReplicaCounts::of(sets, true).complete(strategy)
}

#[cfg(test)]
mod tests;
