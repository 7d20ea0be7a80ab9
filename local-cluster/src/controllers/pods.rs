//! The state of pods, as controllers read it.

use std::time::Duration;

use crate::clock;
use crate::object::{Object, condition, is_condition_true, is_deleting, items, string, text};
use jiff::Timestamp;

pub(super) fn node_name(pod: &Object) -> Option<&str> {
    text(pod, &["spec", "nodeName"]).filter(|node| !node.is_empty())
}

/// The pod has neither ended nor been deleted.
pub(super) fn is_active(pod: &Object) -> bool {
    !has_ended(pod) && !is_deleting(pod)
}

/// The pod's phase is `Succeeded` or `Failed`.
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

/// The restarts of each container.
pub(super) fn restart_counts(pod: &Object) -> impl Iterator<Item = i64> {
    items(pod, &["status", "containerStatuses"]).filter_map(|c| c.get("restartCount")?.as_i64())
}

/// The time until a pod has been ready for `seconds`; `None` if it is not ready.
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

/// The number of pods that have been ready for `seconds`, and the time until there is one more.
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
}
