//! Jobs: pods that are run until so many have succeeded.

mod outcome;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use self::outcome::{Limits, Outcome, Tally, decided, outcome};
use super::conditions::{find, said, set_condition};
use super::desk::{Desk, Owner};
use super::pods::{from_template, has_ended, is_active, is_ready, number};
use super::replica_sets::{BURST, MOST_PODS};
use crate::clock;
use crate::object::{Object, at, child, is_deleting, object, text};
use crate::resources::Kind;
use crate::rules::Propagation;
use crate::selector::LabelSelector;
use crate::store::Stored;

/// Looks at one Job.
pub(super) fn sync(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    selector: &LabelSelector,
) -> Option<Duration> {
    let kind = desk.kind("", "pods")?;
    let job = owner.object();
    if is_deleting(job) {
        return None;
    }
    if let Some(ended) = ended_at(job) {
        return expire(desk, owner, ended);
    }
    let mut pods = desk.claim(&kind, owner, selector, |_| true);
    let mut status = object(at(job, &["status"]).cloned().unwrap_or_default());
    let suspended = at(job, &["spec", "suspend"]) == Some(&Value::Bool(true));
    if !suspended && !status.contains_key("startTime") {
        status.insert("startTime".to_owned(), clock::seconds(desk.now).into());
    }
    let mut tally = tally(job, &pods);
    let limits = limits(job, &status, desk.now);
    let (mut again, mut conditions) = (None, conditions(&status));
    let verdict = decided(&conditions).unwrap_or_else(|| outcome(limits, tally));
    match &verdict {
        _ if suspended => end_all(desk, &kind, &mut pods),
        Outcome::Run(change) => {
            again = run(desk, owner, &kind, *change, &mut pods, tally);
            let deadline = limits.deadline_in;
            again = [again, deadline].into_iter().flatten().min();
        }
        Outcome::Complete => {
            end_all(desk, &kind, &mut pods);
            let why = (
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            );
            conclude(
                desk,
                &mut status,
                &mut conditions,
                ["SuccessCriteriaMet", "Complete"],
                why,
                &pods,
            );
        }
        Outcome::Failed(reason, message) => {
            // Those that run still have failed with it.
            tally.failed = tally.failed.saturating_add(tally.active);
            end_all(desk, &kind, &mut pods);
            conclude(
                desk,
                &mut status,
                &mut conditions,
                ["FailureTarget", "Failed"],
                (reason, message),
                &pods,
            );
        }
    }
    suspension(&mut conditions, suspended, desk.now);
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
    count(&mut status, &pods, tally);
    super::write::set_status(desk.cluster, owner.kind, owner.stored, status);
    again
}

/// When a Job was over.
fn ended_at(job: &Object) -> Option<Timestamp> {
    let conditions = at(job, &["status", "conditions"])?.as_array()?;
    let over = ["Complete", "Failed"]
        .into_iter()
        .filter_map(|kind| find(conditions, kind))
        .find(|condition| said(condition, "status") == "True")?;
    said(over, "lastTransitionTime").parse().ok()
}

/// Deletes a Job whose time after its end is over.
fn expire(desk: &Desk<'_>, owner: Owner<'_>, ended: Timestamp) -> Option<Duration> {
    let seconds = at(owner.object(), &["spec", "ttlSecondsAfterFinished"])?.as_i64()?;
    let ttl = jiff::SignedDuration::from_secs(seconds.clamp(0, u32::MAX.into()));
    let ends = ended.checked_add(ttl).ok()?;
    if ends > desk.now {
        return Duration::try_from(ends.duration_since(desk.now)).ok();
    }
    let options = crate::rules::DeleteOptions {
        uid: Some(owner.stored.uid().to_owned()),
        propagation: Some(Propagation::Background),
        ..crate::rules::DeleteOptions::default()
    };
    let place = (&owner.stored.namespace, &owner.stored.name);
    // Gone already: nothing is left to do.
    let _ = desk.cluster.delete(owner.kind, place.0, place.1, &options);
    None
}

fn limits(job: &Object, status: &Object, now: Timestamp) -> Limits {
    let started = text(status, &["startTime"]).and_then(|time| time.parse::<Timestamp>().ok());
    let seconds = at(job, &["spec", "activeDeadlineSeconds"]).and_then(Value::as_i64);
    let deadline_in = started.zip(seconds).map(|(started, seconds)| {
        let wait = jiff::SignedDuration::from_secs(seconds.clamp(0, u32::MAX.into()));
        let ends = started.checked_add(wait).unwrap_or(Timestamp::MAX);
        Duration::try_from(ends.duration_since(now)).unwrap_or_default()
    });
    let restarts = text(job, &["spec", "template", "spec", "restartPolicy"]) == Some("OnFailure");
    Limits {
        completions: at(job, &["spec", "completions"]).and_then(Value::as_i64),
        parallelism: number(job, &["spec", "parallelism"], 1).clamp(0, MOST_PODS),
        backoff: number(job, &["spec", "backoffLimit"], 6),
        restarts_in_place: restarts,
        deadline_in,
    }
}

