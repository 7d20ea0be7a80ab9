//! What controllers ask about a pod, and how they make one.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::object::{Object, at, child, condition, is_deleting, text};

/// Whether a pod has neither ended nor begun to.
pub(super) fn is_active(pod: &Object) -> bool {
    !has_ended(pod) && !is_deleting(pod)
}

/// Whether a pod's containers have ended for good.
pub(super) fn has_ended(pod: &Object) -> bool {
    matches!(
        text(pod, &["status", "phase"]),
        Some("Succeeded" | "Failed")
    )
}

/// Whether a pod is on its way out.
pub(super) fn is_terminating(pod: &Object) -> bool {
    !has_ended(pod) && is_deleting(pod)
}

/// Whether a pod is ready.
pub(super) fn is_ready(pod: &Object) -> bool {
    condition(pod, "Ready").and_then(|c| c.get("status")?.as_str()) == Some("True")
}

/// Whether a pod runs and is ready.
pub(super) fn is_running_and_ready(pod: &Object) -> bool {
    text(pod, &["status", "phase"]) == Some("Running") && is_ready(pod)
}

/// Since when a pod's readiness is what it is.
pub(super) fn ready_since(pod: &Object) -> Option<Timestamp> {
    let condition = condition(pod, "Ready")?;
    let time = condition.get("lastTransitionTime")?.as_str()?;
    time.parse().ok()
}

/// How long until a pod has been ready for so many seconds; `None` for one that is not ready.
pub(super) fn until_available(pod: &Object, seconds: i64, now: Timestamp) -> Option<Duration> {
    if !is_ready(pod) {
        return None;
    }
    if seconds <= 0 {
        return Some(Duration::ZERO);
    }
    let since = ready_since(pod).unwrap_or(now);
    let available = since
        .checked_add(SignedDuration::from_secs(seconds.min(u32::MAX.into())))
        .unwrap_or(Timestamp::MAX);
    let left = available.duration_since(now);
    Some(Duration::try_from(left).unwrap_or(Duration::ZERO))
}

/// How many pods have been ready long enough, and how long until there is one more.
pub(super) fn available<'a>(
    pods: impl Iterator<Item = &'a Object>,
    seconds: i64,
    now: Timestamp,
) -> (usize, Option<Duration>) {
    let (mut count, mut next) = (0, None);
    for left in pods.filter_map(|pod| until_available(pod, seconds, now)) {
        if left.is_zero() {
            count += 1;
        } else {
            next = Some(next.map_or(left, |next: Duration| next.min(left)));
        }
    }
    (count, next)
}

/// A pod as a template says, in a namespace.
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

/// Sets a label of an object.
pub(super) fn set_label(object: &mut Object, key: &str, value: &str) {
    let labels = child(child(object, "metadata"), "labels");
    labels.insert(key.to_owned(), Value::from(value));
}

/// A number of an object, or what it is when nobody says.
pub(super) fn number(object: &Object, path: &[&str], default: i64) -> i64 {
    at(object, path).and_then(Value::as_i64).unwrap_or(default)
}

/// The count as the API writes it.
pub(super) fn counted(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
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
        let ask = |seconds| available(pods.into_iter(), seconds, now);
        assert_eq!(ask(0), (2, None));
        assert_eq!(ask(10), (1, Some(Duration::from_secs(5))));
        assert_eq!(ask(40), (0, Some(Duration::from_secs(10))));
        assert_eq!(ask(i64::MAX).0, 0);
    }

    #[test]
    fn a_pod_has_what_its_template_says() {
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
