//! The life of a pod, as a node would lead it.

use serde_json::{Value, json};

use crate::object::{Object, at, child, is_deleting, text};

/// What is next for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// It is given to a node.
    Bind,
    /// Its containers run, and it is ready.
    Start,
    /// Its containers have ended.
    End,
}

/// The next step of a pod, if it has one.
///
/// A pod that has an address or has left `Pending` was started, by this agent or by somebody who
/// wrote its status; from then on the status is left to whoever writes it.
pub(super) fn next_step(pod: &Object) -> Option<Step> {
    if is_deleting(pod) {
        let grace = at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
        // Without grace the node has done its part, and finalizers hold the pod.
        return (grace.unwrap_or(0) > 0).then_some(Step::End);
    }
    if text(pod, &["spec", "nodeName"])
        .unwrap_or_default()
        .is_empty()
    {
        return Some(Step::Bind);
    }
    let pending = matches!(text(pod, &["status", "phase"]), None | Some("Pending"));
    (pending && text(pod, &["status", "podIP"]).is_none()).then_some(Step::Start)
}

/// The pod on its node.
pub(super) fn bound(pod: &Object, node: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    child(&mut pod, "spec").insert("nodeName".to_owned(), Value::from(node));
    set_condition(&mut pod, "PodScheduled", now);
    pod
}

/// The pod, running and ready.
pub(super) fn started(pod: &Object, pod_ip: &str, host_ip: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    for condition in ["PodScheduled", "Initialized", "ContainersReady", "Ready"] {
        set_condition(&mut pod, condition, now);
    }
    let containers = at(&pod, &["spec", "containers"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|container| {
            let image = container
                .get("image")
                .and_then(Value::as_str)
                .unwrap_or_default();
            json!({
                "name": container.get("name").cloned().unwrap_or_default(),
                "image": image, "imageID": "", "containerID": "",
                "ready": true, "started": true, "restartCount": 0,
                "state": {"running": {"startedAt": now}}, "lastState": {},
            })
        })
        .collect::<Vec<_>>();
    let status = child(&mut pod, "status");
    let fields = [
        ("phase", json!("Running")),
        ("podIP", json!(pod_ip)),
        ("podIPs", json!([{"ip": pod_ip}])),
        ("hostIP", json!(host_ip)),
        ("hostIPs", json!([{"ip": host_ip}])),
        ("startTime", json!(now)),
        ("containerStatuses", json!(containers)),
    ];
    for (key, value) in fields {
        status.insert(key.to_owned(), value);
    }
    pod
}

/// Makes a condition true, unless somebody has written it already.
fn set_condition(pod: &mut Object, kind: &str, now: &str) {
    if crate::object::condition(pod, kind).is_some() {
        return;
    }
    let status = child(pod, "status");
    let list = status.entry("conditions").or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    if let Value::Array(list) = list {
        list.push(json!({
            "type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
        }));
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
    fn a_pod_is_bound_then_started_then_left_alone() {
        let new = pod(
            json!({}),
            json!({"containers": [{"name": "c"}]}),
            json!({"phase": "Pending"}),
        );
        assert_eq!(next_step(&new), Some(Step::Bind));
        let bound = bound(&new, "n", "t");
        assert_eq!(next_step(&bound), Some(Step::Start));
        let started = started(&bound, "10.0.0.1", "192.0.2.1", "t");
        assert_eq!(next_step(&started), None);
        assert_eq!(condition(&started, "Ready").unwrap()["status"], "True");
        assert_eq!(started["status"]["containerStatuses"][0]["ready"], true);
    }

    #[test]
    fn what_somebody_wrote_stays() {
        let spec = json!({"nodeName": "n"});
        let running = pod(json!({}), spec.clone(), json!({"phase": "Running"}));
        assert_eq!(next_step(&running), None);
        let unready = pod(
            json!({}),
            spec,
            json!({"conditions": [{"type": "Ready", "status": "False"}]}),
        );
        let started = started(&unready, "10.0.0.1", "192.0.2.1", "t");
        assert_eq!(condition(&started, "Ready").unwrap()["status"], "False");
    }

    #[test]
    fn a_deleted_pod_ends_once() {
        let ending = pod(
            json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 30}),
            json!({}),
            json!({}),
        );
        assert_eq!(next_step(&ending), Some(Step::End));
        let held = pod(
            json!({"deletionTimestamp": "t", "deletionGracePeriodSeconds": 0}),
            json!({}),
            json!({}),
        );
        assert_eq!(next_step(&held), None);
    }
}
