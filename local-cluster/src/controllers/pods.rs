//! What controllers read from pods, and how they make one from a template.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::clock;
use crate::object::{
    Object, at, child, condition, is_condition_true, is_deleting, items, name, namespace, string,
    text,
};

pub(super) fn node_name(pod: &Object) -> Option<&str> {
    text(pod, &["spec", "nodeName"]).filter(|node| !node.is_empty())
}

/// Whether a pod has neither ended nor been deleted.
pub(super) fn is_active(pod: &Object) -> bool {
    !has_ended(pod) && !is_deleting(pod)
}

/// Whether the pod's phase is `Succeeded` or `Failed`.
pub(super) fn has_ended(pod: &Object) -> bool {
    matches!(phase(pod), Some("Succeeded" | "Failed"))
}

pub(super) fn phase(pod: &Object) -> Option<&str> {
    text(pod, &["status", "phase"])
}

pub(super) fn is_terminating(pod: &Object) -> bool {
    !has_ended(pod) && is_deleting(pod)
}

pub(super) fn is_ready(pod: &Object) -> bool {
    is_condition_true(pod, "Ready")
}

pub(super) fn is_running_and_ready(pod: &Object) -> bool {
    phase(pod) == Some("Running") && is_ready(pod)
}

/// When the pod became ready, or stopped being so.
pub(super) fn ready_since(pod: &Object) -> Option<Timestamp> {
    string(condition(pod, "Ready")?, "lastTransitionTime")
        .parse()
        .ok()
}

/// How often each container of a pod was restarted.
pub(super) fn restart_counts(pod: &Object) -> impl Iterator<Item = i64> {
    items(pod, &["status", "containerStatuses"]).filter_map(|c| c.get("restartCount")?.as_i64())
}

/// How long until a pod has been ready for `seconds`; `None` if it is not ready.
pub(super) fn until_available(pod: &Object, seconds: i64, now: Timestamp) -> Option<Duration> {
    if !is_ready(pod) {
        return None;
    }
    if seconds <= 0 {
        return Some(Duration::ZERO);
    }
    let since = ready_since(pod).unwrap_or(now);
    Some(clock::left_until(since, seconds, now))
}

/// How many pods have been ready for `seconds`, and how long until there is one more.
pub(super) fn available<'a>(
    pods: impl Iterator<Item = &'a Object>,
    seconds: i64,
    now: Timestamp,
) -> (i64, Option<Duration>) {
    let (mut available, mut next) = (0, None);
    for left in pods.filter_map(|pod| until_available(pod, seconds, now)) {
        if left.is_zero() {
            available += 1;
        } else {
            next = Some(next.map_or(left, |next: Duration| next.min(left)));
        }
    }
    (available, next)
}

pub(super) fn from_template(template: &Value, namespace: &str) -> Object {
    let mut pod = Object::new();
    let meta = child(&mut pod, "metadata");
    meta.insert("namespace".to_owned(), Value::from(namespace));
    for key in ["labels", "annotations", "finalizers"] {
        let given = template.get("metadata").and_then(|m| m.get(key));
        if let Some(given) = given.filter(|given| !given.is_null()) {
            meta.insert(key.to_owned(), given.clone());
        }
    }
    let spec = template.get("spec").cloned().unwrap_or_default();
    pod.insert("spec".to_owned(), spec);
    pod
}

/// A pod from a workload's template, with a generated name.
pub(super) fn new_pod(workload: &Object) -> Object {
    let template = at(workload, &["spec", "template"]).unwrap_or(&Value::Null);
    let mut pod = from_template(template, namespace(workload));
    let generate_name = format!("{}-", name(workload));
    child(&mut pod, "metadata").insert("generateName".to_owned(), generate_name.into());
    pod
}

pub(super) fn set_label(object: &mut Object, key: &str, value: &str) {
    let labels = child(child(object, "metadata"), "labels");
    labels.insert(key.to_owned(), Value::from(value));
}

/// Sets the counts of a status; those that are 0 are left out.
pub(super) fn set_counts<const N: usize>(status: &mut Object, counts: [(&str, i64); N]) {
    for (key, count) in counts {
        if count > 0 {
            status.insert(key.to_owned(), count.into());
        } else {
            status.remove(key);
        }
    }
}

/// The number of items, as the API writes counts.
pub(super) fn count(items: impl IntoIterator) -> i64 {
    i64::try_from(items.into_iter().count()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn ready(since: &str) -> Object {
        object(json!({"status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": since},
        ]}}))
    }

    #[test]
    fn a_pod_is_available_when_it_was_ready_long_enough() {
        let now: Timestamp = "2026-01-01T00:01:00Z".parse().unwrap();
        let (old, young) = (ready("2026-01-01T00:00:30Z"), ready("2026-01-01T00:00:55Z"));
        let unready = object(json!({}));
        let pods = [&old, &young, &unready];
        let available = |seconds| super::available(pods.into_iter(), seconds, now);
        assert_eq!(available(0), (2, None));
        assert_eq!(available(10), (1, Some(Duration::from_secs(5))));
        assert_eq!(available(40), (0, Some(Duration::from_secs(10))));
        assert_eq!(available(i64::MAX).0, 0);
    }

    #[test]
    fn a_pod_follows_its_template() {
        let template = json!({
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}, "name": "no", "creationTimestamp": null},
            "spec": {"containers": []},
        });
        let expected = json!({
            "metadata": {"namespace": "n", "labels": {"a": "b"}, "annotations": {"c": "d"}},
            "spec": {"containers": []},
        });
        assert_eq!(Value::Object(from_template(&template, "n")), expected);
    }
}
