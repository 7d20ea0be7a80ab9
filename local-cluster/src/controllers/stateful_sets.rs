//! StatefulSets, without volumes.

mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::plan::{PodChange, PodState, StatefulSetSpec, pod_changes};
use super::context::Context;
use super::controller_revisions::{REVISION_HASH, RevisionHistory, history, template};
use super::pods::{
    available, count, from_template, has_ended, is_running_and_ready, set_counts, set_label,
    until_available,
};
use super::replica_sets::{BURST, MAX_PODS};
use crate::object::{
    Object, at, child, generation, is_deleting, name, namespace, number, object, text,
};
use crate::store::Stored;

pub(super) fn reconcile(ctx: &mut Context<'_>) -> Option<Duration> {
    let kind = ctx.builtin("", "pods")?;
    let set = ctx.object();
    let set_name = name(set);
    let claimed = ctx.claim(&kind, |pod| ordinal(set_name, name(pod)).is_some());
    if is_deleting(set) {
        return None;
    }
    let history = history(ctx)?;
    let update = Arc::clone(history.update_revision()?);
    let mut pods: BTreeMap<i64, Arc<Stored>> = claimed
        .into_iter()
        .filter_map(|pod| Some((ordinal(set_name, &pod.name)?, pod)))
        .collect();
    // The revision before the update, as long as pods still have it.
    let current = text(set, &["status", "currentRevision"]).unwrap_or_default();
    let current = history.find(current).unwrap_or(&update);
    let states: BTreeMap<i64, PodState<'_>> = pods
        .iter()
        .map(|(ordinal, pod)| (*ordinal, pod_state(ctx, pod)))
        .collect();
    let changes = pod_changes(spec(set, &update.name), &states, BURST);
    let more = changes.len() >= BURST;
    for change in changes {
        match change {
            PodChange::Create { ordinal, old } => {
                let revision = if old { current } else { &update };
                match ctx.create(&kind, &new_pod(set, revision, ordinal)) {
                    Ok(created) => _ = pods.insert(ordinal, created),
                    // The name is taken, or the namespace is terminating: either ends with an event.
                    Err(why) => tracing::debug!(?why, set_name, ordinal, "cannot create a pod"),
                }
            }
            PodChange::Delete { ordinal } => {
                if let Some(pod) = pods.get(&ordinal) {
                    ctx.delete(&kind, pod);
                }
            }
        }
    }
    let (status, next) = status(ctx, &history, &current.name, &pods);
    ctx.set_status(status);
    let mut live: BTreeSet<&str> = pods.values().map(|pod| revision_of(&pod.object)).collect();
    live.insert(&current.name);
    history.prune(ctx, &live);
    if more { Some(Duration::ZERO) } else { next }
}

fn spec<'a>(set: &Object, update_revision: &'a str) -> StatefulSetSpec<'a> {
    let is = |path: &[&str], value| text(set, path) == Some(value);
    let partition = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    StatefulSetSpec {
        start: number(set, &["spec", "ordinals", "start"], 0),
        replicas: number(set, &["spec", "replicas"], 1).min(MAX_PODS),
        parallel: is(&["spec", "podManagementPolicy"], "Parallel"),
        on_delete: is(&["spec", "updateStrategy", "type"], "OnDelete"),
        partition: number(set, &partition, 0),
        update_revision,
    }
}

fn pod_state<'a>(ctx: &Context<'_>, pod: &'a Stored) -> PodState<'a> {
    let ready = is_running_and_ready(&pod.object);
    let seconds = number(ctx.object(), &["spec", "minReadySeconds"], 0);
    let left = until_available(&pod.object, seconds, ctx.now);
    PodState {
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

/// The ordinal in the name of a StatefulSet's pod.
fn ordinal(set: &str, pod: &str) -> Option<i64> {
    let digits = pod.strip_prefix(set)?.strip_prefix('-')?;
    let ordinal: i64 = digits.parse().ok()?;
    (ordinal >= 0 && ordinal.to_string() == digits).then_some(ordinal)
}

fn new_pod(set: &Object, revision: &Stored, ordinal: i64) -> Object {
    let template = template(revision).unwrap_or(Value::Null);
    let mut pod = from_template(&template, namespace(set));
    let (name, index) = (format!("{}-{ordinal}", name(set)), ordinal.to_string());
    child(&mut pod, "metadata").insert("name".to_owned(), name.clone().into());
    set_label(&mut pod, "statefulset.kubernetes.io/pod-name", &name);
    set_label(&mut pod, "apps.kubernetes.io/pod-index", &index);
    set_label(&mut pod, REVISION_HASH, &revision.name);
    let spec = child(&mut pod, "spec");
    spec.insert("hostname".to_owned(), name.into());
    if let Some(service) = text(set, &["spec", "serviceName"]).filter(|name| !name.is_empty()) {
        spec.insert("subdomain".to_owned(), service.into());
    }
    pod
}

fn status(
    ctx: &Context<'_>,
    history: &RevisionHistory,
    current: &str,
    pods: &BTreeMap<i64, Arc<Stored>>,
) -> (Object, Option<Duration>) {
    let set = ctx.object();
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let update = history.update_revision().map_or("", |r| r.name.as_str());
    let ready = || {
        let pods = pods.values().map(|pod| &pod.object);
        pods.filter(|pod| is_running_and_ready(pod))
    };
    let (available, next) = available(ready(), seconds, ctx.now);
    let of = |revision: &str| {
        count(
            pods.values()
                .filter(|pod| !is_deleting(&pod.object) && revision_of(&pod.object) == revision),
        )
    };
    let (total, ready, updated) = (count(pods), count(ready()), of(update));
    let rolling = text(set, &["spec", "updateStrategy", "type"]) != Some("OnDelete");
    let complete = rolling && updated == total && ready == total;
    let current = if complete { update } else { current };
    let mut status = object(json!({
        "replicas": total, "availableReplicas": available,
        "currentRevision": current, "updateRevision": update,
        "observedGeneration": generation(set), "collisionCount": history.collisions,
    }));
    let counts = [
        ("readyReplicas", ready),
        ("currentReplicas", of(current)),
        ("updatedReplicas", updated),
    ];
    set_counts(&mut status, counts);
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
    fn a_pod_has_its_ordinal_and_revision() {
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
