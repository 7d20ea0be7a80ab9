//! Jobs.

mod outcome;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::outcome::{JobLimits, JobOutcome, PodCounts, back_off, decided, outcome};
use super::conditions::{self, find, set_condition};
use super::context::Context;
use super::pods::{
    count, has_ended, is_active, is_ready, is_terminating, new_pod, phase, ready_since,
    restart_counts, set_counts,
};
use super::replica_sets::{BURST, MAX_PODS};
use super::write;
use crate::clock;
use crate::object::{Object, at, is_deleting, number, object, string, text};
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Propagation};
use crate::store::Stored;

pub(super) fn reconcile(ctx: &mut Context<'_>) -> Option<Duration> {
    let kind = ctx.builtin("", "pods")?;
    let job = ctx.object();
    if is_deleting(job) {
        return None;
    }
    if let Some(finished) = finished_at(job) {
        return expire(ctx, finished);
    }
    let mut pods = ctx.claim(&kind, |_| true);
    let mut status = object(at(job, &["status"]).cloned().unwrap_or_default());
    let suspended = at(job, &["spec", "suspend"]) == Some(&Value::Bool(true));
    if !suspended && !status.contains_key("startTime") {
        status.insert("startTime".to_owned(), clock::seconds(ctx.now).into());
    }
    let mut counts = pod_counts(job, &pods);
    let limits = limits(job, &status, ctx.now);
    let mut conditions = conditions::of(job);
    let mut again = None;
    let outcome = decided(&conditions).unwrap_or_else(|| outcome(limits, counts));
    match &outcome {
        _ if suspended => delete_active(ctx, &kind, &mut pods),
        JobOutcome::Run(change) => {
            again = scale(ctx, &kind, *change, &mut pods, counts.failed);
            again = [again, limits.deadline_in].into_iter().flatten().min();
        }
        JobOutcome::Complete => {
            delete_active(ctx, &kind, &mut pods);
            let why = (
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            );
            let types = ["SuccessCriteriaMet", "Complete"];
            if conclude(&mut conditions, types, why, &pods, ctx.now) {
                let now = clock::seconds(ctx.now);
                status.insert("completionTime".to_owned(), now.into());
            }
        }
        JobOutcome::Failed(reason, message) => {
            // Pods that still run count as failed.
            counts.failed = counts.failed.saturating_add(counts.active);
            delete_active(ctx, &kind, &mut pods);
            let types = ["FailureTarget", "Failed"];
            conclude(&mut conditions, types, (reason, message), &pods, ctx.now);
        }
    }
    set_suspended(&mut conditions, suspended, ctx.now);
    conditions::put(&mut status, conditions);
    set_pod_counts(&mut status, &pods, counts);
    ctx.set_status(status);
    again
}

fn finished_at(job: &Object) -> Option<Timestamp> {
    let conditions = at(job, &["status", "conditions"])?.as_array()?;
    let finished = ["Complete", "Failed"]
        .into_iter()
        .filter_map(|kind| find(conditions, kind))
        .find(|condition| string(condition, "status") == "True")?;
    string(finished, "lastTransitionTime").parse().ok()
}

/// Deletes a finished Job after `ttlSecondsAfterFinished`.
fn expire(ctx: &Context<'_>, finished: Timestamp) -> Option<Duration> {
    let ttl = at(ctx.object(), &["spec", "ttlSecondsAfterFinished"])?.as_i64()?;
    let left = clock::left_until(finished, ttl, ctx.now);
    if !left.is_zero() {
        return Some(left);
    }
    let options = DeleteOptions {
        propagation: Some(Propagation::Background),
        ..DeleteOptions::default()
    };
    write::delete(ctx.cluster, ctx.kind, ctx.owner, options);
    None
}

fn limits(job: &Object, status: &Object, now: Timestamp) -> JobLimits {
    let started = text(status, &["startTime"]).and_then(|time| time.parse::<Timestamp>().ok());
    let seconds = at(job, &["spec", "activeDeadlineSeconds"]).and_then(Value::as_i64);
    let deadline = started.zip(seconds);
    let policy = text(job, &["spec", "template", "spec", "restartPolicy"]);
    JobLimits {
        completions: at(job, &["spec", "completions"]).and_then(Value::as_i64),
        parallelism: number(job, &["spec", "parallelism"], 1).clamp(0, MAX_PODS),
        back_off_limit: number(job, &["spec", "backoffLimit"], 6),
        restarts_in_place: policy == Some("OnFailure"),
        deadline_in: deadline.map(|(started, seconds)| clock::left_until(started, seconds, now)),
    }
}

