//! DaemonSets: a pod on each node that may run it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::amount::{Round, resolve};
use super::desk::{Desk, Owner};
use super::history::{REVISION_HASH, history, revision_hash};
use super::placement::{Obstacle, obstacle, selects};
use super::pods::{
    available, counted, from_template, has_ended, is_ready, number, set_label, until_available,
};
use crate::object::{Object, at, child, generation, is_deleting, meta, object, text};
use crate::selector::LabelSelector;
use crate::store::{Resource, Stored};

/// What nodes are whose pods go on where no other may begin.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Looks at one DaemonSet.
pub(super) fn sync(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    selector: &LabelSelector,
) -> Option<Duration> {
    let kind = desk.kind("", "pods")?;
    let set = owner.object();
    let claimed = desk.claim(&kind, owner, selector, |_| true);
    if is_deleting(set) {
        return None;
    }
    let history = history(desk, owner)?;
    let hash = revision_hash(history.wanted()?).to_owned();
    let model = new_pod(set, &hash);
    let (nodes, _) = desk.cluster.store.list(&Resource::new("", "nodes"), None);
    let mut on: BTreeMap<String, Vec<Arc<Stored>>> = BTreeMap::new();
    for pod in claimed {
        let node = node_of(&pod.object).unwrap_or_default().to_owned();
        on.entry(node).or_default().push(pod);
    }
    let mut doomed: Vec<Arc<Stored>> = Vec::new();
    let (mut wanted, mut misplaced) = (0, 0);
    let mut running: Vec<Arc<Stored>> = Vec::new();
    for node in &nodes {
        let mut pods = on.remove(&node.name).unwrap_or_default();
        let (begins, goes_on) = fits(&model, &node.object);
        let (ended, mut alive): (Vec<_>, Vec<_>) =
            pods.drain(..).partition(|pod| has_ended(&pod.object));
        doomed.extend(ended);
        wanted += i64::from(begins);
        if !begins {
            misplaced += i64::from(!alive.is_empty());
        }
        if !goes_on {
            doomed.append(&mut alive);
            continue;
        }
        // Of several the oldest stays.
        alive.sort_by_key(|pod| {
            let created = meta(&pod.object, "creationTimestamp").map(str::to_owned);
            (is_deleting(&pod.object), created, pod.name.clone())
        });
        if alive.len() > 1 {
            doomed.extend(alive.drain(1..).filter(|pod| !is_deleting(&pod.object)));
        }
        if alive.is_empty() && begins {
            match desk.create(&kind, owner, &placed(&model, &node.name)) {
                Ok(made) => alive.push(made),
                Err(why) => tracing::debug!(?why, set = owner.stored.name, "no pod was made"),
            }
        }
        if begins {
            running.extend(alive);
        }
    }
    doomed.extend(exchanged(set, &running, &hash, wanted, desk));
    for pod in &doomed {
        desk.delete(&kind, pod);
    }
    let (status, next) = status(
        desk,
        set,
        &running,
        &hash,
        [wanted, misplaced, history.collisions],
    );
    super::write::set_status(desk.cluster, owner.kind, owner.stored, status);
    let live = history.revisions.iter().filter(|revision| {
        let hash = Some(revision_hash(revision));
        running.iter().any(|pod| hash_of(&pod.object) == hash)
    });
    let live: BTreeSet<&str> = live.map(|revision| revision.name.as_str()).collect();
    history.forget(desk, owner, &live);
    next
}

/// Whether a pod may begin on a node, and whether one that is there may go on.
fn fits(model: &Object, node: &Object) -> (bool, bool) {
    match obstacle(model, node) {
        None => (true, true),
        Some(Obstacle::Taint | Obstacle::Closed) => (false, selects(model, node)),
        Some(Obstacle::Selector) => (false, false),
    }
}

/// Pods of an old version that go now.
fn exchanged(
    set: &Object,
    running: &[Arc<Stored>],
    hash: &str,
    wanted: i64,
    desk: &Desk<'_>,
) -> Vec<Arc<Stored>> {
    let strategy = ["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"];
    if text(set, &["spec", "updateStrategy", "type"]) == Some("OnDelete") {
        return Vec::new();
    }
    let most = resolve(at(set, &strategy), wanted, Round::Up).max(1);
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let serves = |pod: &&Arc<Stored>| {
        let left = until_available(&pod.object, seconds, desk.now);
        left == Some(Duration::ZERO) && !is_deleting(&pod.object)
    };
    let missing = wanted - counted(running.iter().filter(serves).count());
    let mut room = usize::try_from(most - missing).unwrap_or(0);
    let old = running
        .iter()
        .filter(|pod| hash_of(&pod.object) != Some(hash) && !is_deleting(&pod.object));
    // Those that serve nobody go in any case.
    let (serving, rest): (Vec<_>, Vec<_>) = old.partition(serves);
    room = room.min(serving.len());
    let first = serving.into_iter().take(room);
    rest.into_iter().chain(first).cloned().collect()
}

fn hash_of(pod: &Object) -> Option<&str> {
    text(pod, &["metadata", "labels", REVISION_HASH])
}

fn new_pod(set: &Object, hash: &str) -> Object {
    let template = at(set, &["spec", "template"]).unwrap_or(&Value::Null);
    let mut pod = from_template(template, crate::object::namespace(set));
    let generate = format!("{}-", crate::object::name(set));
    child(&mut pod, "metadata").insert("generateName".to_owned(), generate.into());
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

/// The pod for one node. The scheduler binds it, so it says which by affinity.
fn placed(model: &Object, node: &str) -> Object {
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

/// The node that a pod runs on, or is meant for.
fn node_of(pod: &Object) -> Option<&str> {
    let bound = text(pod, &["spec", "nodeName"]).filter(|node| !node.is_empty());
    bound.or_else(|| {
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
    desk: &Desk<'_>,
    set: &Object,
    running: &[Arc<Stored>],
    hash: &str,
    [wanted, misplaced, collisions]: [i64; 3],
) -> (Object, Option<Duration>) {
    let alive = || {
        running
            .iter()
            .map(|pod| &pod.object)
            .filter(|pod| !is_deleting(pod))
    };
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let (available, next) = available(alive(), seconds, desk.now);
    let updated = alive().filter(|pod| hash_of(pod) == Some(hash)).count();
    let mut status = object(json!({
        "currentNumberScheduled": running.len(), "numberMisscheduled": misplaced,
        "desiredNumberScheduled": wanted, "numberReady": alive().filter(|pod| is_ready(pod)).count(),
        "observedGeneration": generation(set),
    }));
    for (key, count) in [
        ("updatedNumberScheduled", counted(updated)),
        ("numberAvailable", counted(available)),
        ("numberUnavailable", wanted - counted(available)),
        ("collisionCount", collisions),
    ] {
        if count > 0 {
            status.insert(key.to_owned(), count.into());
        }
    }
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
    fn daemons_run_where_they_may() {
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
    fn a_daemon_says_which_node_it_is_for() {
        let pod = placed(&new_pod(&set(), "h"), "n1");
        assert_eq!(node_of(&pod), Some("n1"));
        assert_eq!(obstacle(&pod, &node(json!({}), "True")), None);
        let mut other = node(json!({}), "True");
        child(&mut other, "metadata").insert("name".to_owned(), "n2".into());
        assert_eq!(obstacle(&pod, &other), Some(Obstacle::Selector));
        assert_eq!(hash_of(&pod), Some("h"));
    }
}
