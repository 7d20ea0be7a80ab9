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

fn set(name: &str, actual: i64, available: i64) -> Set {
    let status =
        json!({"replicas": actual, "readyReplicas": available, "availableReplicas": available});
    let stored =
        object(json!({"metadata": {"name": name}, "spec": {"replicas": actual}, "status": status}));
    Set::of(&Arc::new(Stored::new(stored, 1)))
}

/// The Deployment with the status that follows at a time.
fn judged(deployment: &Object, sets: &[Set], seconds: i64) -> (Object, Option<Duration>) {
    let report = Report::of(deployment, at_second(seconds));
    let strategy = Strategy::of(deployment);
    let (status, again) = report.finish(deployment, strategy, sets, true, true);
    let mut next = deployment.clone();
    next.insert("status".to_owned(), status.into());
    (next, again)
}

fn says(deployment: &Object, kind: &str) -> String {
    let condition = condition(deployment, kind).unwrap();
    let part = |key| said(condition, key);
    format!("{} {} {}", part("status"), part("reason"), part("message"))
}

#[test]
fn a_rollout_progresses_until_it_is_complete() {
    let new = deployment(json!({}));
    let (partly, again) = judged(&new, &[set("old", 2, 2), set("web-1", 1, 1)], 1);
    assert_eq!(
        says(&partly, "Progressing"),
        "True ReplicaSetUpdated ReplicaSet \"web-1\" is progressing."
    );
    assert_eq!(
        says(&partly, "Available"),
        "True MinimumReplicasAvailable Deployment has minimum availability."
    );
    assert_eq!(again, Some(Duration::from_secs(11)));
    let status = &partly["status"];
    assert_eq!([&status["replicas"], &status["updatedReplicas"]], [3, 1]);
    assert_eq!(status["observedGeneration"], 3);
    let (done, again) = judged(&partly, &[set("old", 0, 0), set("web-1", 2, 2)], 5);
    assert_eq!(
        says(&done, "Progressing"),
        "True NewReplicaSetAvailable ReplicaSet \"web-1\" has successfully progressed."
    );
    assert_eq!(again, None);
    // Nothing new, nothing said: not even at another time.
    assert_eq!(
        judged(&done, &[set("old", 0, 0), set("web-1", 2, 2)], 9).0,
        done
    );
    // A pod that fails later is no rollout.
    let (later, _) = judged(&done, &[set("old", 0, 0), set("web-1", 2, 0)], 99);
    assert_eq!(
        said(condition(&later, "Progressing").unwrap(), "reason"),
        "NewReplicaSetAvailable"
    );
    assert_eq!(
        says(&later, "Available"),
        "False MinimumReplicasUnavailable Deployment does not have minimum availability."
    );
}

#[test]
fn as_many_pods_as_may_be_missing_may_be_missing() {
    let available = |pods: i64| {
        let (judged, _) = judged(&deployment(json!({})), &[set("web-1", 2, pods)], 0);
        said(condition(&judged, "Available").unwrap(), "status") == "True"
    };
    // Of two one may be missing where nothing else is said.
    assert_eq!(
        [available(0), available(1), available(2)],
        [false, true, true]
    );
}

#[test]
fn a_rollout_that_stands_still_times_out() {
    let (started, _) = judged(&deployment(json!({})), &[set("web-1", 2, 1)], 0);
    let (waiting, again) = judged(&started, &[set("web-1", 2, 1)], 4);
    assert_eq!(waiting, started);
    assert_eq!(again, Some(Duration::from_secs(7)));
    let (late, again) = judged(&started, &[set("web-1", 2, 1)], 11);
    assert_eq!(
        says(&late, "Progressing"),
        "False ProgressDeadlineExceeded ReplicaSet \"web-1\" has timed out progressing."
    );
    assert_eq!(again, None);
    let (done, _) = judged(&late, &[set("web-1", 2, 2)], 12);
    assert_eq!(
        said(condition(&done, "Progressing").unwrap(), "status"),
        "True"
    );
}

#[test]
fn pausing_is_told_once() {
    let mut report = Report::of(&deployment(json!({})), at_second(0));
    report.pause(false);
    assert!(!report.has_progress());
    report.pause(true);
    assert_eq!(said(&report.conditions[0], "reason"), "DeploymentPaused");
    report.pause(false);
    assert_eq!(
        said(&report.conditions[0], "message"),
        "Deployment is resumed"
    );
    assert_eq!(said(&report.conditions[0], "status"), "Unknown");
}

#[test]
fn why_pods_are_missing_is_passed_on() {
    let mut failing = set("web-1", 0, 0);
    let mut object = failing.stored.object.clone();
    object["status"]["conditions"] = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}]);
    failing.stored = Arc::new(Stored::new(object, 2));
    let (failed, _) = judged(&deployment(json!({})), &[failing], 0);
    assert_eq!(says(&failed, "ReplicaFailure"), "True FailedCreate no");
    let (well, _) = judged(&failed, &[set("web-1", 0, 0)], 0);
    assert_eq!(condition(&well, "ReplicaFailure"), None);
}
