//! What a load balancer needs next. No I/O, no clock.

use crate::api::{
    ConditionStatus, Conditions, LoadBalancer, LoadBalancerDriver, LoadBalancerStatus, StringMap,
    condition_types,
};
use crate::index::Lookup;
use crate::names::FINALIZER_LOAD_BALANCER;
use crate::periodic::Due;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancerRequest, DeleteLoadBalancerRequest, EnsureLoadBalancerRequest,
};
use std::sync::Arc;

/// What deciding looks at.
#[derive(Debug)]
pub(crate) struct View {
    /// The load balancer.
    pub lb: Arc<LoadBalancer>,
    /// Its driver.
    pub driver: Lookup<Arc<LoadBalancerDriver>>,
    /// How many records register something to it.
    pub records: usize,
    /// When it is ensured again although its attributes are synced.
    pub due: Due,
    /// Whether there are records that cannot be understood, and might be this load balancer's.
    pub unreadable_records: bool,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Everything is as it shall be, or somebody else's change is waited for.
    Nothing,
    /// Store the finalizer: without it the load balancer could go before the cloud's is deleted
    /// (d30).
    AddFinalizer,
    /// Store that creating begins, so that whoever comes later knows of it.
    MarkCreating,
    /// It is to go, but there are records that cannot be understood and might be its own: look
    /// again later.
    AwaitUnreadable,
    /// The driver does not exist: say so, and wait for it.
    ReportDriverMissing,
    /// Call `createLoadBalancer`.
    Create(CreateLoadBalancerRequest),
    /// Call `ensureLoadBalancer`.
    Ensure(EnsureLoadBalancerRequest),
    /// It is to go, but creating was begun and its end is not known. Finish that first: only its
    /// answer tells what has to be deleted.
    FinishCreating(CreateLoadBalancerRequest),
    /// Call `deleteLoadBalancer`, then let it go.
    Delete(DeleteLoadBalancerRequest),
}

/// Decides the next step.
#[must_use]
pub(crate) fn decide(view: &View) -> Step {
    let lb = &*view.lb;
    let has_finalizer = lb
        .metadata
        .finalizers
        .iter()
        .flatten()
        .any(|finalizer| finalizer == FINALIZER_LOAD_BALANCER);
    if lb.metadata.deletion_timestamp.is_some() {
        return if has_finalizer {
            decide_deletion(view)
        } else {
            Step::Nothing
        };
    }
    if !has_finalizer {
        return Step::AddFinalizer;
    }
    let status = lb.status.clone().unwrap_or_default();
    let is_created = status.conditions.is_true(condition_types::CREATED);
    if is_created && is_synced(lb, &status) && view.due != Due::Now {
        return Step::Nothing;
    }
    match view.driver {
        Lookup::Found(_) => {}
        Lookup::Unreadable => return Step::Nothing,
        Lookup::Missing => return Step::ReportDriverMissing,
    }
    if is_created {
        Step::Ensure(EnsureLoadBalancerRequest {
            record_id: record_id("ensureLoadBalancer", lb),
            lb_info: status.lb_info.to_wire(),
            attributes: lb.spec.attributes.to_wire(),
            ..EnsureLoadBalancerRequest::default()
        })
    } else if has_begun(&status) {
        Step::Create(create_request(lb))
    } else {
        Step::MarkCreating
    }
}

/// Whether the driver has the attributes. They are compared with what it was last given, not with
/// a flag (d6, u1); and where giving it others failed since, nobody knows what it has.
fn is_synced(lb: &LoadBalancer, status: &LoadBalancerStatus) -> bool {
    let synced = status.conditions.find(condition_types::ATTRIBUTES_SYNCED);
    let has_failed = synced.is_some_and(|condition| condition.status == ConditionStatus::False);
    !has_failed && status.last_synced_attributes.as_ref() == Some(&lb.spec.attributes)
}

fn decide_deletion(view: &View) -> Step {
    let lb = &*view.lb;
    // u18: its backends go first; the last of their records wakes this load balancer.
    if view.records > 0 {
        return Step::Nothing;
    }
    if view.unreadable_records {
        return Step::AwaitUnreadable;
    }
    match view.driver {
        Lookup::Found(_) => {}
        Lookup::Unreadable => return Step::Nothing,
        Lookup::Missing => return Step::ReportDriverMissing,
    }
    let status = lb.status.clone().unwrap_or_default();
    if has_begun(&status) {
        return Step::FinishCreating(create_request(lb));
    }
    Step::Delete(delete_request(lb, &status.lb_info))
}

/// Whether creating was begun and is not known to be done: `Created` is False then, and Unknown as
/// long as nobody was called.
pub(super) fn has_begun(status: &LoadBalancerStatus) -> bool {
    let created = status.conditions.find(condition_types::CREATED);
    created.is_some_and(|condition| condition.status == ConditionStatus::False)
}

/// The request that deletes what `lb_info` names; the empty one where nothing was created (b104).
pub(super) fn delete_request(lb: &LoadBalancer, lb_info: &StringMap) -> DeleteLoadBalancerRequest {
    DeleteLoadBalancerRequest {
        record_id: record_id("deleteLoadBalancer", lb),
        lb_info: lb_info.to_wire(),
        attributes: lb.spec.attributes.to_wire(),
        ..DeleteLoadBalancerRequest::default()
    }
}

fn create_request(lb: &LoadBalancer) -> CreateLoadBalancerRequest {
    CreateLoadBalancerRequest {
        record_id: record_id("createLoadBalancer", lb),
        lb_spec: lb.spec.lb_spec.to_wire(),
        attributes: lb.spec.attributes.to_wire(),
        ..CreateLoadBalancerRequest::default()
    }
}

/// d28: one task for each webhook of each object.
fn record_id(webhook: &str, lb: &LoadBalancer) -> String {
    format!(
        "{webhook}({})",
        lb.metadata.uid.as_deref().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