/// Counts the pods. Those that the status counts as succeeded or failed stay counted.
fn pod_counts(job: &Object, pods: &[Arc<Stored>]) -> PodCounts {
    let in_phase = |name| count(pods.iter().filter(|p| phase(&p.object) == Some(name)));
    let active = || pods.iter().filter(|pod| is_active(&pod.object));
    PodCounts {
        active: count(active()),
        succeeded: in_phase("Succeeded").max(number(job, &["status", "succeeded"], 0)),
        failed: in_phase("Failed").max(number(job, &["status", "failed"], 0)),
        restarts: active().flat_map(|pod| restart_counts(&pod.object)).sum(),
    }
}

/// Creates or deletes pods. Returns when to reconcile again.
fn scale(
    ctx: &mut Context<'_>,
    kind: &Kind,
    change: i64,
    pods: &mut Vec<Arc<Stored>>,
    failed: i64,
) -> Option<Duration> {
    if change < 0 {
        let mut surplus = -change;
        pods.retain(|pod| {
            let deleted = surplus > 0 && is_active(&pod.object);
            if deleted {
                surplus -= 1;
                ctx.delete(kind, pod);
            }
            !deleted
        });
        return None;
    }
    if change == 0 {
        return None;
    }
    let failed_pods = pods.iter().filter(|p| phase(&p.object) == Some("Failed"));
    if let Some(last) = failed_pods.filter_map(|p| ready_since(&p.object)).max() {
        let since = Duration::try_from(ctx.now.duration_since(last)).unwrap_or_default();
        let left = back_off(failed).saturating_sub(since);
        if !left.is_zero() {
            return Some(left);
        }
    }
    let pod = new_pod(ctx.object());
    let missing = usize::try_from(change).unwrap_or(0);
    for _ in 0..missing.min(BURST) {
        match ctx.create(kind, &pod) {
            Ok(created) => pods.push(created),
            Err(why) => {
                tracing::debug!(?why, job = ctx.owner.name, "cannot create a pod");
                return None;
            }
        }
    }
    (missing > BURST).then_some(Duration::ZERO)
}

/// Deletes the active pods, and replaces all by their present versions.
fn delete_active(ctx: &Context<'_>, kind: &Kind, pods: &mut Vec<Arc<Stored>>) {
    for pod in pods.iter().filter(|pod| is_active(&pod.object)) {
        ctx.delete(kind, pod);
    }
    let current = |pod: &Arc<Stored>| {
        let store = &ctx.cluster.store;
        let found = store.get(&kind.storage, &pod.namespace, &pod.name)?;
        (found.uid() == pod.uid()).then_some(found)
    };
    *pods = pods.iter().filter_map(current).collect();
}

/// Sets the first condition and, once all pods have ended, the second. Returns whether they have.
fn conclude(
    conditions: &mut Vec<Value>,
    [decided, finished]: [&str; 2],
    (reason, message): (&str, &str),
    pods: &[Arc<Stored>],
    now: Timestamp,
) -> bool {
    let now = clock::seconds(now);
    let all_ended = pods.iter().all(|pod| has_ended(&pod.object));
    for kind in [Some(decided), all_ended.then_some(finished)] {
        if let Some(kind) = kind.filter(|kind| find(conditions, kind).is_none()) {
            let condition = json!({
                "type": kind, "status": "True", "reason": reason, "message": message,
                "lastProbeTime": now,
            });
            set_condition(conditions, condition, &now);
        }
    }
    all_ended
}

fn set_suspended(conditions: &mut Vec<Value>, suspended: bool, now: Timestamp) {
    let before = find(conditions, "Suspended").map(|c| string(c, "status") == "True");
    let (status, reason, message) = match (before, suspended) {
        (None | Some(false), true) => ("True", "JobSuspended", "Job suspended"),
        (Some(true), false) => ("False", "JobResumed", "Job resumed"),
        _ => return,
    };
    let now = clock::seconds(now);
    let condition = json!({
        "type": "Suspended", "status": status, "reason": reason, "message": message,
        "lastProbeTime": now,
    });
    set_condition(conditions, condition, &now);
}

fn set_pod_counts(status: &mut Object, pods: &[Arc<Stored>], counts: PodCounts) {
    let of = |filter: &dyn Fn(&Object) -> bool| count(pods.iter().filter(|p| filter(&p.object)));
    let counts = [
        ("active", of(&is_active)),
        ("succeeded", counts.succeeded),
        ("failed", counts.failed),
    ];
    set_counts(status, counts);
    let ready = of(&|pod| is_active(pod) && is_ready(pod));
    status.insert("ready".to_owned(), ready.into());
    status.insert("terminating".to_owned(), of(&is_terminating).into());
    status.insert("uncountedTerminatedPods".to_owned(), json!({}));
}
