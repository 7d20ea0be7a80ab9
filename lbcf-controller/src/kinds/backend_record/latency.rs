//! The times that backends take to be registered and deregistered. Those that they begin with are in the API, so that they
//! are the same after a restart.

use crate::api::{BackendRecord, Bind, Condition, Conditions, LoadBalancer, condition_types};
use crate::backends::pod_of;
use crate::index::{Index, Owner, PodView, RequestKey, load_balancer_of};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// A record is created, or deleted, at most this long after its pod became ready, or began to leave. If it
/// takes longer, the pod is not the cause: somebody changed what selects it.
const MAX_REACTION: SignedDuration = SignedDuration::from_mins(5);

const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Since when the backend of a record waits to be registered; none if it has been registered before.
pub(super) fn waits_since(index: &Index, record: &BackendRecord) -> Option<Timestamp> {
    let pod = pod_of(index, record);
    decide_waits_since(record, pod.as_deref(), possible_since(index, record))
}

fn decide_waits_since(
    record: &BackendRecord,
    pod: Option<&PodView>,
    possible: Option<Timestamp>,
) -> Option<Timestamp> {
    let created = created(record)?;
    if registered(record).is_some_and(|unmet| unmet.since() != Some(created)) {
        return None;
    }
    let ready = pod.filter(|pod| pod.is_available());
    let ready = ready.and_then(|pod| pod.since);
    let cause = ready.map(|ready| ready.max(possible.unwrap_or(ready)));
    Some(cause_of(created, cause))
}

/// Since when the backend of a record that is being deleted leaves.
pub(super) fn leaves_since(index: &Index, record: &BackendRecord) -> Option<Timestamp> {
    decide_leaves_since(record, pod_of(index, record).as_deref())
}

fn decide_leaves_since(record: &BackendRecord, pod: Option<&PodView>) -> Option<Timestamp> {
    let deleted = record.metadata.deletion_timestamp.as_ref()?.0;
    let gone = pod.filter(|pod| !pod.is_available());
    let left = gone.and_then(|pod| pod.since);
    Some(cause_of(deleted, left.map(|left| left.min(deleted))))
}

/// The time of what caused a record's creation or deletion.
fn cause_of(effect: Timestamp, cause: Option<Timestamp>) -> Timestamp {
    let cause = cause.filter(|cause| effect.duration_since(*cause) <= MAX_REACTION);
    cause.unwrap_or(effect)
}

/// The time since then, which may be by the clock of another machine: at least zero.
pub(super) fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

/// The time of a condition that says that a record is not registered: that of its creation if it never was, and only then.
pub(super) fn unmet_since(record: &BackendRecord, now: Timestamp) -> Timestamp {
    match (created(record), registered(record)) {
        (None, _) => now,
        (Some(created), None) => created,
        // Times are stored in seconds, and the API server's clock may be ahead.
        (Some(created), Some(_)) => created
            .checked_add(SECOND)
            .map_or(now, |next| next.max(now)),
    }
}

fn created(record: &BackendRecord) -> Option<Timestamp> {
    let created = record.metadata.creation_timestamp.as_ref();
    created.map(|time| time.0)
}

fn registered(record: &BackendRecord) -> Option<&Condition> {
    let status = record.status.as_ref()?;
    status.conditions.find(condition_types::REGISTERED)
}

/// Since when a record's owner and load balancer exist, without which no pod is registered.
fn possible_since(index: &Index, record: &BackendRecord) -> Option<Timestamp> {
    let owner = index.backend_owner(&Owner::of(record)?)?.metadata();
    let owner = owner.creation_timestamp.as_ref().map(|time| time.0);
    let created = |conditions: &[Condition]| conditions.find(condition_types::CREATED)?.since();
    let lb = match load_balancer_of(record) {
        RequestKey::LoadBalancer(key) => {
            let lb = index.find::<LoadBalancer>(&key);
            lb.and_then(|lb| created(&lb.status.as_ref()?.conditions))
        }
        RequestKey::BindLoadBalancer(key) => index.find::<Bind>(&key.bind).and_then(|bind| {
            let mut lbs = bind.status.as_ref()?.load_balancer_statuses.iter();
            created(&lbs.find(|lb| lb.name == key.name)?.conditions)
        }),
        _ => None,
    };
    owner.max(lb)
}

#[cfg(test)]
mod tests;
