//! What a Deployment's status says, and how a rollout's progress is judged.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::set::{Set, Strategy};
use crate::agents::conditions::{find, said};
use crate::agents::pods::number;
use crate::clock;
use crate::object::{Object, at, generation, object};

const PROGRESSING: &str = "Progressing";

/// A deadline of this many seconds is none.
const NO_DEADLINE: i64 = i32::MAX as i64;

/// What is being found out about a Deployment.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) conditions: Vec<Value>,
    pub(super) collisions: Option<i64>,
    now: Timestamp,
    deadline: Option<i64>,
}

impl Report {
    /// Begins with what the status said.
    pub(super) fn of(deployment: &Object, now: Timestamp) -> Self {
        let conditions = at(deployment, &["status", "conditions"]).and_then(Value::as_array);
        let deadline = number(
            deployment,
            &["spec", "progressDeadlineSeconds"],
            NO_DEADLINE,
        );
        Self {
            conditions: conditions.cloned().unwrap_or_default(),
            collisions: at(deployment, &["status", "collisionCount"]).and_then(Value::as_i64),
            now,
            deadline: Some(deadline).filter(|seconds| *seconds != NO_DEADLINE),
        }
    }

    /// Says how the rollout goes on, where somebody wants to know.
    pub(super) fn progress(&mut self, status: &str, reason: &str, message: &str) {
        if self.deadline.is_some() {
            self.set(PROGRESSING, status, reason, message);
        }
    }

    /// Whether anything was said about progress yet.
    pub(super) fn has_progress(&self) -> bool {
        find(&self.conditions, PROGRESSING).is_some()
    }

    /// Says that the Deployment is paused, or no longer.
    pub(super) fn pause(&mut self, paused: bool) {
        let reason = find(&self.conditions, PROGRESSING).map_or("", |c| said(c, "reason"));
        match (paused, reason) {
            (_, "ProgressDeadlineExceeded") | (true, "DeploymentPaused") => {}
            (true, _) => self.progress("Unknown", "DeploymentPaused", "Deployment is paused"),
            (false, "DeploymentPaused") => {
                self.progress("Unknown", "DeploymentResumed", "Deployment is resumed");
            }
            (false, _) => {}
        }
    }

