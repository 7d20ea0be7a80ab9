//! Conditions of an object's status.

use super::nullable;
use super::reasons::ReportReason;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types of conditions.
pub mod condition_types {
    /// LoadBalancerDriver: the controller has taken the driver into use.
    pub const ACCEPTED: &str = "Accepted";
    /// LoadBalancerDriver: the driver's webhook `healthz` says that it is healthy. `Unknown` if the
    /// driver does not serve it.
    pub const HEALTHY: &str = "Healthy";
    /// LoadBalancerDriver: it serves the Services of its class. Absent from a driver without one.
    pub const SERVICE_CLASS: &str = "ServiceClass";
    /// LoadBalancer and Bind: the load balancer exists.
    pub const CREATED: &str = "Created";
    /// LoadBalancer: the driver has the attributes of the spec.
    pub const ATTRIBUTES_SYNCED: &str = "AttributesSynced";
    /// BackendRecord: the backend is registered.
    pub const REGISTERED: &str = "Registered";
    /// BackendRecord: a record of another owner registers the same address at the same load
    /// balancer with other parameters. Absent from a record to which that never happened.
    pub const PARAMETERS_CONFLICT: &str = "ParametersConflict";
    /// LoadBalancer and Bind: backends are registered that no BackendRecord accounts for. Absent from a
    /// load balancer that never had any.
    pub const DRIFT: &str = "Drift";
    /// BackendGroup and Bind: all backends are registered with all load balancers. A load
    /// balancer of a Bind: it exists and has the attributes of the spec.
    pub const READY: &str = "Ready";
    /// BackendGroup and Bind: backends that are no longer wanted wait until those that replace them are
    /// registered. Its transition time is when that began. Absent from what never replaced any.
    pub const REPLACING: &str = "Replacing";
    /// BackendGroup and Bind: backends that are not Ready stay registered, because too few would be left.
    /// Absent from what never kept any.
    pub const UNREADY_KEPT: &str = "UnreadyKept";
    /// LoadBalancer that is being deleted: always `False`, with the reason why it still exists. Absent as
    /// long as its deletion is not delayed.
    pub const DELETED: &str = "Deleted";
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
    #[serde(default, with = "nullable", skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub reason: String,
    /// Human-readable cause of the status. Always present, possibly empty.
    #[serde(default, with = "nullable")]
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

    /// Returns the condition of this type if it exists and is not `True`.
    fn find_unmet(&self, type_: &str) -> Option<&Condition> {
        self.find(type_)
            .filter(|condition| condition.status != ConditionStatus::True)
    }

    /// Returns the list with this condition set. The transition time changes only with the status,
    /// so setting a condition again leaves the list equal and no write is needed.
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
            type_: type_.to_owned(),
            status: ConditionStatus::True,
            last_transition_time: None,
            reason: String::new(),
            message: String::new(),
            observed_generation,
        }
    }

    /// The time of its last transition, if that can be parsed.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.last_transition_time.as_deref()?.parse().ok()
    }

    /// Reason and message, which the conditions of waiting objects quote.
    pub(crate) fn cause(&self) -> String {
        format!("{}: {}", self.reason, self.message)
    }

    #[must_use]
    pub(crate) fn with_status(self, status: ConditionStatus) -> Self {
        Self { status, ..self }
    }

    /// True if it tells a user something that the stored one does not.
    pub(crate) fn is_news(&self, stored: &[Self]) -> bool {
        stored.find(&self.type_).is_none_or(|stored| {
            (stored.status, &stored.reason, &stored.message)
                != (self.status, &self.reason, &self.message)
        })
    }

    /// A condition with status `False`.
    #[must_use]
    pub fn unmet(
        type_: &str,
        reason: &ReportReason,
        message: impl Into<String>,
        observed_generation: Option<i64>,
    ) -> Self {
        Self {
            status: ConditionStatus::False,
            reason: reason.to_string(),
            message: message.into(),
            ..Self::met(type_, observed_generation)
        }
    }
}
