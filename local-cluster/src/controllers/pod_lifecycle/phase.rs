//! The life cycle of a pod: what scheduler or kubelet do to it next.

use serde_json::{Value, json};

use crate::conditions::{change_conditions, set_condition};
use crate::controllers::pods::{node_name, phase};
use crate::object::{Object, at, child, is_deleting, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PodAction {
    /// Bind it to a node.
    Bind,
    Start,
    UpdateReadiness(ReadinessTrigger),
    Exit,
    /// Delete it without grace period.
    Remove,
}

/// Why the readiness of a pod is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ReadinessTrigger {
    /// A readiness gate changed.
    Gates,
    /// The annotation for its containers changed, or its node is ready again.
    Containers,
    NodeUnreachable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeState {
    Ready,
    /// It is not ready, so nothing happens to its pods.
    Unreachable,
    Deleted,
    /// It has never existed, or the pod has none.
    Unknown,
}

/// The next action on a pod, if there is one.
///
/// A pod that has an address or has left `Pending` is started, whether by this controller or by a
/// client that wrote its status.
pub(super) fn next_action(pod: &Object, node: NodeState) -> Option<PodAction> {
    let is_bound = node_name(pod).is_some();
    if is_bound && node == NodeState::Deleted {
        return Some(PodAction::Remove);
    }
    if is_deleting(pod) {
        let grace = at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
        // Once the grace period is 0 the kubelet is done, and only finalizers keep the pod.
        let ends = grace.unwrap_or(0) > 0 && node != NodeState::Unreachable;
        return ends.then_some(PodAction::Remove);
    }
    if !is_bound {
        let scheduler = text(pod, &["spec", "schedulerName"]);
        return matches!(scheduler, None | Some("default-scheduler")).then_some(PodAction::Bind);
    }
    if node != NodeState::Ready {
        return None;
    }
    match phase(pod) {
        None | Some("Pending") => {
            let started = text(pod, &["status", "podIP"]).is_some();
            (!started).then_some(PodAction::Start)
        }
        Some("Running") => {
            let policy = text(pod, &["spec", "restartPolicy"]);
            matches!(policy, Some("Never" | "OnFailure")).then_some(PodAction::Exit)
        }
        Some(_) => None,
    }
}

/// The pod, bound to a node.
pub(super) fn bound(pod: &Object, node: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    child(&mut pod, "spec").insert("nodeName".to_owned(), Value::from(node));
    change_conditions(&mut pod, |conditions| {
        let scheduled = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null});
        set_condition(conditions, scheduled, now);
    });
    pod
}

/// The pod, with the reason why it is not bound.
pub(super) fn unbound(pod: &Object, reason: &str, message: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    change_conditions(&mut pod, |conditions| {
        let scheduled = json!({
            "type": "PodScheduled", "status": "False", "lastProbeTime": null,
            "reason": reason, "message": message,
        });
        set_condition(conditions, scheduled, now);
    });
    pod
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
        assert_eq!(next_action(&new, NodeState::Unknown), Some(PodAction::Bind));
        let stuck = unbound(&new, "Unschedulable", "no node fits", "t0");
        assert_eq!(
            condition(&stuck, "PodScheduled").unwrap()["message"],
            "no node fits"
        );
        assert_eq!(
            unbound(&stuck, "Unschedulable", "no node fits", "t1"),
            stuck
        );
        let bound = bound(&stuck, "n", "t");
        let scheduled = condition(&bound, "PodScheduled").unwrap();
        assert_eq!(scheduled["status"], "True");
        assert_eq!(scheduled.get("message"), None);
        assert_eq!(
            next_action(&bound, NodeState::Ready),
            Some(PodAction::Start)
        );
        for node in [NodeState::Unreachable, NodeState::Unknown] {
            assert_eq!(next_action(&bound, node), None);
        }
        let other = json!({"schedulerName": "mine"});
        assert_eq!(
            next_action(&pod(json!({}), other, pending), NodeState::Unknown),
            None
        );
    }

    #[test]
    fn the_next_action_follows_spec_status_and_node() {
        use NodeState::{Deleted, Ready, Unreachable};
        let deleted =
            |grace: i64| json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": grace});
        let policy = |policy: &str| json!({"nodeName": "n", "restartPolicy": policy});
        let phase = |phase: &str| json!({"phase": phase});
        let (none, bound) = (json!({}), json!({"nodeName": "n"}));
        for (meta, spec, status, node, expected) in [
            // A pod that a client started is not started again.
            (&none, &bound, &phase("Running"), Ready, None),
            (&none, &bound, &json!({"podIP": "10.0.0.1"}), Ready, None),
            // Only pods without restarts exit.
            (
                &none,
                &policy("Never"),
                &phase("Running"),
                Ready,
                Some(PodAction::Exit),
            ),
            (
                &none,
                &policy("OnFailure"),
                &phase("Running"),
                Ready,
                Some(PodAction::Exit),
            ),
            (&none, &policy("Always"), &phase("Running"), Ready, None),
            (&none, &policy("Never"), &phase("Succeeded"), Ready, None),
            // A deleted pod is removed once; an unreachable node cannot report that it has ended.
            (&deleted(30), &bound, &none, Ready, Some(PodAction::Remove)),
            (&deleted(0), &bound, &none, Ready, None),
            (&deleted(30), &bound, &none, Unreachable, None),
            (
                &deleted(30),
                &bound,
                &none,
                Deleted,
                Some(PodAction::Remove),
            ),
            (
                &none,
                &bound,
                &phase("Running"),
                Deleted,
                Some(PodAction::Remove),
            ),
        ] {
            let pod = pod(meta.clone(), spec.clone(), status.clone());
            assert_eq!(next_action(&pod, node), expected, "{pod:?} {node:?}");
        }
    }
}
