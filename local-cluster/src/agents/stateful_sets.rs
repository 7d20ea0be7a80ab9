//! StatefulSets: pods with names that stay, made and exchanged in order. Volumes there are none.

mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::steps::{Order, Place, Step, steps};
use super::desk::{Desk, Owner};
use super::history::{History, REVISION_HASH, history, template};
use super::pods::{
    from_template, has_ended, is_running_and_ready, number, set_label, until_available,
};
use super::replica_sets::{BURST, MOST_PODS};
use crate::object::{Object, at, child, generation, is_deleting, object, text};
use crate::selector::LabelSelector;
use crate::store::Stored;

/// Looks at one StatefulSet.
pub(super) fn sync(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    selector: &LabelSelector,
) -> Option<Duration> {
    let kind = desk.kind("", "pods")?;
    let set = owner.object();
    let name = &owner.stored.name;
    let is_member = |pod: &Object| ordinal(name, crate::object::name(pod)).is_some();
    let claimed = desk.claim(&kind, owner, selector, is_member);
    if is_deleting(set) {
        return None;
    }
    let history = history(desk, owner)?;
    let wanted = Arc::clone(history.wanted()?);
    let mut pods: BTreeMap<i64, Arc<Stored>> = BTreeMap::new();
    for pod in claimed {
        if let Some(ordinal) = ordinal(name, &pod.name) {
            pods.insert(ordinal, pod);
        }
    }
    // The version that pods had before the wanted one, as long as some still have it.
    let current = text(set, &["status", "currentRevision"]).unwrap_or_default();
    let current = history.find(current).unwrap_or(&wanted);
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let places: BTreeMap<i64, Place<'_>> = pods
        .iter()
        .map(|(ordinal, pod)| (*ordinal, place(pod, seconds, desk)))
        .collect();
    let order = order(set, &wanted.name);
    let steps = steps(order, &places, BURST);
    let more = steps.len() >= BURST;
    for step in steps {
        match step {
            Step::Create { ordinal, old } => {
                let revision = if old { current } else { &wanted };
                let pod = new_pod(set, revision, ordinal);
                match desk.create(&kind, owner, &pod) {
                    Ok(made) => _ = pods.insert(ordinal, made),
                    // One of that name is another's, or the namespace goes: what comes is seen.
                    Err(why) => tracing::debug!(?why, set = name, ordinal, "no pod was made"),
                }
            }
            Step::Delete { ordinal } => {
                if let Some(pod) = pods.get(&ordinal) {
                    desk.delete(&kind, pod);
                }
            }
        }
    }
    let (status, next) = status(desk, owner, &history, &current.name, &pods);
    super::write::set_status(desk.cluster, owner.kind, owner.stored, status);
    let mut live: BTreeSet<&str> = pods.values().map(|pod| revision_of(&pod.object)).collect();
    live.insert(&current.name);
    history.forget(desk, owner, &live);
    if more { Some(Duration::ZERO) } else { next }
}

fn order<'a>(set: &Object, wanted: &'a str) -> Order<'a> {
    let is = |path: &[&str], value| text(set, path) == Some(value);
    let strategy = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    Order {
        start: number(set, &["spec", "ordinals", "start"], 0),
        replicas: number(set, &["spec", "replicas"], 1).min(MOST_PODS),
        parallel: is(&["spec", "podManagementPolicy"], "Parallel"),
        on_delete: is(&["spec", "updateStrategy", "type"], "OnDelete"),
        partition: number(set, &strategy, 0),
        wanted,
    }
}

fn place<'a>(pod: &'a Stored, seconds: i64, desk: &Desk<'_>) -> Place<'a> {
    let ready = is_running_and_ready(&pod.object);
    let left = until_available(&pod.object, seconds, desk.now);
    Place {
        revision: revision_of(&pod.object),
        ended: has_ended(&pod.object),
        terminating: is_deleting(&pod.object),
        ready,
        available: ready && left == Some(Duration::ZERO),
    }
}

fn revision_of(pod: &Object) -> &str {
    text(pod, &["metadata", "labels", REVISION_HASH]).unwrap_or_default()
}

