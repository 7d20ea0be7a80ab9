//! The next step of a record. No I/O, no clock.

use super::conflict::{self, effective_parameters, sharing};
use crate::api::names::FINALIZER_BACKEND_RECORD;
use crate::api::{
    BackendRecord, BackendRecordStatus, Condition, ConditionStatus, Conditions, LoadBalancerDriver,
    ObjectExt, ObjectKey, condition_types, reasons,
};
use crate::backends::generate_request;
use crate::cluster::{Wait, WaitEvent, paused};
use crate::index::{Lookup, Neighbour, Owner, Ownership, counts_as_registered};
use crate::runtime::driver_protection::DriverProtection;
use crate::runtime::memory::Due;
use jiff::Timestamp;
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::{DeregisterBackend, EnsureBackend, GenerateBackendAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

#[derive(Debug)]
pub(crate) struct RecordState {
    pub record: Arc<BackendRecord>,
    /// True if a controller created it. Nothing is registered or deregistered for another one.
    pub is_own: bool,
    pub ownership: Ownership,
    /// The time that it still waits for an owner if it is ownerless.
    pub owner_wait: Duration,
    pub driver: Lookup<Arc<LoadBalancerDriver>>,
    /// The object that keeps drivers from being called for it.
    pub paused_by: Option<String>,
    /// The other records with the same address on the same load balancer.
    pub neighbours: Vec<Neighbour>,
    /// True if its deregistration may have begun.
    pub is_deregistering: bool,
    /// While it is being deleted: the record or owner that is to register the same backend.
    pub successor: Option<String>,
    /// The time that its deletion still waits for that record.
    pub successor_wait: Duration,
    /// True if its pod is available, its node exists, or its endpoint is ready.
    pub backend_is_available: bool,
    /// When it is ensured again although it is registered.
    pub due: Due,
}

impl RecordState {
    /// The record whose deregistration of the same address has to end first.
    fn deregistering(&self) -> Option<String> {
        let mut neighbours = self.neighbours.iter();
        let deregistering = neighbours.find(|other| other.is_deregistering);
        let deregistering = deregistering.filter(|_| !self.can_cancel());
        deregistering.map(|other| other.record.name_any())
    }

    /// True if `ensureBackend` cancels a deregistration of the same address that is running.
    fn can_cancel(&self) -> bool {
        matches!(&self.driver, Lookup::Found(driver) if driver.can_cancel())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RecordAction {
    AwaitChange,
    /// Nothing can be done now, which is reported if it lasts.
    Wait(RecordWait),
    /// Without the finalizer the record could be deleted before its backend is deregistered.
    AddFinalizer,
    /// Wait for an owner, as a BackendGroup may be created again. Its backend stays as it is.
    AwaitOwner(Duration),
    /// No owner came: delete it, which deregisters its backend.
    Delete,
    ReportDriverMissing,
    /// Store the driver's finalizer, so that it is not deleted before the record.
    ProtectDriver,
    /// The driver is being deleted, so that nothing is registered with it.
    ReportDriverDeleting,
    /// Store the address that the user wrote in the spec; no driver is asked for it.
    StoreAddress(String),
    /// Read the backend, then call `generateBackendAddr`.
    Generate(Box<GenerateBackendAddr>),
    /// Store that records disagree about the address; no call is needed.
    ReportConflict(Condition),
    Ensure(EnsureBackend),
    /// Call `deregisterBackend`, then remove the finalizer.
    Deregister(DeregisterBackend),
    /// It never had an address, or its address is not the controller's to deregister.
    RemoveFinalizer,
    /// No call is needed, because the record of this name keeps the address registered.
    RemoveFinalizerOfShared(String),
}

pub(crate) fn decide(state: &RecordState) -> RecordAction {
    let record = &*state.record;
    let status = record.status.clone().unwrap_or_default();
    let has_finalizer = record.has_finalizer(FINALIZER_BACKEND_RECORD);
    if !state.is_own {
        return decide_foreign(state, has_finalizer);
    }
    if record.is_deleting() {
        return match has_finalizer {
            true => decide_deletion(state, &status),
            false => RecordAction::AwaitChange,
        };
    }
    if !has_finalizer {
        return RecordAction::AddFinalizer;
    }
    match state.ownership {
        Ownership::Owned => {}
        Ownership::Adoptable => return RecordAction::Wait(RecordWait::Adoption),
        Ownership::Ownerless => return decide_ownerless(state),
    }
    let sharing = sharing(record, &state.neighbours);
    if is_registered(record, &status)
        && state.due != Due::Now
        && !conflict::needs_ensure(&status.conditions, &sharing)
    {
        return conflict::condition(record, &status.conditions, &sharing, false)
            .filter(|condition| condition.is_news(&status.conditions))
            .map_or(RecordAction::AwaitChange, RecordAction::ReportConflict);
    }
    if let Some(action) = blocked(state) {
        return action;
    }
    if status.backend_addr.is_empty() {
        if let Some(action) = unable_to_begin(state) {
            return action;
        }
        if let Some(addr) = &record.spec.static_addr {
            return RecordAction::StoreAddress(addr.clone());
        }
        // A pod that is not ready gets no address; its record is enqueued when it is.
        return if state.backend_is_available {
            generate(record)
        } else {
            RecordAction::Wait(RecordWait::BackendUnavailable)
        };
    }
    if !status.conditions.is_true(condition_types::REGISTERED)
        && let Some(other) = state.deregistering()
    {
        return RecordAction::Wait(RecordWait::Neighbour(other));
    }
    RecordAction::Ensure(EnsureBackend {
        record_id: record_id("ensureBackend", record),
        lb_info: record.spec.lb_info.to_wire(),
        backend_addr: status.backend_addr,
        parameters: effective_parameters(record, &state.neighbours).to_wire(),
        injected_info: status.injected_info.to_wire(),
        ..EnsureBackend::default()
    })
}

fn decide_foreign(state: &RecordState, has_finalizer: bool) -> RecordAction {
    match (state.record.is_deleting(), state.ownership) {
        (true, _) if has_finalizer => RecordAction::RemoveFinalizer,
        (true, _) => RecordAction::AwaitChange,
        (false, Ownership::Ownerless) => decide_ownerless(state),
        (false, _) => RecordAction::Wait(RecordWait::NotCreatedByController),
    }
}

fn decide_ownerless(state: &RecordState) -> RecordAction {
    match state.owner_wait.is_zero() {
        true => RecordAction::Delete,
        false => RecordAction::AwaitOwner(state.owner_wait),
    }
}

fn decide_deletion(state: &RecordState, status: &BackendRecordStatus) -> RecordAction {
    let record = &*state.record;
    if status.backend_addr.is_empty() {
        return RecordAction::RemoveFinalizer;
    }
    let mut neighbours = state.neighbours.iter().map(|neighbour| &neighbour.record);
    if let Some(keeper) = neighbours.find(|other| counts_as_registered(other)) {
        return RecordAction::RemoveFinalizerOfShared(keeper.name_any());
    }
    let may_wait = match state.is_deregistering {
        // Another call of deregisterBackend would in turn undo what the other record's ensureBackend cancels.
        true => state.can_cancel(),
        false => !state.successor_wait.is_zero(),
    };
    if let Some(successor) = &state.successor
        && state.backend_is_available
        && may_wait
    {
        return RecordAction::Wait(RecordWait::Successor(successor.clone()));
    }
    if let Some(action) = blocked(state) {
        return action;
    }
    RecordAction::Deregister(deregister_request(record, status))
}

pub(super) fn deregister_request(
    record: &BackendRecord,
    status: &BackendRecordStatus,
) -> DeregisterBackend {
    DeregisterBackend {
        record_id: record_id("deregisterBackend", record),
        lb_info: record.spec.lb_info.to_wire(),
        backend_addr: status.backend_addr.clone(),
        parameters: record.spec.parameters.to_wire(),
        injected_info: status.injected_info.to_wire(),
        first_requested_at: draining_since(record).map(SystemTime::from),
        ..DeregisterBackend::default()
    }
}

/// When the deregistration of a record's backend was requested first. That is stored with the
/// record's deletion, which no later write changes.
pub(super) fn draining_since(record: &BackendRecord) -> Option<Timestamp> {
    let deletion = record.metadata.deletion_timestamp.as_ref();
    deletion.map(|time| time.0)
}

/// The action instead of a call that is not possible now.
fn blocked(state: &RecordState) -> Option<RecordAction> {
    if let Some(by) = &state.paused_by {
        return Some(RecordAction::Wait(RecordWait::Paused(by.clone())));
    }
    match state.driver {
        Lookup::Found(_) => None,
        Lookup::Unreadable => Some(RecordAction::Wait(RecordWait::DriverUnreadable)),
        Lookup::Missing => Some(RecordAction::ReportDriverMissing),
    }
}

/// The action instead of the first step of registering, which is taken once the driver is sure to
/// outlive the record.
fn unable_to_begin(state: &RecordState) -> Option<RecordAction> {
    let Lookup::Found(driver) = &state.driver else {
        return None;
    };
    match DriverProtection::of(driver) {
        DriverProtection::Stored => None,
        DriverProtection::Missing => Some(RecordAction::ProtectDriver),
        DriverProtection::Ending => Some(RecordAction::ReportDriverDeleting),
    }
}

/// True if the driver has registered the record with its present spec. A condition without a
/// generation is the original controller's, whose records are not registered again.
fn is_registered(record: &BackendRecord, status: &BackendRecordStatus) -> bool {
    let registered = status.conditions.find(condition_types::REGISTERED);
    registered.is_some_and(|registered| {
        registered.status == ConditionStatus::True
            && (registered.observed_generation.is_none()
                || registered.observed_generation == record.metadata.generation)
    })
}

fn generate(record: &BackendRecord) -> RecordAction {
    let record_id = record_id("generateBackendAddr", record);
    RecordAction::Generate(Box::new(generate_request(record, record_id)))
}

/// The same for every call of a webhook for an object.
fn record_id(webhook: &str, record: &BackendRecord) -> String {
    format!(
        "{webhook}({})",
        record.metadata.uid.as_deref().unwrap_or_default()
    )
}

/// Why a record waits that needs no call now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordWait {
    /// A user created it, which registers nothing.
    NotCreatedByController,
    /// Its driver exists and cannot be parsed.
    DriverUnreadable,
    /// This object keeps drivers from being called.
    Paused(String),
    /// The pod cannot be registered now, or the node does not exist.
    BackendUnavailable,
    /// The record of this name has not deregistered the same address.
    Neighbour(String),
    /// This record or owner is to register the same backend, which then need not be deregistered.
    Successor(String),
    /// The owner that its labels name has neither adopted nor deleted it.
    Adoption,
}

impl RecordWait {
    pub(super) fn describe(&self, record: &BackendRecord, driver: &ObjectKey) -> Wait {
        match self {
            Self::NotCreatedByController => Wait::new(
                reasons::NOT_CREATED_BY_CONTROLLER,
                "the controller did not create this record, and neither registers nor deregisters its backend".to_owned(),
                WaitEvent::Problem,
            ),
            Self::DriverUnreadable => Wait::new(
                reasons::DRIVER_UNREADABLE,
                format!("spec.lbDriver: LoadBalancerDriver {driver} cannot be parsed"),
                WaitEvent::Problem,
            ),
            Self::Paused(by) => paused(by),
            Self::BackendUnavailable => backend_unavailable(record),
            Self::Neighbour(other) => Wait::new(
                reasons::DELAYED_ENSURE,
                format!("waiting: BackendRecord {other} is deregistering the same address"),
                WaitEvent::Progress,
            ),
            Self::Successor(other) => Wait::new(
                reasons::DELAYED_DEREGISTER,
                format!("waiting: {other} is to register the same backend"),
                WaitEvent::Progress,
            ),
            Self::Adoption => Wait::new(
                reasons::AWAITING_ADOPTION,
                adoption(record),
                WaitEvent::Problem,
            ),
        }
    }
}

/// A record whose backend is not, or no longer, what it was created for. Its owner replaces or
/// deletes it when it knows.
pub(super) fn backend_unavailable(record: &BackendRecord) -> Wait {
    let spec = &record.spec;
    if let Some(endpoint) = &spec.endpoint_backend {
        let message = format!(
            "the endpoint {} of Service {} is not ready, does not exist, or is not the one that this record was created for",
            endpoint.address, endpoint.service
        );
        return Wait::new(reasons::BACKEND_NOT_AVAILABLE, message, WaitEvent::Problem);
    }
    let message = match (&spec.pod_backend, &spec.service_backend) {
        (Some(pod), _) => format!(
            "Pod {} is not Ready, does not exist, or is not the one that this record was created for",
            pod.name
        ),
        (None, Some(service)) => format!(
            "Service {} or Node {} does not exist, or is not the one that this record was created for",
            service.name, service.node_name
        ),
        (None, None) => {
            "spec has neither podBackend nor serviceBackend nor endpointBackend nor staticAddr"
                .to_owned()
        }
    };
    Wait::new(reasons::BACKEND_NOT_AVAILABLE, message, WaitEvent::Problem)
}

/// The driver's response to `deregisterBackend` is `Running`: its clients finish.
pub(super) fn draining(since: Timestamp) -> String {
    format!("the backend drains since {since:.0}: deregisterBackend responds Running")
}

fn adoption(record: &BackendRecord) -> String {
    let owner = Owner::of(record).map(|owner| owner.request_key().to_string());
    let owner = owner.unwrap_or_default();
    format!("the record has no owner reference, and {owner} has neither adopted nor deleted it")
}

#[cfg(test)]
mod tests;
