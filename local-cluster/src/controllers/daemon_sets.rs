//! DaemonSets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::context::Context;
use super::controller_revisions::{REVISION_HASH, history, revision_hash};
use super::int_or_percent::{Rounding, scaled_value};
use super::pods::{
    self, available, count, has_ended, is_ready, set_counts, set_label, until_available,
};
use super::scheduling::{FilterReason, filter, selects};
use crate::object::{Object, at, child, generation, is_deleting, meta, number, object, text};
use crate::store::{Resource, Stored};

/// The taints that every daemon pod tolerates.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

pub(super) fn reconcile(ctx: &mut Context<'_>) -> Option<Duration> {
    let kind = ctx.builtin("", "pods")?;
    let set = ctx.object();
    let claimed = ctx.claim(&kind, |_| true);
    if is_deleting(set) {
        return None;
    }
    let history = history(ctx)?;
    let hash = revision_hash(history.update_revision()?).to_owned();
    let model = new_pod(set, &hash);
    let (nodes, _) = ctx.cluster.store.list(&Resource::new("", "nodes"), None);
    let mut by_node: BTreeMap<String, Vec<Arc<Stored>>> = BTreeMap::new();
    for pod in claimed {
        let node = node_of(&pod.object).unwrap_or_default().to_owned();
        by_node.entry(node).or_default().push(pod);
    }
    let mut to_delete: Vec<Arc<Stored>> = Vec::new();
    let (mut desired, mut misscheduled) = (0, 0);
    let mut running: Vec<Arc<Stored>> = Vec::new();
    for node in &nodes {
        let pods = by_node.remove(&node.name).unwrap_or_default();
        let (should_run, may_continue) = fits(&model, &node.object);
        let (ended, mut alive): (Vec<_>, Vec<_>) =
            pods.into_iter().partition(|pod| has_ended(&pod.object));
        to_delete.extend(ended);
        desired += i64::from(should_run);
        misscheduled += i64::from(!should_run && !alive.is_empty());
        if !may_continue {
            to_delete.append(&mut alive);
            continue;
        }
        // Of several pods on a node the oldest stays.
        alive.sort_by_key(|pod| {
            let created = meta(&pod.object, "creationTimestamp").map(str::to_owned);
            (is_deleting(&pod.object), created, pod.name.clone())
        });
        let surplus = alive.split_off(alive.len().min(1)).into_iter();
        to_delete.extend(surplus.filter(|pod| !is_deleting(&pod.object)));
        if alive.is_empty() && should_run {
            match ctx.create(&kind, &for_node(&model, &node.name)) {
                Ok(created) => alive.push(created),
                Err(why) => tracing::debug!(?why, set = ctx.owner.name, "cannot create a pod"),
            }
        }
        if should_run {
            running.extend(alive);
        }
    }
    to_delete.extend(outdated(ctx, &running, &hash, desired));
    for pod in &to_delete {
        ctx.delete(&kind, pod);
    }
    let counts = [desired, misscheduled, history.collisions];
    let (status, next) = status(ctx, &running, &hash, counts);
    ctx.set_status(status);
    let live = history.revisions.iter().filter(|revision| {
        let hash = Some(revision_hash(revision));
        running.iter().any(|pod| hash_of(&pod.object) == hash)
    });
    let live: BTreeSet<&str> = live.map(|revision| revision.name.as_str()).collect();
    history.prune(ctx, &live);
    next
}

/// Whether a node should run a pod, and whether one that runs there may continue.
fn fits(model: &Object, node: &Object) -> (bool, bool) {
    match filter(model, node) {
        None => (true, true),
        Some(FilterReason::Taint | FilterReason::Unschedulable) => (false, selects(model, node)),
        Some(FilterReason::Selector) => (false, false),
    }
}

/// The pods of an old revision to replace now.
fn outdated(
    ctx: &Context<'_>,
    running: &[Arc<Stored>],
    hash: &str,
    desired: i64,
) -> Vec<Arc<Stored>> {
    let set = ctx.object();
    if text(set, &["spec", "updateStrategy", "type"]) == Some("OnDelete") {
        return Vec::new();
    }
    let path = ["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"];
    let max_unavailable = scaled_value(at(set, &path), desired, Rounding::Up).max(1);
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let is_available = |pod: &&Arc<Stored>| {
        let left = until_available(&pod.object, seconds, ctx.now);
        left == Some(Duration::ZERO) && !is_deleting(&pod.object)
    };
    let unavailable = desired - count(running.iter().filter(is_available));
    let allowed = usize::try_from(max_unavailable - unavailable).unwrap_or(0);
    let old = running
        .iter()
        .filter(|pod| hash_of(&pod.object) != Some(hash) && !is_deleting(&pod.object));
    // Replacing a pod that is not available costs no availability.
    let (available, rest): (Vec<_>, Vec<_>) = old.partition(is_available);
    let available = available.into_iter().take(allowed);
    rest.into_iter().chain(available).cloned().collect()
}

fn hash_of(pod: &Object) -> Option<&str> {
    text(pod, &["metadata", "labels", REVISION_HASH])
}

fn new_pod(set: &Object, hash: &str) -> Object {
    let mut pod = pods::new_pod(set);
    set_label(&mut pod, REVISION_HASH, hash);
    let tolerations = child(&mut pod, "spec")
        .entry("tolerations")
        .or_insert_with(|| json!([]));
    if let Value::Array(list) = tolerations {
        list.extend(
            TOLERATED
                .map(|(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect})),
        );
    }
    pod
}

/// The pod with the node affinity by which the scheduler binds it to one node.
fn for_node(model: &Object, node: &str) -> Object {
    let mut pod = model.clone();
    let affinity = child(child(child(&mut pod, "spec"), "affinity"), "nodeAffinity");
    let term = json!({"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": [node]},
    ]});
    affinity.insert(
        "requiredDuringSchedulingIgnoredDuringExecution".to_owned(),
        json!({"nodeSelectorTerms": [term]}),
    );
    pod
}

/// The node that a pod is bound to, or that its affinity names.
fn node_of(pod: &Object) -> Option<&str> {
    pods::node_name(pod).or_else(|| {
        let path = [
            "spec",
            "affinity",
            "nodeAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution",
        ];
        let terms = at(pod, &path)?.get("nodeSelectorTerms")?;
        terms.pointer("/0/matchFields/0/values/0")?.as_str()
    })
}

fn status(
    ctx: &Context<'_>,
    running: &[Arc<Stored>],
    hash: &str,
    [desired, misscheduled, collisions]: [i64; 3],
) -> (Object, Option<Duration>) {
    let set = ctx.object();
    let alive = || {
        let pods = running.iter().map(|pod| &pod.object);
        pods.filter(|pod| !is_deleting(pod))
    };
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let (available, next) = available(alive(), seconds, ctx.now);
    let updated = count(alive().filter(|pod| hash_of(pod) == Some(hash)));
    let ready = count(alive().filter(|pod| is_ready(pod)));
    let mut status = object(json!({
        "currentNumberScheduled": running.len(), "numberMisscheduled": misscheduled,
        "desiredNumberScheduled": desired, "numberReady": ready,
        "observedGeneration": generation(set),
    }));
    let counts = [
        ("updatedNumberScheduled", updated),
        ("numberAvailable", available),
        ("numberUnavailable", desired - available),
        ("collisionCount", collisions),
    ];
    set_counts(&mut status, counts);
    (status, next)
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
        assert_eq!(hash_of(&pod), Some("h"));
    }
}
