//! Conditions: what is known of an object's state, and since when (b7).

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The condition types of all kinds.
pub mod condition_types {
    /// On a driver: the controller took it.
    pub const ACCEPTED: &str = "Accepted";
    /// On a load balancer: it was created.
    pub const CREATED: &str = "Created";
    /// On a load balancer: its attributes are what the spec says.
    pub const ATTRIBUTES_SYNCED: &str = "AttributesSynced";
    /// On a record: the backend is registered.
    pub const REGISTERED: &str = "Registered";
    /// On a Bind's load balancer: its attributes are what the spec says.
    pub const READY: &str = "Ready";
}

/// The reasons that conditions carry.
pub mod reasons {
    /// The driver answered `Fail`.
    pub const OPERATION_FAILED: &str = "OperationFailed";
    /// The load balancer is being created.
    pub const CREATING: &str = "Creating";
    /// On a Bind's load balancer: the driver says that creating failed.
    pub const CREATE_FAILED: &str = "CreateFailed";
    /// On a Bind's load balancer: its attributes are being changed.
    pub const ENSURING: &str = "Ensuring";
    /// On a Bind's load balancer: the driver says that changing its attributes failed.
    pub const ENSURE_FAILED: &str = "EnsureFailed";
    /// The driver's answer was one that cannot be used.
    pub const INVALID_RESPONSE: &str = "InvalidResponse";
    /// The driver could not be reached, or its answer was none.
    pub const WEBHOOK_ERROR: &str = "WebhookError";
    /// The driver that the object names does not exist.
    pub const DRIVER_NOT_FOUND: &str = "DriverNotFound";
}

/// True, False or not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody knows.
    Unknown,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is told of, such as `Created`.
    #[serde(rename = "type")]
    pub type_: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// When `status` changed last, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "date_time")]
    pub last_transition_time: Option<String>,
    /// Why, in one word for programs.
    #[serde(
        default,
        deserialize_with = "super::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    #[schemars(with = "Option<String>")]
    pub reason: String,
    /// Why, in words for people. Always there, as the original's.
    #[serde(default, deserialize_with = "super::null_as_default")]
    #[schemars(with = "Option<String>")]
    pub message: String,
    /// The generation of the spec that this was found for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

pub(super) fn date_time(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "string", "format": "date-time", "nullable": true })
}

/// A list of conditions, one of each type.
pub trait Conditions {
    /// The condition of a type.
    fn find(&self, type_: &str) -> Option<&Condition>;

    /// Whether the condition is there and True.
    fn is_true(&self, type_: &str) -> bool {
        self.find(type_)
            .is_some_and(|condition| condition.status == ConditionStatus::True)
    }

    /// The list with this condition in it. A condition that says what was said before keeps its
    /// transition time; the result then equals the list, and nothing needs to be written.
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
    /// A condition that holds.
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

    /// A condition that does not hold, and why.
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
