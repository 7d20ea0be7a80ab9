//! The order in which the pods of a ReplicaSet are deleted when it is scaled down.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use crate::controllers::pods::{is_ready, node_name, phase, ready_since, restart_counts};
use crate::object::{Object, meta, text};
use crate::store::Stored;

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The `count` pods that are deleted first.
///
/// Pods without node come first, then those that do not run, then those that are not ready; then those
/// with the lowest deletion cost, those on the nodes with the most pods, and the youngest.
pub(super) fn pods_to_delete(pods: &[Arc<Stored>], count: usize) -> Vec<Arc<Stored>> {
    let mut on_node: HashMap<Option<&str>, usize> = HashMap::new();
    for pod in pods {
        *on_node.entry(node_name(&pod.object)).or_default() += 1;
    }
    let mut order: Vec<&Arc<Stored>> = pods.iter().collect();
    order.sort_by_cached_key(|pod| {
        let object = &pod.object;
        let node = node_name(object);
        let ready = is_ready(object);
        (
            (node.is_some(), phase_rank(object), ready, cost(object)),
            Reverse(on_node.get(&node).copied().unwrap_or_default()),
            Reverse(ready.then(|| ready_since(object))),
            Reverse(restart_counts(object).max().unwrap_or(0)),
            Reverse(meta(object, "creationTimestamp").map(str::to_owned)),
            Reverse(pod.name.clone()),
        )
    });
    order.into_iter().take(count).cloned().collect()
}

fn phase_rank(pod: &Object) -> u8 {
    match phase(pod) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::{Value, json};

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

    fn order(pods: &[Arc<Stored>]) -> Vec<String> {
        let order = pods_to_delete(pods, pods.len()).into_iter();
        order.map(|pod| pod.name.clone()).collect()
    }

    #[test]
    fn the_least_useful_pods_are_deleted_first() {
        let cost = json!({"metadata": {"annotations": {DELETION_COST: "5"}}});
        let late = json!([{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:09:00Z"}]);
        let pods = [
            pod("costly", "a", cost),
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
                "unbound",
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
                "unbound",
                "pending",
                "unready",
                "late",
                "restarted",
                "young",
                "old",
                "costly"
            ]
        );
    }

    #[test]
    fn pods_on_crowded_nodes_are_deleted_first() {
        let pods = [
            pod(
                "alone",
                "a",
                json!({"metadata": {"creationTimestamp": "2026-01-02T00:00:00Z"}}),
            ),
            pod("one", "b", json!({})),
            pod("two", "b", json!({})),
        ];
        assert_eq!(order(&pods), ["two", "one", "alone"]);
        assert_eq!(pods_to_delete(&pods, 1).len(), 1);
    }
}