    /// What says the same as before, but for words, stays as it is.
    fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let before = find(&self.conditions, kind);
        let same = |c: &Value| said(c, "status") == status && said(c, "reason") == reason;
        if before.is_some_and(same) {
            return;
        }
        self.put(kind, status, reason, message);
    }

    fn put(&mut self, kind: &str, status: &str, reason: &str, message: &str) {
        let now = Value::from(clock::seconds(self.now));
        let before = find(&self.conditions, kind).filter(|c| said(c, "status") == status);
        let since = before.and_then(|c| c.get("lastTransitionTime").cloned());
        let condition = json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastUpdateTime": now, "lastTransitionTime": since.unwrap_or(now),
        });
        self.conditions.retain(|c| said(c, "type") != kind);
        self.conditions.push(condition);
    }

    /// The status to write. `rolls` says that a rollout may be under way, not only a change of size.
    pub(super) fn finish(
        mut self,
        deployment: &Object,
        strategy: Strategy,
        sets: &[Set],
        has_new: bool,
        rolls: bool,
    ) -> (Object, Option<Duration>) {
        let counts = Counts::of(sets, has_new);
        if counts.available >= strategy.least() {
            let message = "Deployment has minimum availability.";
            self.set("Available", "True", "MinimumReplicasAvailable", message);
        } else {
            let message = "Deployment does not have minimum availability.";
            self.set("Available", "False", "MinimumReplicasUnavailable", message);
        }
        let mut again = None;
        if rolls {
            let new = sets.last().filter(|_| has_new);
            again = self.judge(deployment, strategy, counts, new);
            self.failures(sets);
        }
        (self.status(deployment, counts), again)
    }

    fn judge(
        &mut self,
        deployment: &Object,
        strategy: Strategy,
        counts: Counts,
        new: Option<&Set>,
    ) -> Option<Duration> {
        let Some(deadline) = self.deadline else {
            self.conditions.retain(|c| said(c, "type") != PROGRESSING);
            return None;
        };
        let reason = find(&self.conditions, PROGRESSING).map_or("", |c| said(c, "reason"));
        let finished = reason == "NewReplicaSetAvailable";
        if finished && counts.total == counts.updated {
            return None;
        }
        let subject = match new {
            Some(new) => format!("ReplicaSet {:?}", new.name()),
            None => format!("Deployment {:?}", crate::object::name(deployment)),
        };
        if counts.complete(strategy) {
            let message = format!("{subject} has successfully progressed.");
            self.set(PROGRESSING, "True", "NewReplicaSetAvailable", &message);
            return None;
        }
        if counts.ahead_of(deployment) {
            let message = format!("{subject} is progressing.");
            self.put(PROGRESSING, "True", "ReplicaSetUpdated", &message);
        }
        let condition = find(&self.conditions, PROGRESSING)?;
        if matches!(
            said(condition, "reason"),
            "NewReplicaSetAvailable" | "ProgressDeadlineExceeded"
        ) {
            return None;
        }
        let since: Timestamp = said(condition, "lastUpdateTime").parse().ok()?;
        let ends = since
            .checked_add(SignedDuration::from_secs(deadline))
            .ok()?;
        if ends < self.now {
            let message = format!("{subject} has timed out progressing.");
            self.set(PROGRESSING, "False", "ProgressDeadlineExceeded", &message);
            return None;
        }
        // A second more: times are written in whole seconds.
        let left = Duration::try_from(ends.duration_since(self.now)).unwrap_or_default();
        Some(left + Duration::from_secs(1))
    }

    /// Passes on why a ReplicaSet has too few pods.
    fn failures(&mut self, sets: &[Set]) {
        let failed = sets.iter().rev().find_map(|set| {
            crate::object::condition(&set.stored.object, "ReplicaFailure").cloned()
        });
        match failed {
            Some(failed) => {
                let (reason, message) = (said(&failed, "reason"), said(&failed, "message"));
                self.set("ReplicaFailure", "True", reason, message);
            }
            None => self
                .conditions
                .retain(|c| said(c, "type") != "ReplicaFailure"),
        }
    }

    fn status(self, deployment: &Object, counts: Counts) -> Object {
        let mut status = object(json!({"observedGeneration": generation(deployment)}));
        for (key, count) in [
            ("replicas", counts.total),
            ("updatedReplicas", counts.updated),
            ("readyReplicas", counts.ready),
            ("availableReplicas", counts.available),
            (
                "unavailableReplicas",
                (counts.total - counts.available).max(0),
            ),
        ] {
            if count > 0 {
                status.insert(key.to_owned(), count.into());
            }
        }
        status.insert("terminatingReplicas".to_owned(), counts.terminating.into());
        if let Some(collisions) = self.collisions {
            status.insert("collisionCount".to_owned(), collisions.into());
        }
        status.insert("conditions".to_owned(), self.conditions.into());
        status
    }
}

/// How many pods there are.
#[derive(Clone, Copy, Debug)]
struct Counts {
    total: i64,
    updated: i64,
    ready: i64,
    available: i64,
    terminating: i64,
}

impl Counts {
    fn of(sets: &[Set], has_new: bool) -> Self {
        let sum = |of: fn(&Set) -> i64| sets.iter().map(of).sum();
        Self {
            total: sum(|set| set.actual),
            updated: sets.last().filter(|_| has_new).map_or(0, |new| new.actual),
            ready: sum(|set| set.ready),
            available: sum(|set| set.available),
            terminating: sum(|set| set.terminating),
        }
    }

    fn complete(self, strategy: Strategy) -> bool {
        let wanted = strategy.replicas;
        self.updated == wanted && self.total == wanted && self.available == wanted
    }

    /// Whether there is progress since the status was written.
    fn ahead_of(self, deployment: &Object) -> bool {
        let before = |key| number(deployment, &["status", key], 0);
        self.updated > before("updatedReplicas")
            || self.total - self.updated < before("replicas") - before("updatedReplicas")
            || self.ready > before("readyReplicas")
            || self.available > before("availableReplicas")
    }
}

/// Whether all that a Deployment wants is there, and nothing else.
pub(super) fn is_complete(strategy: Strategy, sets: &[Set]) -> bool {
    Counts::of(sets, true).complete(strategy)
}

#[cfg(test)]
mod tests;
