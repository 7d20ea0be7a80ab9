//! DaemonSets: a pod on each node.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::plan::{REVISION_HASH, Set, SetPlan, revision_of};
use crate::controllers::pods::{available, has_ended, is_ready, node_name};
use crate::controllers::scheduling::{FilterReason, filter, selects};
use crate::controllers::status::{Rounding, count, scaled_value, set_counts};
use crate::controllers::template::{self, set_label};
use crate::object::{Object, at, child, is_deleting, meta, object};
use crate::store::{Resource, Stored};
use crate::writer::Cluster;

/// The taints that every daemon pod tolerates.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

const REQUIRED_AFFINITY: [&str; 4] = [
    "spec",
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
];

pub(super) fn plan(set: &Set<'_>, cluster: &Cluster) -> SetPlan {
    let revision = set.revision();
    let model = new_pod(set.object, &revision);
    let mut by_node: BTreeMap<&str, Vec<Arc<Stored>>> = BTreeMap::new();
    for pod in &set.pods {
        let node = node_of(&pod.object).unwrap_or_default();
        by_node.entry(node).or_default().push(Arc::clone(pod));
    }
    let mut plan = SetPlan::default();
    let (mut desired, mut misscheduled) = (0, 0);
    let mut running: Vec<Arc<Stored>> = Vec::new();
    let (nodes, _) = cluster.store.list(&Resource::new("", "nodes"), None);
    for node in &nodes {
        let pods = by_node.remove(node.name.as_str()).unwrap_or_default();
        let (should_run, may_continue) = fits(&model, &node.object);
        let (ended, mut alive): (Vec<_>, Vec<_>) =
            pods.into_iter().partition(|pod| has_ended(&pod.object));
        plan.delete.extend(ended);
        desired += i64::from(should_run);
        misscheduled += i64::from(!should_run && !alive.is_empty());
        if !may_continue {
            plan.delete.append(&mut alive);
            continue;
        }
        // Of several pods on a node the oldest stays.
        alive.sort_by_key(|pod| {
            let created = meta(&pod.object, "creationTimestamp").map(str::to_owned);
            (is_deleting(&pod.object), created, pod.name.clone())
        });
        let surplus = alive.split_off(alive.len().min(1)).into_iter();
        plan.delete
            .extend(surplus.filter(|pod| !is_deleting(&pod.object)));
        if should_run && alive.is_empty() {
            plan.create.push(for_node(&model, &node.name));
        } else if should_run {
            running.extend(alive);
        }
    }
    plan.delete
        .extend(outdated(set, &running, &revision, desired));
    set_status(set, &running, &revision, [desired, misscheduled], &mut plan);
    plan
}

/// A node should run a pod, and one that runs there may continue.
fn fits(model: &Object, node: &Object) -> (bool, bool) {
    match filter(model, node) {
        None => (true, true),
        Some(FilterReason::Taint | FilterReason::Unschedulable) => (false, selects(model, node)),
        Some(FilterReason::Selector) => (false, false),
    }
}

/// The pods of an old revision to replace now.
fn outdated(
    set: &Set<'_>,
    running: &[Arc<Stored>],
    revision: &str,
    desired: i64,
) -> Vec<Arc<Stored>> {
    if set.updates_on_delete() {
        return Vec::new();
    }
    let path = ["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"];
    let max_unavailable = scaled_value(at(set.object, &path), desired, Rounding::Up).max(1);
    let is_available = |pod: &&Arc<Stored>| set.is_available(&pod.object);
    let unavailable = desired - count(running.iter().filter(is_available));
    let allowed = usize::try_from(max_unavailable - unavailable).unwrap_or(0);
    let old = running
        .iter()
        .filter(|pod| revision_of(&pod.object) != revision && !is_deleting(&pod.object));
    // Replacing a pod that is not available costs no availability.
    let (available, rest): (Vec<_>, Vec<_>) = old.partition(is_available);
    let available = available.into_iter().take(allowed);
    rest.into_iter().chain(available).cloned().collect()
}

