//! What a record needs next. No I/O, no clock.

use crate::api::{
    BackendRecord, BackendRecordStatus, ConditionStatus, Conditions, LoadBalancerDriver,
    condition_types,
};
use crate::index::Lookup;
use crate::names::FINALIZER_BACKEND_RECORD;
use crate::periodic::Due;
use lbcf_driver_sdk::webhook::{
    DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest,
};
use std::sync::Arc;

/// What deciding looks at.
#[derive(Debug)]
pub(crate) struct View {
    /// The record.
    pub record: Arc<BackendRecord>,
    /// Its driver.
    pub driver: Lookup<Arc<LoadBalancerDriver>>,
    /// The other records with the same address on the same load balancer.
    pub neighbours: Vec<Arc<BackendRecord>>,
    /// Whether its backend may be registered: its pod is available, or its node is there.
    pub backend_is_available: bool,
    /// When it is ensured again although it is registered.
    pub due: Due,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Everything is as it shall be, or somebody else's change is waited for.
    Nothing,
    /// Store the finalizer: without it the record could go before its backend does (d30).
    AddFinalizer,
    /// The driver does not exist: say so, and wait for it.
    ReportDriverMissing,
    /// Store the address that a user wrote down; no webhook is asked for one (b26).
    TakeAddress(String),
    /// Ask for the address: fetch the backend, then call `generateBackendAddr`.
    Generate(Box<GenerateBackendAddrRequest>),
    /// Another record is taking this address away: wait until it has (b122, u19).
    AwaitNeighbour(String),
    /// Call `ensureBackend`.
    Ensure(EnsureBackendRequest),
    /// Call `deregisterBackend`, then let it go.
    Deregister(DeregisterBackendRequest),
    /// Let it go: it never had an address (b123).
    LetGo,
    /// Let it go without a call: another record keeps this address registered (d31).
    LetGoShared(String),
}

/// Decides the next step.
#[must_use]
pub(crate) fn decide(view: &View) -> Step {
    let record = &*view.record;
    let status = record.status.clone().unwrap_or_default();
    let has_finalizer = record
        .metadata
        .finalizers
        .iter()
        .flatten()
        .any(|finalizer| finalizer == FINALIZER_BACKEND_RECORD);
    if record.metadata.deletion_timestamp.is_some() {
        return if has_finalizer {
            decide_deletion(view, &status)
        } else {
            Step::Nothing
        };
    }
    if !has_finalizer {
        return Step::AddFinalizer;
    }
    if is_registered_as_wanted(record, &status) && view.due != Due::Now {
        return Step::Nothing;
    }
    match view.driver {
        Lookup::Found(_) => {}
        Lookup::Unreadable => return Step::Nothing,
        Lookup::Missing => return Step::ReportDriverMissing,
    }
    if status.backend_addr.is_empty() {
        if let Some(addr) = &record.spec.static_addr {
            return Step::TakeAddress(addr.clone());
        }
        // b120: a pod that is not ready gets no address; it wakes its record when it is.
        return if view.backend_is_available {
            Step::Generate(Box::new(generate_request(record)))
        } else {
            Step::Nothing
        };
    }
    let is_registered = status.conditions.is_true(condition_types::REGISTERED);
    if !is_registered && let Some(leaving) = view.neighbours.iter().find(|other| is_leaving(other))
    {
        return Step::AwaitNeighbour(leaving.metadata.name.clone().unwrap_or_default());
    }
    Step::Ensure(EnsureBackendRequest {
        record_id: record_id("ensureBackend", record),
        lb_info: record.spec.lb_info.to_wire(),
        backend_addr: status.backend_addr,
        parameters: record.spec.parameters.to_wire(),
        injected_info: status.injected_info.to_wire(),
        ..EnsureBackendRequest::default()
    })
}

fn decide_deletion(view: &View, status: &BackendRecordStatus) -> Step {
    let record = &*view.record;
    if status.backend_addr.is_empty() {
        return Step::LetGo;
    }
    if let Some(keeper) = view
        .neighbours
        .iter()
        .find(|other| keeps_the_address(other))
    {
        return Step::LetGoShared(keeper.metadata.name.clone().unwrap_or_default());
    }
    match view.driver {
        Lookup::Found(_) => {}
        Lookup::Unreadable => return Step::Nothing,
        Lookup::Missing => return Step::ReportDriverMissing,
    }
    Step::Deregister(DeregisterBackendRequest {
        record_id: record_id("deregisterBackend", record),
        lb_info: record.spec.lb_info.to_wire(),
        backend_addr: status.backend_addr.clone(),
        parameters: record.spec.parameters.to_wire(),
        injected_info: status.injected_info.to_wire(),
        ..DeregisterBackendRequest::default()
    })
}

/// Whether the driver has confirmed the record as it stands now. A condition without a generation
/// is the original controller's: what it registered is not registered anew (d27).
fn is_registered_as_wanted(record: &BackendRecord, status: &BackendRecordStatus) -> bool {
    status
        .conditions
        .find(condition_types::REGISTERED)
        .is_some_and(|registered| {
            registered.status == ConditionStatus::True
                && (registered.observed_generation.is_none()
                    || registered.observed_generation == record.metadata.generation)
        })
}

/// A record that is going and has not been let go of yet.
fn is_leaving(record: &BackendRecord) -> bool {
    record.metadata.deletion_timestamp.is_some()
}

/// A record that stays and whose address is registered for it.
fn keeps_the_address(record: &BackendRecord) -> bool {
    record.metadata.deletion_timestamp.is_none()
        && record
            .status
            .as_ref()
            .is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED))
}

fn generate_request(record: &BackendRecord) -> GenerateBackendAddrRequest {
    GenerateBackendAddrRequest {
        record_id: record_id("generateBackendAddr", record),
        lb_info: record.spec.lb_info.to_wire(),
        lb_attributes: record.spec.lb_attributes.to_wire(),
        parameters: record.spec.parameters.to_wire(),
        ..GenerateBackendAddrRequest::default()
    }
}

/// d28: one task for each webhook of each object.
fn record_id(webhook: &str, record: &BackendRecord) -> String {
    format!(
        "{webhook}({})",
        record.metadata.uid.as_deref().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
