//! ReplicaSets and ReplicationControllers.

mod deletion_order;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use self::deletion_order::pods_to_delete;
use super::conditions::{self, set_condition};
use super::context::Context;
use super::pods::{available, count, is_active, is_ready, is_terminating, new_pod, set_counts};
use crate::clock;
use crate::object::{Object, at, generation, is_deleting, number, object};
use crate::resources::Kind;
use crate::store::Stored;

/// How many pods are created before other workloads are reconciled.
pub(super) const BURST: usize = 500;

/// How many pods a workload may have at most, so that a typing error does not exhaust the memory.
pub(super) const MAX_PODS: i64 = 10_000;

pub(super) fn reconcile(ctx: &mut Context<'_>) -> Option<Duration> {
    let kind = ctx.builtin("", "pods")?;
    let all = ctx.claim(&kind, |_| true);
    let (mut active, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|p| is_active(&p.object));
    let mut terminating = count(rest.iter().filter(|p| is_terminating(&p.object)));
    let desired = number(ctx.object(), &["spec", "replicas"], 1);
    let (mut failure, mut again) = (None, None);
    if !is_deleting(ctx.object()) {
        let missing = desired.min(MAX_PODS) - count(&active);
        if missing > 0 {
            let missing = usize::try_from(missing).unwrap_or(0);
            failure = create_pods(ctx, &kind, missing.min(BURST), &mut active).err();
            again = (missing > BURST && failure.is_none()).then_some(Duration::ZERO);
        } else if desired < count(&active) {
            let surplus = usize::try_from(-missing).unwrap_or(0);
            let deleted = pods_to_delete(&active, surplus);
            for pod in active.extract_if(.., |pod| deleted.contains(pod.uid())) {
                ctx.delete(&kind, &pod);
            }
            terminating += -missing;
        }
        if desired > MAX_PODS {
            failure = Some(format!("at most {MAX_PODS} pods are created"));
        }
    }
    let (status, next) = status(ctx, &active, terminating, failure);
    ctx.set_status(status);
    again.or(next)
}

/// Creates pods until one cannot be created; the error is the reason.
fn create_pods(
    ctx: &mut Context<'_>,
    kind: &Kind,
    count: usize,
    active: &mut Vec<Arc<Stored>>,
) -> Result<(), String> {
    let pod = new_pod(ctx.object());
    for _ in 0..count {
        let created = ctx.create(kind, &pod);
        active.push(created.map_err(|why| why.message(kind, "", &ctx.owner.namespace))?);
    }
    Ok(())
}

fn status(
    ctx: &Context<'_>,
    active: &[Arc<Stored>],
    terminating: i64,
    failure: Option<String>,
) -> (Object, Option<Duration>) {
    let set = ctx.object();
    let pods = || active.iter().map(|pod| &pod.object);
    let template = at(set, &["spec", "template", "metadata", "labels"]).and_then(Value::as_object);
    let labelled = |pod: &&Object| {
        let label = |key: &String| at(pod, &["metadata", "labels", key]);
        template.is_none_or(|labels| labels.iter().all(|(key, value)| label(key) == Some(value)))
    };
    let seconds = number(set, &["spec", "minReadySeconds"], 0);
    let (available, next) = available(pods(), seconds, ctx.now);
    let mut status = object(json!({
        "replicas": active.len(), "observedGeneration": generation(set),
    }));
    let counts = [
        ("fullyLabeledReplicas", count(pods().filter(labelled))),
        ("readyReplicas", count(pods().filter(|pod| is_ready(pod)))),
        ("availableReplicas", available),
    ];
    set_counts(&mut status, counts);
    if ctx.kind.group == "apps" {
        status.insert("terminatingReplicas".to_owned(), terminating.into());
    }
    let mut conditions = conditions::of(set);
    match failure {
        Some(message) => {
            let failed = json!({
                "type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
                "message": message,
            });
            set_condition(&mut conditions, failed, &clock::seconds(ctx.now));
        }
        None => conditions.retain(|c| c.get("type") != Some(&json!("ReplicaFailure"))),
    }
    conditions::put(&mut status, conditions);
    (status, next)
}
