//! The next step of a driver. No I/O; the time is an argument.

use crate::api::names::FINALIZER_DRIVER;
use crate::api::{
    Condition, ConditionStatus, Conditions, LoadBalancerDriver, LoadBalancerDriverStatus,
    ObjectExt, ObjectKey, condition_types, reasons,
};
use crate::drivers::{DriverAbilities, DriverHealth};
use crate::index::{DriverUse, RequestKey};
use jiff::Timestamp;
use std::sync::Arc;

/// The knowledge about a driver's health.
#[derive(Debug)]
pub(super) enum KnownHealth {
    /// Drivers are not asked: a condition of an earlier process would be outdated for ever.
    NeverAsked,
    /// This process has not asked yet, so that the condition stays as it is.
    Pending,
    Known(DriverHealth),
}

#[derive(Debug)]
pub(super) struct DriverState {
    pub driver: Arc<LoadBalancerDriver>,
    pub driver_use: DriverUse,
    pub health: KnownHealth,
    /// The other driver that has the class of this one.
    pub class_taken_by: Option<ObjectKey>,
    pub now: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum DriverAction {
    AwaitChange,
    /// Something uses it that has to be deleted before it.
    AddFinalizer,
    /// Nothing uses it any more, or nothing has used it yet.
    RemoveFinalizer,
    /// Objects that cannot be parsed might use it, so that it is kept.
    AwaitReadable,
    SetStatus(LoadBalancerDriverStatus),
    /// It is being deleted and still in use. The removal of its last user enqueues it.
    AwaitUsers(String),
}

/// A driver is accepted without a call, because it may start later than its object is created.
pub(super) fn decide(state: &DriverState) -> DriverAction {
    let driver = &*state.driver;
    let has_finalizer = driver.has_finalizer(FINALIZER_DRIVER);
    let is_deleting = driver.is_deleting();
    match &state.driver_use {
        // API servers accept no new finalizer of an object that is being deleted.
        DriverUse::Used(_) if !has_finalizer && !is_deleting => DriverAction::AddFinalizer,
        DriverUse::Unused if has_finalizer => DriverAction::RemoveFinalizer,
        DriverUse::Unknown if has_finalizer && is_deleting => DriverAction::AwaitReadable,
        DriverUse::Used(users) if is_deleting => {
            let message = waiting_for(users);
            let unmet = Condition::unmet(
                condition_types::ACCEPTED,
                reasons::DRIVER_IN_USE,
                &message,
                driver.metadata.generation,
            );
            set(state, unmet).unwrap_or(DriverAction::AwaitUsers(message))
        }
        _ if is_deleting => DriverAction::AwaitChange,
        _ => {
            let accepted = Condition::met(condition_types::ACCEPTED, driver.metadata.generation);
            set(state, accepted).unwrap_or(DriverAction::AwaitChange)
        }
    }
}

/// The action that sets the status; none if it is set.
fn set(state: &DriverState, accepted: Condition) -> Option<DriverAction> {
    let old = state.driver.status.clone().unwrap_or_default();
    let mut abilities = DriverAbilities {
        specification: old.specification.clone(),
        features: old.features.clone(),
    };
    let mut new = old.conditions.with(accepted, state.now);
    match &state.health {
        KnownHealth::NeverAsked => {
            new.retain(|condition| condition.type_ != condition_types::HEALTHY);
            abilities = DriverAbilities::default();
        }
        KnownHealth::Pending => {}
        KnownHealth::Known(health) => {
            let healthy = health.condition(state.driver.metadata.generation);
            new = new.with(healthy, state.now);
            // A driver that is down can do the same when it is back.
            abilities = health.abilities().cloned().unwrap_or(abilities);
        }
    }
    match class_condition(state) {
        Some(condition) => new = new.with(condition, state.now),
        None => new.retain(|condition| condition.type_ != condition_types::SERVICE_CLASS),
    }
    let new = LoadBalancerDriverStatus {
        conditions: new,
        specification: abilities.specification,
        features: abilities.features,
    };
    (new != old).then_some(DriverAction::SetStatus(new))
}

/// The condition that the driver serves the Services of its class; none if it has no class.
fn class_condition(state: &DriverState) -> Option<Condition> {
    let class = &state.driver.spec.service_class.as_ref()?.name;
    let (type_, generation) = (
        condition_types::SERVICE_CLASS,
        state.driver.metadata.generation,
    );
    Some(match &state.class_taken_by {
        Some(other) => Condition::unmet(
            type_,
            reasons::SERVICE_CLASS_TAKEN,
            format!("spec.serviceClass.name: LoadBalancerDriver {other} serves the class {class}"),
            generation,
        ),
        None => Condition::met(type_, generation),
    })
}

/// The problem with the class that is new, if any.
pub(super) fn class_problem(old: &[Condition], new: &[Condition]) -> Option<String> {
    let new = new.find(condition_types::SERVICE_CLASS)?;
    let is_new = old.find(condition_types::SERVICE_CLASS) != Some(new);
    (is_new && new.status == ConditionStatus::False).then(|| new.message.clone())
}

/// A change of a driver's health that an event reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HealthChange {
    Failed(String),
    Recovered,
}

pub(super) fn health_change(old: &[Condition], new: &[Condition]) -> Option<HealthChange> {
    let unhealthy = |conditions: &[Condition]| {
        let healthy = conditions.find(condition_types::HEALTHY)?;
        (healthy.status == ConditionStatus::False).then(|| healthy.message.clone())
    };
    match (unhealthy(old), unhealthy(new)) {
        (None, Some(problem)) => Some(HealthChange::Failed(problem)),
        // Turning the probes off is no recovery.
        (Some(_), None) if new.find(condition_types::HEALTHY).is_some() => {
            Some(HealthChange::Recovered)
        }
        _ => None,
    }
}

fn waiting_for(users: &[RequestKey]) -> String {
    let users: Vec<String> = users.iter().map(RequestKey::to_string).collect();
    format!(
        "the driver is being deleted: it accepts nothing new, and stays until what uses it is deleted, such as {}",
        users.join(", ")
    )
}

#[cfg(test)]
mod tests;
