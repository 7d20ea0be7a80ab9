//! ReplicaSets: a number of pods, each as good as any other.

use serde_json::{Value, json};

use super::deletion_order::pods_to_delete;
use super::plan::{BURST, Set, SetPlan};
use crate::controllers::pods::{available, is_active, is_ready, is_terminating};
use crate::controllers::status::{count, set_counts};
use crate::controllers::template::new_pod;
use crate::object::{Object, at, object};
use crate::writer::Cluster;

pub(super) fn plan(set: &Set<'_>, _: &Cluster) -> SetPlan {
    let (active, rest): (Vec<_>, Vec<_>) =
        set.pods.iter().cloned().partition(|p| is_active(&p.object));
    let missing = set.replicas() - count(&active);
    let create = usize::try_from(missing).unwrap_or(0).min(BURST + 1);
    let surplus = usize::try_from(-missing).unwrap_or(0);
    let pods = || active.iter().map(|pod| &pod.object);
    let template = at(set.object, &["spec", "template", "metadata", "labels"]);
    let template = template.and_then(Value::as_object);
    let labelled = |pod: &&Object| {
        let label = |key: &String| at(pod, &["metadata", "labels", key]);
        template.is_none_or(|labels| labels.iter().all(|(key, value)| label(key) == Some(value)))
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
