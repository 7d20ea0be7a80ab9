//! Which pods go first where there are too many.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::agents::pods::{is_ready, ready_since};
use crate::object::{Object, at, meta, text};
use crate::store::Stored;

/// Says what it costs to delete a pod, compared with its siblings.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The uids of the pods that go first.
///
/// Those that do the least: without node, not running, not ready; then those that cost the least by
/// annotation; then those on crowded nodes; then the youngest.
pub(super) fn victims(pods: &[Arc<Stored>], count: usize) -> BTreeSet<String> {
    let mut crowds: HashMap<&str, usize> = HashMap::new();
    for pod in pods {
        *crowds.entry(node(&pod.object)).or_default() += 1;
    }
    let mut order: Vec<&Arc<Stored>> = pods.iter().collect();
    order.sort_by_cached_key(|pod| {
        let object = &pod.object;
        let node = node(object);
        let ready = is_ready(object);
        (
            (!node.is_empty(), phase(object), ready, cost(object)),
            Reverse(crowds.get(node).copied().unwrap_or_default()),
            Reverse(ready.then(|| ready_since(object))),
            Reverse(restarts(object)),
            Reverse(meta(object, "creationTimestamp").map(str::to_owned)),
            Reverse(pod.name.clone()),
        )
    });
    let doomed = order.into_iter().take(count);
    doomed.map(|pod| pod.uid().to_owned()).collect()
}

fn node(pod: &Object) -> &str {
    text(pod, &["spec", "nodeName"]).unwrap_or_default()
}

fn phase(pod: &Object) -> u8 {
    match text(pod, &["status", "phase"]) {
        None | Some("Pending") => 0,
        Some("Running") => 2,
        Some(_) => 1,
    }
}

fn cost(pod: &Object) -> i32 {
    text(pod, &["metadata", "annotations", DELETION_COST])
        .and_then(|cost| cost.parse().ok())
        .unwrap_or(0)
}

fn restarts(pod: &Object) -> i64 {
    at(pod, &["status", "containerStatuses"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|status| status.get("restartCount")?.as_i64())
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn pod(name: &str, node: &str, change: Value) -> Arc<Stored> {
        let mut pod = json!({
            "metadata": {"name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": node},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True",
                "lastTransitionTime": "2026-01-01T00:00:05Z"}]},
        });
        json_patch::merge(&mut pod, &change);
        Arc::new(Stored::new(object(pod), 1))
    }

    /// The order in which pods go.
    fn order(pods: &[Arc<Stored>]) -> Vec<String> {
        let mut order: Vec<String> = Vec::new();
        for count in 1..=pods.len() {
            let doomed = victims(pods, count);
            order.extend(
                doomed
                    .into_iter()
                    .filter(|uid| !order.contains(uid))
                    .collect::<Vec<_>>(),
            );
        }
        order
    }

    #[test]
    fn the_least_useful_go_first() {
        let cost = json!({"metadata": {"annotations": {DELETION_COST: "5"}}});
        let late = json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:09:00Z"}]);
        let pods = [
            pod("dear", "a", cost),
            pod("old", "b", json!({})),
            pod("late", "c", json!({"status": {"conditions": late}})),
            pod(
                "restarted",
                "d",
                json!({"status": {"containerStatuses": [{"restartCount": 3}]}}),
            ),
            pod("unready", "e", json!({"status": {"conditions": []}})),
            pod(
                "pending",
                "f",
                json!({"status": {"phase": "Pending", "conditions": []}}),
            ),
            pod(
                "homeless",
                "",
                json!({"status": {"phase": "Pending", "conditions": []}}),
            ),
            pod(
                "young",
                "g",
                json!({"metadata": {"creationTimestamp": "2026-01-02T00:00:00Z"}}),
            ),
        ];
        assert_eq!(
            order(&pods),
            [
                "homeless",
                "pending",
                "unready",
                "late",
                "restarted",
                "young",
                "old",
                "dear"
            ]
        );
    }

    #[test]
    fn crowded_nodes_are_relieved_first() {
        let pods = [
            pod(
                "alone",
                "a",
                json!({"metadata": {"creationTimestamp": "2026-01-02T00:00:00Z"}}),
            ),
            pod("one", "b", json!({})),
            pod("two", "b", json!({})),
        ];
        assert_eq!(victims(&pods, 1).into_iter().collect::<Vec<_>>(), ["two"]);
        assert_eq!(
            victims(&pods, 2).into_iter().collect::<Vec<_>>(),
            ["one", "two"]
        );
    }
}
