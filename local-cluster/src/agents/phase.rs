//! The life of a pod, as scheduler and node would lead it: what is next.

use serde_json::{Value, json};

use super::conditions::{find, said, set_condition};
use crate::object::{Object, at, child, is_deleting, text};

/// What is next for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// It is given to a node.
    Bind,
    /// Its containers run, and it is ready.
    Start,
    /// Its readiness is judged anew.
    Judge(Cause),
    /// Its containers have done what they are for.
    Exit,
    /// It is no more.
    End,
}

/// Why a pod's readiness is judged anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Cause {
    /// A condition that it waits for.
    Gates,
    /// Its containers, or its node after an absence.
    Containers,
    /// Nobody hears of its node any more.
    NodeLost,
}

/// The node of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// It is well.
    Ready,
    /// Nobody hears of it: nothing can be done to its pods.
    Silent,
    /// It was there, and is no more.
    Gone,
    /// Nobody has seen it.
    Unknown,
}

/// The next step of a pod, if it has one.
///
/// A pod that has an address or has left `Pending` was started, by this agent or by somebody who
/// wrote its status.
pub(super) fn next_step(pod: &Object, host: Host) -> Option<Step> {
    let is_bound = text(pod, &["spec", "nodeName"]).is_some_and(|node| !node.is_empty());
    if is_bound && host == Host::Gone {
        return Some(Step::End);
    }
    if is_deleting(pod) {
        let grace = at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
        // Without grace the node has done its part, and finalizers hold the pod.
        let ends = grace.unwrap_or(0) > 0 && host != Host::Silent;
        return ends.then_some(Step::End);
    }
    if !is_bound {
        let scheduler = text(pod, &["spec", "schedulerName"]);
        return matches!(scheduler, None | Some("default-scheduler")).then_some(Step::Bind);
    }
    if host != Host::Ready {
        return None;
    }
    match text(pod, &["status", "phase"]) {
        None | Some("Pending") => {
            let started = text(pod, &["status", "podIP"]).is_some();
            (!started).then_some(Step::Start)
        }
        Some("Running") => {
            let policy = text(pod, &["spec", "restartPolicy"]);
            matches!(policy, Some("Never" | "OnFailure")).then_some(Step::Exit)
        }
        Some(_) => None,
    }
}

/// The pod on its node.
pub(super) fn bound(pod: &Object, node: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    child(&mut pod, "spec").insert("nodeName".to_owned(), Value::from(node));
    change_conditions(&mut pod, |conditions| {
        let scheduled = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null});
        set_condition(conditions, scheduled, now);
    });
    pod
}

/// The pod that no node takes.
pub(super) fn unbound(pod: &Object, reason: &str, message: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    change_conditions(&mut pod, |conditions| {
        let same = find(conditions, "PodScheduled")
            .is_some_and(|c| said(c, "reason") == reason && said(c, "message") == message);
        if !same {
            let scheduled = json!({
                "type": "PodScheduled", "status": "False", "lastProbeTime": null,
                "reason": reason, "message": message,
            });
            set_condition(conditions, scheduled, now);
        }
    });
    pod
}

/// Changes the conditions of a status.
pub(super) fn change_conditions(object: &mut Object, change: impl FnOnce(&mut Vec<Value>)) {
    let status = child(object, "status");
    let mut conditions = match status.remove("conditions") {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    change(&mut conditions);
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{condition, object};

    fn pod(meta: Value, spec: Value, status: Value) -> Object {
        object(json!({"metadata": meta, "spec": spec, "status": status}))
    }

    #[test]
    fn a_pod_is_bound_then_started() {
        let pending = json!({"phase": "Pending"});
        let new = pod(json!({}), json!({}), pending.clone());
        assert_eq!(next_step(&new, Host::Unknown), Some(Step::Bind));
        let stuck = unbound(&new, "Unschedulable", "no room", "t0");
        assert_eq!(
            condition(&stuck, "PodScheduled").unwrap()["message"],
            "no room"
        );
        assert_eq!(unbound(&stuck, "Unschedulable", "no room", "t1"), stuck);
        let bound = bound(&stuck, "n", "t");
        let scheduled = condition(&bound, "PodScheduled").unwrap();
        assert_eq!(scheduled["status"], "True");
        assert_eq!(scheduled.get("message"), None);
        assert_eq!(next_step(&bound, Host::Ready), Some(Step::Start));
        for host in [Host::Silent, Host::Unknown] {
            assert_eq!(next_step(&bound, host), None);
        }
        let other = json!({"schedulerName": "mine"});
        assert_eq!(
            next_step(&pod(json!({}), other, pending), Host::Unknown),
            None
        );
    }

    #[test]
    fn a_pod_that_somebody_started_is_left_alone() {
        for status in [json!({"phase": "Running"}), json!({"podIP": "10.0.0.1"})] {
            let pod = pod(json!({}), json!({"nodeName": "n"}), status);
            assert_eq!(next_step(&pod, Host::Ready), None);
        }
    }

    #[test]
    fn only_pods_that_do_not_start_anew_exit() {
        let step = |policy: &str, phase: &str| {
            let spec = json!({"nodeName": "n", "restartPolicy": policy});
            next_step(&pod(json!({}), spec, json!({"phase": phase})), Host::Ready)
        };
        assert_eq!(step("Never", "Running"), Some(Step::Exit));
        assert_eq!(step("OnFailure", "Running"), Some(Step::Exit));
        assert_eq!(step("Always", "Running"), None);
        assert_eq!(step("Never", "Succeeded"), None);
    }

    #[test]
    fn a_deleted_pod_ends_once() {
        let deleted = |grace: i64| {
            let meta = json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": grace});
            pod(meta, json!({"nodeName": "n"}), json!({}))
        };
        assert_eq!(next_step(&deleted(30), Host::Ready), Some(Step::End));
        assert_eq!(next_step(&deleted(0), Host::Ready), None);
        // A node that nobody hears of cannot say that its pods have ended.
        assert_eq!(next_step(&deleted(30), Host::Silent), None);
        assert_eq!(next_step(&deleted(30), Host::Gone), Some(Step::End));
        let running = pod(
            json!({}),
            json!({"nodeName": "n"}),
            json!({"phase": "Running"}),
        );
        assert_eq!(next_step(&running, Host::Gone), Some(Step::End));
    }
}
