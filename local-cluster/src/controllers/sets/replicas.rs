//! ReplicaSets: a number of pods, each as good as any other.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use super::plan::{BURST, Set, SetPlan};
use crate::controllers::pods::{
    available, is_active, is_ready, is_terminating, node_name, phase, ready_since, restart_counts,
};
use crate::controllers::status::{count, set_counts};
use crate::controllers::template::new_pod;
use crate::object::{Object, at, entries, meta, object, text};
use crate::store::Stored;

const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

pub(super) fn plan(set: &Set<'_>) -> SetPlan {
    let (active, rest): (Vec<_>, Vec<_>) =
        set.pods.iter().cloned().partition(|p| is_active(&p.object));
    let missing = set.replicas() - count(&active);
    let create = usize::try_from(missing).unwrap_or(0).min(BURST + 1);
    let surplus = usize::try_from(-missing).unwrap_or(0);
    let pods = || active.iter().map(|pod| &pod.object);
    let labelled = |pod: &&Object| {
        let mut labels = entries(set.object, &["spec", "template", "metadata", "labels"]);
        labels.all(|(key, value)| at(pod, &["metadata", "labels", key]) == Some(value))
    };
    let (available, next_available) = available(pods(), set.min_ready_seconds(), set.now);
    let terminating = count(rest.iter().filter(|p| is_terminating(&p.object)));
    let mut status = object(json!({
        "replicas": active.len(), "terminatingReplicas": terminating,
    }));
    let counts = [
        ("fullyLabeledReplicas", count(pods().filter(labelled))),
        ("readyReplicas", count(pods().filter(|pod| is_ready(pod)))),
        ("availableReplicas", available),
    ];
    set_counts(&mut status, counts);
    SetPlan {
        create: vec![new_pod(set.object); create],
        delete: pods_to_delete(&active, surplus),
        status,
        next_available,
    }
}

/// The `count` pods that are deleted first.
///
/// Pods without node come first, then those that do not run, then those that are not ready; then those
/// with the lowest deletion cost, those on the nodes with the most pods, and the youngest.
fn pods_to_delete(pods: &[Arc<Stored>], count: usize) -> Vec<Arc<Stored>> {
    if count == 0 {
        return Vec::new();
    }
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
    use serde_json::Value;

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
        let ready = |since: &str| {
            let condition = json!({"type": "Ready", "status": "True", "lastTransitionTime": since});
            json!({"status": {"conditions": [condition]}})
        };
        let pending = json!({"status": {"phase": "Pending", "conditions": []}});
        let expected = [
            ("unbound", "", pending.clone()),
            ("pending", "f", pending),
            ("unready", "e", json!({"status": {"conditions": []}})),
            ("late", "c", ready("2026-01-01T00:09:00Z")),
            (
                "restarted",
                "d",
                json!({"status": {"containerStatuses": [{"restartCount": 3}]}}),
            ),
            (
                "young",
                "g",
                json!({"metadata": {"creationTimestamp": "2026-01-02T00:00:00Z"}}),
            ),
            ("old", "b", json!({})),
            (
                "costly",
                "a",
                json!({"metadata": {"annotations": {DELETION_COST: "5"}}}),
            ),
        ];
        let mut pods: Vec<_> = expected
            .iter()
            .map(|(name, node, change)| pod(name, node, change.clone()))
            .collect();
        pods.reverse();
        assert_eq!(order(&pods), expected.map(|(name, ..)| name));
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