fn new_pod(set: &Object, revision: &str) -> Object {
    let mut pod = template::new_pod(set);
    set_label(&mut pod, REVISION_HASH, revision);
    let tolerations = child(&mut pod, "spec")
        .entry("tolerations")
        .or_insert_with(|| json!([]));
    if let Value::Array(list) = tolerations {
        let exists = |(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect});
        list.extend(TOLERATED.map(exists));
    }
    pod
}

/// The pod with the node affinity by which the scheduler binds it to one node.
fn for_node(model: &Object, node: &str) -> Object {
    let mut pod = model.clone();
    let affinity = REQUIRED_AFFINITY
        .iter()
        .fold(&mut pod, |object, key| child(object, key));
    let term = json!({"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": [node]},
    ]});
    *affinity = object(json!({"nodeSelectorTerms": [term]}));
    pod
}

/// The node that a pod is bound to, or that its affinity names.
fn node_of(pod: &Object) -> Option<&str> {
    node_name(pod).or_else(|| {
        let terms = at(pod, &REQUIRED_AFFINITY)?.get("nodeSelectorTerms")?;
        terms.pointer("/0/matchFields/0/values/0")?.as_str()
    })
}

fn set_status(
    set: &Set<'_>,
    running: &[Arc<Stored>],
    revision: &str,
    [desired, misscheduled]: [i64; 2],
    plan: &mut SetPlan,
) {
    let alive = || {
        let pods = running.iter().map(|pod| &pod.object);
        pods.filter(|pod| !is_deleting(pod))
    };
    let (available, next) = available(alive(), set.min_ready_seconds(), set.now);
    plan.next_available = next;
    plan.status = object(json!({
        "currentNumberScheduled": running.len(), "numberMisscheduled": misscheduled,
        "desiredNumberScheduled": desired, "numberReady": count(alive().filter(|pod| is_ready(pod))),
    }));
    let updated = alive().filter(|pod| revision_of(pod) == revision);
    let counts = [
        ("updatedNumberScheduled", count(updated)),
        ("numberAvailable", available),
        ("numberUnavailable", desired - available),
    ];
    set_counts(&mut plan.status, counts);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> Object {
        object(json!({
            "metadata": {"name": "d", "namespace": "n"},
            "spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeSelector": {"disk": "ssd"}}}},
        }))
    }

    fn node(spec: Value, ready: &str) -> Object {
        object(json!({
            "metadata": {"name": "n1", "labels": {"disk": "ssd"}}, "spec": spec,
            "status": {"conditions": [{"type": "Ready", "status": ready}]},
        }))
    }

    #[test]
    fn nodes_that_fit_run_a_pod() {
        let model = new_pod(&set(), "h");
        let taint = |effect: &str| json!({"taints": [{"key": "gpu", "effect": effect}]});
        for (node, expected) in [
            (node(json!({}), "True"), (true, true)),
            (node(json!({"unschedulable": true}), "True"), (true, true)),
            (node(json!({}), "False"), (false, true)),
            (node(taint("NoSchedule"), "True"), (false, true)),
        ] {
            assert_eq!(fits(&model, &node), expected, "{node:?}");
        }
        let mut other = node(json!({}), "True");
        child(&mut other, "metadata").remove("labels");
        assert_eq!(fits(&model, &other), (false, false));
    }

    #[test]
    fn a_daemon_pod_names_its_node() {
        let pod = for_node(&new_pod(&set(), "h"), "n1");
        assert_eq!(node_of(&pod), Some("n1"));
        assert_eq!(filter(&pod, &node(json!({}), "True")), None);
        let mut other = node(json!({}), "True");
        child(&mut other, "metadata").insert("name".to_owned(), "n2".into());
        assert_eq!(filter(&pod, &other), Some(FilterReason::Selector));
        assert_eq!(revision_of(&pod), "h");
    }
}
