//! The next step of a load balancer. No I/O; the time is an argument.

use crate::api::{
    Condition, ConditionStatus, Conditions, LoadBalancerDriver, StringMap, condition_types,
};
use crate::index::Lookup;
use crate::runtime::driver_protection::DriverProtection;
use crate::runtime::memory::Due;
use jiff::Timestamp;
use lbcf_driver_sdk::webhook::{CreateLoadBalancer, DeleteLoadBalancer, EnsureLoadBalancer};
use std::sync::Arc;
use std::time::Duration;

/// The state that a load balancer depends on besides the object that declares it.
#[derive(Debug)]
pub(crate) struct Observations {
    pub driver: Lookup<Arc<LoadBalancerDriver>>,
    /// Why the driver does not respond, if it did not when it was asked last.
    pub no_response: Option<String>,
    /// The number of records that register something to it.
    pub records: usize,
    pub first_record: Option<String>,
    /// True if there are records that cannot be parsed and might be this load balancer's.
    pub unreadable_records: bool,
    /// True if no driver may be called for it.
    pub is_paused: bool,
    /// When it is ensured again although its attributes are synced.
    pub due: Due,
    /// The time until a failed call is tried again.
    pub retry_in: Option<Duration>,
    pub now: Timestamp,
    /// A dry run proceeds as if what it cannot store were stored.
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadBalancerPhase {
    /// There is nothing to do without a finalizer or without a declaration.
    Inactive,
    /// The finalizer is missing: without it the object could be deleted before the load balancer.
    NeedsFinalizer,
    Kept,
    /// It is no longer declared, which has to be stored: its backends are deregistered first.
    NeedsDeletionMark,
    Deleting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Creation {
    NotBegun,
    /// `createLoadBalancer` may have been called; its result is not known.
    Begun,
    Created,
}

impl Creation {
    /// `Created` is Unknown as long as no driver was called.
    pub(crate) fn of(conditions: &[Condition]) -> Self {
        match conditions.find(condition_types::CREATED) {
            Some(created) if created.status == ConditionStatus::True => Self::Created,
            Some(created) if created.status == ConditionStatus::False => Self::Begun,
            _ => Self::NotBegun,
        }
    }
}

/// True if the call that a condition is about failed last.
pub(crate) fn has_failed(conditions: &[Condition], type_: &str) -> bool {
    let condition = conditions.find(type_);
    condition.is_some_and(|condition| condition.status == ConditionStatus::False)
}

#[derive(Debug)]
pub(crate) struct LoadBalancerState {
    /// Identifies the load balancer in `recordID`s.
    pub id: String,
    pub phase: LoadBalancerPhase,
    pub creation: Creation,
    /// The lbSpec that it is created from.
    pub spec: StringMap,
    /// The attributes that webhooks get: the desired ones, or, for one that is no longer declared,
    /// the last known ones.
    pub attributes: StringMap,
    pub lb_info: StringMap,
    /// True if the driver has the desired attributes, as far as is known.
    pub is_synced: bool,
    /// True if `deleteLoadBalancer` is called although this controller never began: the original may have.
    pub deletes_uncreated: bool,
    /// The time that it waits after a failure.
    pub retry_wait: Option<Duration>,
    pub observations: Observations,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LoadBalancerAction {
    AwaitChange,
    Wait(Duration),
    AddFinalizer,
    /// Store that creating begins, and from what, so that any later process can finish it.
    MarkCreating,
    MarkDeleting,
    /// Wait until its records are deregistered.
    AwaitRecords,
    /// Wait until its driver can be parsed.
    AwaitDriver,
    /// Wait until its annotation, which keeps drivers from being called, is gone.
    AwaitResume,
    /// Wait until it is known whether records that cannot be parsed are this load balancer's.
    AwaitUnreadable,
    ReportDriverMissing,
    /// The driver does not respond, for this reason. Nothing is begun with it, as its URL may be wrong: what no driver
    /// ever got is deleted without it.
    ReportNoResponse(String),
    /// Store the driver's finalizer, so that it is not deleted before the load balancer.
    ProtectDriver,
    /// The driver is being deleted, so that nothing is created with it.
    ReportDriverDeleting,
    Create(CreateLoadBalancer),
    Ensure(EnsureLoadBalancer),
    /// Creating began and its result is not known. It is finished before deleting, because only
    /// its response has the identity of what has to be deleted.
    FinishCreating(CreateLoadBalancer),
    Delete(DeleteLoadBalancer),
    /// Remove it without a call: no driver knows it.
    Remove,
}

pub(crate) fn decide(state: &LoadBalancerState) -> LoadBalancerAction {
    match state.phase {
        LoadBalancerPhase::Inactive => LoadBalancerAction::AwaitChange,
        LoadBalancerPhase::NeedsFinalizer => LoadBalancerAction::AddFinalizer,
        LoadBalancerPhase::NeedsDeletionMark => LoadBalancerAction::MarkDeleting,
        LoadBalancerPhase::Kept => decide_kept(state),
        LoadBalancerPhase::Deleting => decide_deletion(state),
    }
}

fn decide_kept(state: &LoadBalancerState) -> LoadBalancerAction {
    let is_created = state.creation == Creation::Created;
    if is_created && state.is_synced && state.observations.due != Due::Now {
        return LoadBalancerAction::AwaitChange;
    }
    if let Some(action) = blocked(state) {
        return action;
    }
    match state.creation {
        Creation::NotBegun => decide_beginning(state),
        Creation::Begun => LoadBalancerAction::Create(state.create_request()),
        Creation::Created => LoadBalancerAction::Ensure(EnsureLoadBalancer {
            record_id: format!("ensureLoadBalancer({})", state.id),
            lb_info: state.lb_info.to_wire(),
            attributes: state.attributes.to_wire(),
            ..EnsureLoadBalancer::default()
        }),
    }
}

/// Creating begins once the driver is sure to outlive the load balancer.
fn decide_beginning(state: &LoadBalancerState) -> LoadBalancerAction {
    let Lookup::Found(driver) = &state.observations.driver else {
        return LoadBalancerAction::AwaitDriver;
    };
    match DriverProtection::of(driver) {
        DriverProtection::Stored => match &state.observations.no_response {
            Some(problem) => LoadBalancerAction::ReportNoResponse(problem.clone()),
            None => LoadBalancerAction::MarkCreating,
        },
        DriverProtection::Missing if state.observations.dry_run => LoadBalancerAction::MarkCreating,
        DriverProtection::Missing => LoadBalancerAction::ProtectDriver,
        DriverProtection::Ending => LoadBalancerAction::ReportDriverDeleting,
    }
}

/// Its backends are deregistered first; the removal of their last record enqueues it.
fn decide_deletion(state: &LoadBalancerState) -> LoadBalancerAction {
    if state.observations.records > 0 {
        return LoadBalancerAction::AwaitRecords;
    }
    if state.observations.unreadable_records {
        return LoadBalancerAction::AwaitUnreadable;
    }
    // Without its driver nothing can be done about it; with one that was deleted before anything
    // began, nothing has to be.
    let is_driver_missing = matches!(state.observations.driver, Lookup::Missing);
    if state.creation == Creation::NotBegun && (is_driver_missing || !state.deletes_uncreated) {
        return LoadBalancerAction::Remove;
    }
    if let Some(action) = blocked(state) {
        return action;
    }
    if state.creation == Creation::Begun {
        LoadBalancerAction::FinishCreating(state.create_request())
    } else {
        LoadBalancerAction::Delete(state.delete_request(&state.lb_info))
    }
}

/// The action instead of a call that is not possible now.
fn blocked(state: &LoadBalancerState) -> Option<LoadBalancerAction> {
    if state.observations.is_paused {
        return Some(LoadBalancerAction::AwaitResume);
    }
    match state.observations.driver {
        Lookup::Found(_) => state.retry_wait.map(LoadBalancerAction::Wait),
        Lookup::Unreadable => Some(LoadBalancerAction::AwaitDriver),
        Lookup::Missing => Some(LoadBalancerAction::ReportDriverMissing),
    }
}

impl LoadBalancerState {
    /// If the driver returns no identity, the spec is the identity.
    pub(super) fn identity(&self, lb_info: StringMap) -> StringMap {
        if lb_info.is_empty() {
            self.spec.clone()
        } else {
            lb_info
        }
    }

    fn create_request(&self) -> CreateLoadBalancer {
        CreateLoadBalancer {
            record_id: format!("createLoadBalancer({})", self.id),
            lb_spec: self.spec.to_wire(),
            attributes: self.attributes.to_wire(),
            ..CreateLoadBalancer::default()
        }
    }

    /// The request that deletes the load balancer of this identity, which is empty if none was
    /// created.
    pub(super) fn delete_request(&self, lb_info: &StringMap) -> DeleteLoadBalancer {
        DeleteLoadBalancer {
            record_id: format!("deleteLoadBalancer({})", self.id),
            lb_info: lb_info.to_wire(),
            attributes: self.attributes.to_wire(),
            ..DeleteLoadBalancer::default()
        }
    }
}