/// The ordinal in the name of a set's pod.
fn ordinal(set: &str, pod: &str) -> Option<i64> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let ordinal: i64 = digits.parse().ok()?;
    (ordinal >= 0 && ordinal.to_string() == digits).then_some(ordinal)
}

fn new_pod(set: &Object, revision: &Stored, ordinal: i64) -> Object {
    let template = template(revision).unwrap_or(Value::Null);
    let mut pod = from_template(&template, crate::object::namespace(set));
    let name = format!("{}-{ordinal}", crate::object::name(set));
    child(&mut pod, "metadata").insert("name".to_owned(), name.clone().into());
    set_label(&mut pod, "statefulset.kubernetes.io/pod-name", &name);
    set_label(
        &mut pod,
        "apps.kubernetes.io/pod-index",
        &ordinal.to_string(),
    );
    set_label(&mut pod, REVISION_HASH, &revision.name);
    let spec = child(&mut pod, "spec");
    spec.insert("hostname".to_owned(), name.into());
    if let Some(service) = text(set, &["spec", "serviceName"]).filter(|name| !name.is_empty()) {
        spec.insert("subdomain".to_owned(), service.into());
    }
    pod
}

fn status(
    desk: &Desk<'_>,
    owner: Owner<'_>,
    history: &History,
    current: &str,
    pods: &BTreeMap<i64, Arc<Stored>>,
) -> (Object, Option<Duration>) {
    let set = owner.object();
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let wanted = history
        .wanted()
        .map_or("", |revision| revision.name.as_str());
    let (mut ready, mut available, mut now_current, mut updated) = (0, 0, 0, 0);
    let mut next: Option<Duration> = None;
    for pod in pods.values().map(|pod| &pod.object) {
        if is_running_and_ready(pod) {
            ready += 1;
            match until_available(pod, seconds, desk.now) {
                Some(Duration::ZERO) => available += 1,
                Some(left) => next = Some(next.map_or(left, |n| n.min(left))),
                None => {}
            }
        }
        if !is_deleting(pod) {
            now_current += i64::from(revision_of(pod) == current);
            updated += i64::from(revision_of(pod) == wanted);
        }
    }
    let total = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    let rolls = text(set, &["spec", "updateStrategy", "type"]) != Some("OnDelete");
    let mut current = current;
    if rolls && updated == total && ready == total {
        // The way from one version to the next is over.
        (current, now_current) = (wanted, updated);
    }
    let mut status = object(json!({
        "replicas": total, "availableReplicas": available,
        "currentRevision": current, "updateRevision": wanted,
        "observedGeneration": generation(set), "collisionCount": history.collisions,
    }));
    for (key, count) in [
        ("readyReplicas", ready),
        ("currentReplicas", now_current),
        ("updatedReplicas", updated),
    ] {
        if count > 0 {
            status.insert(key.to_owned(), count.into());
        }
    }
    if let Some(conditions) = at(set, &["status", "conditions"]) {
        status.insert("conditions".to_owned(), conditions.clone());
    }
    (status, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_are_read_strictly() {
        assert_eq!(ordinal("web", "web-0"), Some(0));
        assert_eq!(ordinal("web", "web-12"), Some(12));
        for other in [
            "web", "web-", "web-01", "web-x", "web--1", "web-+1", "db-0", "web-a-0",
        ] {
            assert_eq!(ordinal("web", other), None, "{other}");
        }
    }

    #[test]
    fn a_pod_bears_its_place_and_version() {
        let set = object(json!({
            "metadata": {"name": "web", "namespace": "d"},
            "spec": {"serviceName": "all"},
        }));
        let revision = Stored::new(
            object(json!({
                "metadata": {"name": "web-abc"},
                "data": {"spec": {"template": {"$patch": "replace", "metadata": {"labels": {"a": "b"}}, "spec": {}}}},
            })),
            1,
        );
        let pod = new_pod(&set, &revision, 3);
        let expected = json!({
            "metadata": {"name": "web-3", "namespace": "d", "labels": {
                "a": "b", "statefulset.kubernetes.io/pod-name": "web-3",
                "apps.kubernetes.io/pod-index": "3", "controller-revision-hash": "web-abc",
            }},
            "spec": {"hostname": "web-3", "subdomain": "all"},
        });
        assert_eq!(Value::Object(pod), expected);
    }
}
