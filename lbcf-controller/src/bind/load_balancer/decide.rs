//! What a Bind's load balancer needs next. No I/O; the time is an argument.

use crate::api::{
    Bind, ConditionStatus, Conditions, LoadBalancerDriver, StringMap, TargetLoadBalancer,
    TargetLoadBalancerStatus, condition_types,
};
use crate::bind::status;
use crate::index::Lookup;
use crate::names::FINALIZER_LOAD_BALANCER;
use crate::periodic::Due;
use jiff::Timestamp;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancerRequest, DeleteLoadBalancerRequest, EnsureLoadBalancerRequest,
};
use std::sync::Arc;
use std::time::Duration;

/// What deciding looks at.
#[derive(Debug)]
pub(crate) struct View {
    /// The Bind.
    pub bind: Arc<Bind>,
    /// The load balancer's name in it.
    pub name: String,
    /// Its driver: the one that has it, or else the one that shall.
    pub driver: Lookup<Arc<LoadBalancerDriver>>,
    /// How many records register something to it.
    pub records: usize,
    /// Whether there are records that cannot be understood, and might be this load balancer's.
    pub unreadable_records: bool,
    /// When it is ensured again although its attributes are synced.
    pub due: Due,
    /// The time.
    pub now: Timestamp,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Everything is as it shall be, or somebody else's change is waited for.
    Nothing,
    /// It failed, and the time until it is tried again is not over.
    Wait(Duration),
    /// Store that creating begins, and from what, so that whoever comes later can finish it.
    MarkCreating(TargetLoadBalancerStatus),
    /// Store that it goes: its backends go first (d15).
    MarkLeaving,
    /// It goes, but there are records that cannot be understood and might be its own: look again
    /// later.
    AwaitUnreadable,
    /// The driver does not exist: say so, and wait for it.
    ReportDriverMissing,
    /// Call `createLoadBalancer`.
    Create(CreateLoadBalancerRequest),
    /// Call `ensureLoadBalancer`.
    Ensure(EnsureLoadBalancerRequest),
    /// It goes, but creating was begun and its end is not known: finish that first, as only its
    /// answer tells what has to be deleted (u7).
    FinishCreating(CreateLoadBalancerRequest),
    /// Call `deleteLoadBalancer`, then drop its entry.
    Delete(DeleteLoadBalancerRequest),
    /// Drop its entry: nobody was ever called for it (u7).
    Drop,
}

/// The driver that a load balancer's next call goes to.
#[must_use]
pub(crate) fn driver_name<'a>(bind: &'a Bind, name: &str) -> Option<&'a str> {
    let there = status::entry(bind, name).map(|entry| entry.driver.as_str());
    there
        .filter(|driver| !driver.is_empty())
        .or_else(|| wanted(bind, name).map(|lb| lb.driver.as_str()))
}

/// Decides the next step.
#[must_use]
pub(crate) fn decide(view: &View) -> Step {
    let bind = &*view.bind;
    let is_going = bind.metadata.deletion_timestamp.is_some();
    let mut finalizers = bind.metadata.finalizers.iter().flatten();
    if !finalizers.any(|finalizer| finalizer == FINALIZER_LOAD_BALANCER) {
        return Step::Nothing; // The Bind's own work stores it first (d30).
    }
    let wanted = wanted(bind, &view.name).filter(|_| !is_going);
    let Some(entry) = status::entry(bind, &view.name) else {
        return match (wanted, &view.driver) {
            (None, _) | (_, Lookup::Unreadable) => Step::Nothing,
            (Some(_), Lookup::Missing) => Step::ReportDriverMissing,
            (Some(wanted), Lookup::Found(_)) => Step::MarkCreating(beginning(view, wanted)),
        };
    };
    let is_another =
        |wanted: &&TargetLoadBalancer| !entry.driver.is_empty() && wanted.driver != entry.driver;
    let stays = entry.deletion_timestamp.is_none();
    match wanted {
        Some(wanted) if stays && !is_another(&wanted) => decide_staying(view, entry, wanted),
        _ if stays && !is_going => Step::MarkLeaving,
        _ => decide_leaving(view, entry),
    }
}

fn decide_staying(
    view: &View,
    entry: &TargetLoadBalancerStatus,
    wanted: &TargetLoadBalancer,
) -> Step {
    let is_created = entry.conditions.is_true(condition_types::CREATED);
    if is_created && is_synced(entry, wanted) && view.due != Due::Now {
        return Step::Nothing;
    }
    match view.driver {
        Lookup::Found(_) => {}
        Lookup::Unreadable => return Step::Nothing,
        Lookup::Missing => return Step::ReportDriverMissing,
    }
    if let Some(wait) = wait(view, entry) {
        return Step::Wait(wait);
    }
    if is_created {
        Step::Ensure(EnsureLoadBalancerRequest {
            record_id: record_id("ensureLoadBalancer", view),
            lb_info: entry.lb_info.to_wire(),
            attributes: wanted.attributes.to_wire(),
            ..EnsureLoadBalancerRequest::default()
        })
    } else if has_begun(entry) {
        Step::Create(create_request(view, &wanted.spec, &wanted.attributes))
    } else {
        Step::MarkCreating(beginning(view, wanted))
    }
}

