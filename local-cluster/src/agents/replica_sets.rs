//! ReplicaSets and ReplicationControllers: so many pods of a template.

mod victims;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::victims::victims;
use super::conditions::set_condition;
use super::desk::{Desk, Owner};
use super::pods::{available, counted, from_template, is_active, is_ready, is_terminating, number};
use crate::clock;
use crate::object::{Object, at, child, generation, is_deleting, object};
use crate::resources::Kind;
use crate::selector::LabelSelector;
use crate::store::Stored;

/// How many pods are made before others have their turn.
pub(super) const BURST: usize = 500;

/// More pods than this nobody's controller keeps: a typing error shall not fill the memory.
pub(super) const MOST_PODS: i64 = 10_000;

/// Looks at one ReplicaSet or ReplicationController.
pub(super) fn sync(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    selector: &LabelSelector,
) -> Option<Duration> {
    let kind = desk.kind("", "pods")?;
    let all = desk.claim(&kind, owner, selector, |_| true);
    let (mut active, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| is_active(&p.object));
    let mut leaving: usize = rest.iter().filter(|p| is_terminating(&p.object)).count();
    let wanted = number(owner.object(), &["spec", "replicas"], 1);
    let (mut failure, mut again) = (None, None);
    if !is_deleting(owner.object()) {
        let missing = wanted.min(MOST_PODS) - counted(active.len());
        if missing > 0 {
            let missing = usize::try_from(missing).unwrap_or(0);
            failure = add(desk, owner, &kind, missing.min(BURST), &mut active).err();
            again = (missing > BURST && failure.is_none()).then_some(Duration::ZERO);
        } else if wanted < counted(active.len()) {
            let surplus = usize::try_from(-missing).unwrap_or(0);
            let doomed = victims(&active, surplus);
            for pod in active.iter().filter(|pod| doomed.contains(pod.uid())) {
                desk.delete(&kind, pod);
            }
            active.retain(|pod| !doomed.contains(pod.uid()));
            leaving += surplus;
        }
        if wanted > MOST_PODS {
            failure = Some(format!("no more than {MOST_PODS} pods are made here"));
        }
    }
    let (status, next) = status(owner, &active, leaving, failure, desk);
    super::write::set_status(desk.cluster, owner.kind, owner.stored, status);
    again.or(next)
}

/// Makes pods; says why when one could not be made.
fn add(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    kind: &Kind,
    count: usize,
    active: &mut Vec<Arc<Stored>>,
) -> Result<(), String> {
    let template = at(owner.object(), &["spec", "template"]);
    let namespace = &owner.stored.namespace;
    let mut pod = from_template(template.unwrap_or(&Value::Null), namespace);
    let generate = format!("{}-", owner.stored.name);
    child(&mut pod, "metadata").insert("generateName".to_owned(), generate.into());
    for _ in 0..count {
        let created = desk.create(kind, owner, &pod);
        active.push(created.map_err(|why| why.message(kind, "", namespace))?);
    }
    Ok(())
}

fn status(
    owner: Owner<'_>,
    active: &[Arc<Stored>],
    leaving: usize,
    failure: Option<String>,
    desk: &Desk<'_>,
) -> (Object, Option<Duration>) {
    let set = owner.object();
    let pods = || active.iter().map(|pod| &pod.object);
    let template = at(set, &["spec", "template", "metadata", "labels"]).and_then(Value::as_object);
    let labelled = |pod: &&Object| {
        let label = |key: &String| at(pod, &["metadata", "labels", key]);
        template.is_none_or(|wanted| wanted.iter().all(|(key, value)| label(key) == Some(value)))
    };
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let (available, next) = available(pods(), seconds, desk.now);
    let mut status = object(json!({
        "replicas": active.len(), "observedGeneration": generation(set),
    }));
    for (key, count) in [
        ("fullyLabeledReplicas", pods().filter(labelled).count()),
        ("readyReplicas", pods().filter(|pod| is_ready(pod)).count()),
        ("availableReplicas", available),
    ] {
        if count > 0 {
            status.insert(key.to_owned(), count.into());
        }
    }
    if owner.kind.group == "apps" {
        status.insert("terminatingReplicas".to_owned(), leaving.into());
    }
    let before = at(set, &["status", "conditions"]).and_then(Value::as_array);
    let mut conditions: Vec<Value> = before.cloned().unwrap_or_default();
    match failure {
        Some(message) => {
            let failed = json!({
                "type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                "message": message,
            });
            set_condition(&mut conditions, failed, &clock::seconds(desk.now));
        }
        None => conditions.retain(|c| c.get("type") != Some(&json!("ReplicaFailure"))),
    }
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
    (status, next)
}
