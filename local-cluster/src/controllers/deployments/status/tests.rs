//! Conditions as `kubectl rollout status` reads them.

use std::sync::Arc;

use super::*;
use crate::object::condition;
use crate::store::Stored;

const START: &str = "2026-01-01T00:00:00Z";

fn at_second(seconds: i64) -> Timestamp {
    let start: Timestamp = START.parse().unwrap();
    start
        .checked_add(SignedDuration::from_secs(seconds))
        .unwrap()
}

fn deployment(status: Value) -> Object {
    object(json!({
        "metadata": {"name": "web", "generation": 3},
        "spec": {"replicas": 2, "progressDeadlineSeconds": 10},
        "status": status,
    }))
}

fn set(name: &str, actual: i64, available: i64) -> ReplicaSet {
    let status =
        json!({"replicas": actual, "readyReplicas": available, "availableReplicas": available});
    let stored =
        object(json!({"metadata": {"name": name}, "spec": {"replicas": actual}, "status": status}));
    ReplicaSet::of(&Arc::new(Stored::new(stored, 1)))
}

/// The Deployment with its updated status at a time.
fn updated(deployment: &Object, sets: &[ReplicaSet], seconds: i64) -> (Object, Option<Duration>) {
    let update = StatusUpdate::of(deployment, at_second(seconds));
    let strategy = RolloutStrategy::of(deployment);
    let (status, again) = update.finish(deployment, strategy, sets, true, true);
    let mut next = deployment.clone();
    next.insert("status".to_owned(), status.into());
    (next, again)
}

fn summary(deployment: &Object, kind: &str) -> String {
    let condition = condition(deployment, kind).unwrap();
    let part = |key| string(condition, key);
    format!("{} {} {}", part("status"), part("reason"), part("message"))
}

#[test]
fn a_rollout_progresses_until_it_is_complete() {
    let new = deployment(json!({}));
    let (partly, again) = updated(&new, &[set("old", 2, 2), set("web-1", 1, 1)], 1);
    assert_eq!(
        summary(&partly, "Progressing"),
        "True ReplicaSetUpdated ReplicaSet \"web-1\" is progressing."
    );
    assert_eq!(
        summary(&partly, "Available"),
        "True MinimumReplicasAvailable Deployment has minimum availability."
    );
    assert_eq!(again, Some(Duration::from_secs(11)));
    let status = &partly["status"];
    assert_eq!([&status["replicas"], &status["updatedReplicas"]], [3, 1]);
    assert_eq!(status["observedGeneration"], 3);
    let (done, again) = updated(&partly, &[set("old", 0, 0), set("web-1", 2, 2)], 5);
    assert_eq!(
        summary(&done, "Progressing"),
        "True NewReplicaSetAvailable ReplicaSet \"web-1\" has successfully progressed."
    );
    assert_eq!(again, None);
    // Without a change the status stays the same, at a later time too.
    assert_eq!(
        updated(&done, &[set("old", 0, 0), set("web-1", 2, 2)], 9).0,
        done
    );
    // A pod that fails later is not part of the rollout.
    let (later, _) = updated(&done, &[set("old", 0, 0), set("web-1", 2, 0)], 99);
    assert_eq!(
        string(condition(&later, "Progressing").unwrap(), "reason"),
        "NewReplicaSetAvailable"
    );
    assert_eq!(
        summary(&later, "Available"),
        "False MinimumReplicasUnavailable Deployment does not have minimum availability."
    );
}

#[test]
fn availability_allows_for_max_unavailable() {
    let available = |pods: i64| {
        let (updated, _) = updated(&deployment(json!({})), &[set("web-1", 2, pods)], 0);
        string(condition(&updated, "Available").unwrap(), "status") == "True"
    };
    // The default `maxUnavailable` allows one of two to be missing.
    assert_eq!(
        [available(0), available(1), available(2)],
        [false, true, true]
    );
}

#[test]
fn a_rollout_without_progress_times_out() {
    let (started, _) = updated(&deployment(json!({})), &[set("web-1", 2, 1)], 0);
    let (waiting, again) = updated(&started, &[set("web-1", 2, 1)], 4);
    assert_eq!(waiting, started);
    assert_eq!(again, Some(Duration::from_secs(7)));
    let (late, again) = updated(&started, &[set("web-1", 2, 1)], 11);
    assert_eq!(
        summary(&late, "Progressing"),
        "False ProgressDeadlineExceeded ReplicaSet \"web-1\" has timed out progressing."
    );
    assert_eq!(again, None);
    let (done, _) = updated(&late, &[set("web-1", 2, 2)], 12);
    assert_eq!(
        string(condition(&done, "Progressing").unwrap(), "status"),
        "True"
    );
}

#[test]
fn pausing_sets_the_condition_once() {
    let mut update = StatusUpdate::of(&deployment(json!({})), at_second(0));
    update.set_paused(false);
    assert!(!update.has_progress());
    update.set_paused(true);
    assert_eq!(string(&update.conditions[0], "reason"), "DeploymentPaused");
    update.set_paused(false);
    assert_eq!(
        string(&update.conditions[0], "message"),
        "Deployment is resumed"
    );
    assert_eq!(string(&update.conditions[0], "status"), "Unknown");
}