/// u6: its backends go first; the last of their records wakes it.
fn decide_leaving(view: &View, entry: &TargetLoadBalancerStatus) -> Step {
    if view.records > 0 {
        return Step::Nothing;
    }
    if view.unreadable_records {
        return Step::AwaitUnreadable;
    }
    let is_created = entry.conditions.is_true(condition_types::CREATED);
    if !is_created && !has_begun(entry) {
        return Step::Drop;
    }
    match view.driver {
        Lookup::Found(_) => {}
        Lookup::Unreadable => return Step::Nothing,
        Lookup::Missing => return Step::ReportDriverMissing,
    }
    if let Some(wait) = wait(view, entry) {
        return Step::Wait(wait);
    }
    if is_created {
        return Step::Delete(delete_request(view, entry, &entry.lb_info));
    }
    let spec = match wanted(&view.bind, &view.name) {
        // The original did not store what creating began from.
        Some(wanted) if entry.lb_info.is_empty() => &wanted.spec,
        _ => &entry.lb_info,
    };
    let attributes = entry.last_synced_attributes.clone().unwrap_or_default();
    Step::FinishCreating(create_request(view, spec, &attributes))
}

/// Whether the driver has the attributes (b38), and nothing failed since.
fn is_synced(entry: &TargetLoadBalancerStatus, wanted: &TargetLoadBalancer) -> bool {
    let ready = entry.conditions.find(condition_types::READY);
    let has_failed = ready.is_some_and(|ready| ready.status == ConditionStatus::False);
    let has_none = wanted.attributes.is_empty() && entry.last_synced_attributes.is_none();
    !has_failed && (has_none || entry.last_synced_attributes.as_ref() == Some(&wanted.attributes))
}

/// Whether creating was begun and is not known to be done: `Created` is False then, and Unknown as
/// long as nobody was called.
pub(super) fn has_begun(entry: &TargetLoadBalancerStatus) -> bool {
    let created = entry.conditions.find(condition_types::CREATED);
    created.is_some_and(|created| created.status == ConditionStatus::False)
}

/// How long a load balancer waits that failed (u29). A change of the Bind ends the wait, its
/// deletion too: the condition that tells of the failure is then of an earlier generation.
fn wait(view: &View, entry: &TargetLoadBalancerStatus) -> Option<Duration> {
    let retry_after: Timestamp = entry.retry_after.as_ref()?.parse().ok()?;
    let generation = view.bind.metadata.generation;
    let has_failed = entry.conditions.iter().any(|condition| {
        condition.status == ConditionStatus::False && condition.observed_generation == generation
    });
    if !has_failed {
        return None;
    }
    let left = retry_after.duration_since(view.now);
    Duration::try_from(left).ok().filter(|left| !left.is_zero())
}

fn wanted<'a>(bind: &'a Bind, name: &str) -> Option<&'a TargetLoadBalancer> {
    bind.spec.load_balancers.iter().find(|lb| lb.name == name)
}

/// The entry of a load balancer whose creation begins. What it is made from is stored in it: the
/// spec may be gone by the time that somebody has to finish this.
fn beginning(view: &View, wanted: &TargetLoadBalancer) -> TargetLoadBalancerStatus {
    let old = status::entry(&view.bind, &view.name);
    TargetLoadBalancerStatus {
        name: wanted.name.clone(),
        driver: wanted.driver.clone(),
        lb_info: wanted.spec.clone(),
        last_synced_attributes: Some(wanted.attributes.clone()),
        conditions: old.map(|old| old.conditions.clone()).unwrap_or_default(),
        ..TargetLoadBalancerStatus::default()
    }
}

fn create_request(
    view: &View,
    spec: &StringMap,
    attributes: &StringMap,
) -> CreateLoadBalancerRequest {
    CreateLoadBalancerRequest {
        record_id: record_id("createLoadBalancer", view),
        lb_spec: spec.to_wire(),
        attributes: attributes.to_wire(),
        ..CreateLoadBalancerRequest::default()
    }
}

/// The request that deletes what `lb_info` names (u4).
pub(super) fn delete_request(
    view: &View,
    entry: &TargetLoadBalancerStatus,
    lb_info: &StringMap,
) -> DeleteLoadBalancerRequest {
    let attributes = entry.last_synced_attributes.clone().unwrap_or_default();
    DeleteLoadBalancerRequest {
        record_id: record_id("deleteLoadBalancer", view),
        lb_info: lb_info.to_wire(),
        attributes: attributes.to_wire(),
        ..DeleteLoadBalancerRequest::default()
    }
}

/// d28, u12: one task for each webhook of each load balancer.
fn record_id(webhook: &str, view: &View) -> String {
    let uid = view.bind.metadata.uid.as_deref().unwrap_or_default();
    format!("{webhook}({uid}-{})", view.name)
}

#[cfg(test)]
mod tests;
