//! Conditions of an object's status (b7).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types of conditions (b11, b19, b37, b44).
pub mod condition_types {
    /// LoadBalancerDriver: the controller has taken the driver into use.
    pub const ACCEPTED: &str = "Accepted";
    /// LoadBalancer and Bind: the load balancer exists.
    pub const CREATED: &str = "Created";
    /// LoadBalancer: the driver has the attributes of the spec.
    pub const ATTRIBUTES_SYNCED: &str = "AttributesSynced";
    /// BackendRecord: the backend is registered.
    pub const REGISTERED: &str = "Registered";
    /// BackendRecord: a record of another owner registers the same address at the same load
    /// balancer with other parameters. Absent from a record to which that never happened (d41).
    pub const PARAMETERS_CONFLICT: &str = "ParametersConflict";
    /// LoadBalancer and Bind: backends are registered that no BackendRecord accounts for. Absent from a
    /// load balancer that never had any (d54).
    pub const DRIFT: &str = "Drift";
    /// Bind: the load balancer exists and has the attributes of the spec.
    pub const READY: &str = "Ready";
}

/// Reasons of conditions (b39).
pub mod reasons {
    /// The driver responded with `Fail`.
    pub const OPERATION_FAILED: &str = "OperationFailed";
    /// `createLoadBalancer` has begun or is running.
    pub const CREATING: &str = "Creating";
    /// Bind: the driver responded to `createLoadBalancer` with `Fail`.
    pub const CREATE_FAILED: &str = "CreateFailed";
    /// Bind: `ensureLoadBalancer` is running.
    pub const ENSURING: &str = "Ensuring";
    /// Bind: the driver responded to `ensureLoadBalancer` with `Fail`.
    pub const ENSURE_FAILED: &str = "EnsureFailed";
    /// The driver's response cannot be decoded or lacks a required value.
    pub const INVALID_RESPONSE: &str = "InvalidResponse";
    /// The driver cannot be called, timed out, or responded with an HTTP error.
    pub const WEBHOOK_ERROR: &str = "WebhookError";
    /// The LoadBalancerDriver that the object refers to does not exist.
    pub const DRIVER_NOT_FOUND: &str = "DriverNotFound";
    /// Of the records that disagree about an address, this one's parameters apply (d41).
    pub const PARAMETERS_APPLY: &str = "ParametersApply";
    /// Another record's parameters apply, because its owner is older (d41).
    pub const PARAMETERS_OVERRIDDEN: &str = "ParametersOverridden";
    /// The load balancer has backends that no BackendRecord accounts for (d54).
    pub const ORPHANED_BACKENDS: &str = "OrphanedBackends";
    /// What the condition reported is over.
    pub const RESOLVED: &str = "Resolved";
    /// The LoadBalancerDriver is being deleted, so that nothing new is created with it (d32).
    pub const DRIVER_DELETING: &str = "DriverDeleting";
    /// LoadBalancerDriver: it is being deleted, and waits until nothing uses it (d32).
    pub const DRIVER_IN_USE: &str = "DriverInUse";
}

/// Status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    /// The aspect that the type names is as it should be.
    True,
    /// It is not; `reason` and `message` explain why.
    False,
    /// The controller could not determine it.
    Unknown,
}

/// One aspect of an object's observed state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Type of the condition, such as `Created`.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: ConditionStatus,
    /// Time of the last change of `status`, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "date_time")]
    pub last_transition_time: Option<String>,
    /// Machine-readable cause of the status, in CamelCase.
    #[serde(
        default,
        deserialize_with = "super::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    #[schemars(with = "Option<String>")]
    pub reason: String,
    /// Human-readable cause of the status. Always present, possibly empty (b7).
    #[serde(default, deserialize_with = "super::null_as_default")]
    #[schemars(with = "Option<String>")]
    pub message: String,
    /// The `metadata.generation` that the condition was determined for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

pub(super) fn date_time(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "format": "date-time", "nullable": true })
}

/// A list of conditions with at most one of each type.
pub trait Conditions {
    /// Returns the condition of this type.
    fn find(&self, type_: &str) -> Option<&Condition>;

    /// Reports whether the condition exists and is `True`.
    fn is_true(&self, type_: &str) -> bool {
        self.find(type_)
            .is_some_and(|condition| condition.status == ConditionStatus::True)
    }

    /// Returns the list with this condition set. The transition time changes only with the status,
    /// so setting a condition again leaves the list equal and no write is needed (u35).
    #[must_use]
    fn with(&self, condition: Condition, now: Timestamp) -> Vec<Condition>;
}

impl Conditions for [Condition] {
    fn find(&self, type_: &str) -> Option<&Condition> {
        self.iter().find(|condition| condition.type_ == type_)
    }

    fn with(&self, mut condition: Condition, now: Timestamp) -> Vec<Condition> {
        let mut conditions = self.to_vec();
        let old = conditions
            .iter_mut()
            .find(|old| old.type_ == condition.type_);
        condition.last_transition_time = match &old {
            Some(old) if old.status == condition.status => old.last_transition_time.clone(),
            _ => Some(format!("{now:.0}")),
        };
        match old {
            Some(old) => *old = condition,
            None => conditions.push(condition),
        }
        conditions
    }
}

impl Condition {
    /// A condition with status `True`, without reason and message.
    #[must_use]
    pub fn met(type_: &str, observed_generation: Option<i64>) -> Self {
        Self {
            status: ConditionStatus::True,
            ..Self::unmet(type_, "", "", observed_generation)
        }
    }

    /// A condition with status `False`.
    #[must_use]
    pub fn unmet(
        type_: &str,
        reason: &str,
        message: impl Into<String>,
        observed_generation: Option<i64>,
    ) -> Self {
        Self {
            type_: type_.to_owned(),
            status: ConditionStatus::False,
            last_transition_time: None,
            reason: reason.to_owned(),
            message: message.into(),
            observed_generation,
        }
    }
}
