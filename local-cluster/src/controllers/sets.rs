//! ReplicaSets, StatefulSets (without volumes) and DaemonSets: one controller with a row for each kind.

mod by_node;
mod by_ordinal;
mod plan;
mod replicas;

use std::time::Duration;

use serde_json::json;

use self::plan::{BURST, MAX_PODS, Set};
use super::context::Context;
use crate::clock;
use crate::conditions::{conditions_of, put_conditions, set_condition};
use crate::object::{Object, generation, is_deleting, number};
use crate::resources::Kind;

/// Creates and deletes pods, and writes the status of those that there were before.
pub(super) fn reconcile(ctx: &mut Context<'_>) -> Option<Duration> {
    let pods = ctx.builtin("", "pods")?;
    let object = ctx.object();
    let kind = ctx.kind.plural.as_str();
    // Pods that do not fit are never adopted.
    let fits = |pod: &Object| kind != "statefulsets" || by_ordinal::fits(object, pod);
    let set = Set {
        object,
        pods: ctx.claim(&pods, fits),
        now: ctx.now,
    };
    let plan = match kind {
        "statefulsets" => by_ordinal::plan(&set),
        "daemonsets" => by_node::plan(&set, ctx.cluster),
        _ => replicas::plan(&set),
    };
    let mut failure = None;
    if !is_deleting(object) {
        for pod in &plan.delete {
            ctx.delete(&pods, pod);
        }
        failure = create(ctx, &pods, &plan.create).err();
        if failure.is_none() && number(object, &["spec", "replicas"], 1) > MAX_PODS {
            failure = Some(format!("at most {MAX_PODS} pods are created"));
        }
    }
    let more = plan.create.len() > BURST && failure.is_none();
    set_status(ctx, plan.status, failure);
    if more {
        return Some(Duration::ZERO);
    }
    plan.next_available
}

/// Creates pods until one cannot be created; the error is the reason.
fn create(ctx: &mut Context<'_>, kind: &Kind, pods: &[Object]) -> Result<(), String> {
    for pod in pods.iter().take(BURST) {
        match ctx.create(kind, pod) {
            // Another pod has the name; the end of that one is an event.
            Err(why) if why.reason() != "AlreadyExists" => return Err(why.message().to_owned()),
            _ => {}
        }
    }
    Ok(())
}

fn set_status(ctx: &Context<'_>, mut status: Object, failure: Option<String>) {
    let set = ctx.object();
    status.insert("observedGeneration".to_owned(), generation(set).into());
    let mut conditions = conditions_of(set);
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
    put_conditions(&mut status, conditions);
    ctx.set_status(status);
}