/// How many pods there are of each sort; what succeeded or failed once stays counted.
fn tally(job: &Object, pods: &[Arc<Stored>]) -> Tally {
    let phase = |wanted: &str| {
        let in_phase = |p: &&Arc<Stored>| text(&p.object, &["status", "phase"]) == Some(wanted);
        i64::try_from(pods.iter().filter(in_phase).count()).unwrap_or(i64::MAX)
    };
    let active = pods.iter().filter(|pod| is_active(&pod.object));
    let restarts = active
        .clone()
        .map(|pod| outcome::restarts(&pod.object))
        .sum();
    Tally {
        active: i64::try_from(active.count()).unwrap_or(i64::MAX),
        succeeded: phase("Succeeded").max(number(job, &["status", "succeeded"], 0)),
        failed: phase("Failed").max(number(job, &["status", "failed"], 0)),
        restarts,
    }
}

/// Makes or ends pods; says when to look again.
fn run(
    desk: &mut Desk<'_>,
    owner: Owner<'_>,
    kind: &Kind,
    change: i64,
    pods: &mut Vec<Arc<Stored>>,
    tally: Tally,
) -> Option<Duration> {
    if change < 0 {
        let surplus = usize::try_from(-change).unwrap_or(0);
        let active = pods.iter().filter(|pod| is_active(&pod.object)).cloned();
        let surplus: Vec<_> = active.take(surplus).collect();
        for pod in &surplus {
            desk.delete(kind, pod);
        }
        pods.retain(|pod| !surplus.iter().any(|gone| gone.uid() == pod.uid()));
        return None;
    }
    if change == 0 {
        return None;
    }
    let failures = pods.iter().filter_map(|pod| failed_at(&pod.object));
    if let Some(last) = failures.max() {
        let wait = outcome::pause(tally.failed);
        let left = wait.saturating_sub(since(last, desk.now));
        if !left.is_zero() {
            return Some(left);
        }
    }
    let job = owner.object();
    let template = at(job, &["spec", "template"]).unwrap_or(&Value::Null);
    let mut pod = from_template(template, &owner.stored.namespace);
    let generate = format!("{}-", owner.stored.name);
    child(&mut pod, "metadata").insert("generateName".to_owned(), generate.into());
    let count = usize::try_from(change).unwrap_or(0);
    for _ in 0..count.min(BURST) {
        match desk.create(kind, owner, &pod) {
            Ok(made) => pods.push(made),
            Err(why) => {
                tracing::debug!(?why, job = owner.stored.name, "no pod was made");
                return None;
            }
        }
    }
    (count > BURST).then_some(Duration::ZERO)
}

/// When a pod failed.
fn failed_at(pod: &Object) -> Option<Timestamp> {
    if text(pod, &["status", "phase"]) != Some("Failed") {
        return None;
    }
    let ready = crate::object::condition(pod, "Ready")?;
    said(ready, "lastTransitionTime").parse().ok()
}

fn since(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(time)).unwrap_or_default()
}

fn end_all(desk: &mut Desk<'_>, kind: &Kind, pods: &mut Vec<Arc<Stored>>) {
    for pod in pods.iter().filter(|pod| is_active(&pod.object)) {
        desk.delete(kind, pod);
    }
    let place = |pod: &Arc<Stored>| {
        desk.cluster
            .store
            .get(&kind.storage, &pod.namespace, &pod.name)
            .filter(|found| found.uid() == pod.uid())
    };
    *pods = pods.iter().filter_map(place).collect();
}

fn conditions(status: &Object) -> Vec<Value> {
    let conditions = status.get("conditions").and_then(Value::as_array);
    conditions.cloned().unwrap_or_default()
}

/// Says what becomes of a Job, and when its last pod has ended that it has.
fn conclude(
    desk: &Desk<'_>,
    status: &mut Object,
    conditions: &mut Vec<Value>,
    [first, then]: [&str; 2],
    (reason, message): (&str, &str),
    pods: &[Arc<Stored>],
) {
    let now = clock::seconds(desk.now);
    let mut say = |kind: &str| {
        let condition = json!({
            "type": kind, "status": "True", "reason": reason, "message": message,
            "lastProbeTime": now,
        });
        if find(conditions, kind).is_none() {
            set_condition(conditions, condition, &now);
        }
    };
    say(first);
    if pods.iter().all(|pod| has_ended(&pod.object)) {
        say(then);
        if then == "Complete" {
            status.insert("completionTime".to_owned(), now.clone().into());
        }
    }
}

fn suspension(conditions: &mut Vec<Value>, suspended: bool, now: Timestamp) {
    let known = find(conditions, "Suspended").map(|c| said(c, "status") == "True");
    let (status, reason, message) = match (known, suspended) {
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

fn count(status: &mut Object, pods: &[Arc<Stored>], tally: Tally) {
    let of = |wanted: &dyn Fn(&Object) -> bool| pods.iter().filter(|p| wanted(&p.object)).count();
    let active = of(&is_active);
    let ready = of(&|pod| is_active(pod) && is_ready(pod));
    let leaving = of(&|pod| is_deleting(pod) && !has_ended(pod));
    for (key, count) in [
        ("active", active),
        ("succeeded", usize::try_from(tally.succeeded).unwrap_or(0)),
        ("failed", usize::try_from(tally.failed).unwrap_or(0)),
    ] {
        if count > 0 {
            status.insert(key.to_owned(), count.into());
        } else {
            status.remove(key);
        }
    }
    status.insert("ready".to_owned(), ready.into());
    status.insert("terminating".to_owned(), leaving.into());
    status.insert("uncountedTerminatedPods".to_owned(), json!({}));
}
