//! Conditions of an object's status.

use super::nullable;
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

/// Reasons of conditions.
pub mod reasons {
    use lbcf_driver_sdk::webhook::Reason;

    /// The driver responded with `Fail`, without a reason that the controller knows.
    pub const OPERATION_FAILED: &str = "OperationFailed";
    /// The driver will not accept the values of the object until they are changed.
    pub const INVALID_ARGUMENT: &str = Reason::InvalidArgument.name();
    /// The driver says that the load balancer does not exist any more.
    pub const NOT_FOUND: &str = Reason::NotFound.name();
    /// The driver says that a quota has no room: of the account, or of the load balancer for the backend.
    pub const QUOTA_EXCEEDED: &str = Reason::QuotaExceeded.name();
    /// The cloud limits the driver's calls, which are fewer until it permits more.
    pub const THROTTLED: &str = Reason::Throttled.name();
    /// Somebody else has what the driver needs in the cloud: a name, a port, a lock.
    pub const CONFLICT: &str = Reason::Conflict.name();
    /// The cloud does not respond to the driver.
    pub const UNAVAILABLE: &str = Reason::Unavailable.name();
    /// The driver's credentials do not allow the operation.
    pub const PERMISSION_DENIED: &str = Reason::PermissionDenied.name();
    /// The driver reports a defect of its own or of the cloud.
    pub const INTERNAL: &str = Reason::Internal.name();
    /// `createLoadBalancer` has begun or is running.
    pub const CREATING: &str = "Creating";
    /// The driver says that the load balancer does not exist any more, so that it is created again.
    pub const LOAD_BALANCER_GONE: &str = "LoadBalancerGone";
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
    /// The load balancer that the driver created, or adopted, is another namespace's.
    pub const OWNED_BY_OTHER_NAMESPACE: &str = "OwnedByOtherNamespace";
    /// The LoadBalancerDriver that the object refers to does not exist.
    pub const DRIVER_NOT_FOUND: &str = "DriverNotFound";
    /// Of the records that disagree about an address, this one's parameters apply.
    pub const PARAMETERS_APPLY: &str = "ParametersApply";
    /// Another record's parameters apply, because its owner is older.
    pub const PARAMETERS_OVERRIDDEN: &str = "ParametersOverridden";
    /// The load balancer has backends that no BackendRecord accounts for.
    pub const ORPHANED_BACKENDS: &str = "OrphanedBackends";
    /// The load balancer is not audited any more, so that what was found before may be outdated.
    pub const NOT_AUDITED: &str = "NotAudited";
    /// The problem that the condition reported is over.
    pub const RESOLVED: &str = "Resolved";
    /// The LoadBalancerDriver is being deleted, so that nothing new is created with it.
    pub const DRIVER_DELETING: &str = "DriverDeleting";
    /// LoadBalancerDriver: it is being deleted, and waits until nothing uses it.
    pub const DRIVER_IN_USE: &str = "DriverInUse";
    /// The LoadBalancerDriver that the object refers to cannot be parsed.
    pub const DRIVER_UNREADABLE: &str = "DriverUnreadable";
    /// A webhook has responded `Running` for long.
    pub const STILL_RUNNING: &str = "StillRunning";
    /// BackendRecord that is being deleted: the driver responds `Running` to `deregisterBackend`, since
    /// the time in the message.
    pub const DRAINING: &str = "Draining";
    /// A load balancer that is being deleted waits until its BackendRecords are deregistered.
    pub const RECORDS_REMAINING: &str = "RecordsRemaining";
    /// A load balancer that is being deleted waits, because a BackendRecord that cannot be parsed
    /// might be registered with it.
    pub const UNREADABLE_RECORD: &str = "UnreadableBackendRecord";
    /// BackendRecord: its pod is not Ready, its node or Service does not exist, or it is another
    /// one than the record was created for.
    pub const BACKEND_NOT_AVAILABLE: &str = "BackendNotAvailable";
    /// BackendRecord: a user created it, or changed what identifies its backend.
    pub const NOT_CREATED_BY_CONTROLLER: &str = "NotCreatedByController";
    /// BackendRecord: another record is deregistering the same address.
    pub const DELAYED_ENSURE: &str = "DelayedEnsureBackend";
    /// BackendRecord that is being deleted: another record is to register the same backend.
    pub const DELAYED_DEREGISTER: &str = "DelayedDeregisterBackend";
    /// BackendRecord: it has no owner reference, and the owner that its labels name has neither
    /// adopted nor deleted it yet.
    pub const AWAITING_ADOPTION: &str = "AwaitingAdoption";
    /// BackendGroup and Bind: all backends are registered.
    pub const ALL_REGISTERED: &str = "AllRegistered";
    /// BackendGroup and Bind: what replaces backends is not registered yet.
    pub const AWAITING_REPLACEMENT: &str = "AwaitingReplacement";
    /// BackendGroup and Bind: backends left before what replaces them was registered.
    pub const REPLACEMENT_TIMED_OUT: &str = "ReplacementTimedOut";
    /// BackendGroup and Bind: a backend left for one that replaces it, as a quota has no room for both.
    pub const NO_ROOM: &str = "NoRoomForReplacement";
    /// BackendGroup and Bind: most backends became unready at once, or less than `minRegistered` would be left.
    pub const TOO_MANY_UNREADY: &str = "TooManyUnready";
    /// BackendGroup and Bind: some BackendRecords are not registered; each says why.
    pub const REGISTERING: &str = "Registering";
    /// BackendGroup and Bind: some selected pods are not Ready, and so not registered.
    pub const PODS_NOT_READY: &str = "PodsNotReady";
    /// BackendGroup and Bind: no pod is selected.
    pub const NO_PODS_SELECTED: &str = "NoPodsSelected";
    /// BackendGroup and Bind: no valid port is given.
    pub const NO_PORTS: &str = "NoPorts";
    /// BackendGroup and Bind: another BackendRecord has the name of one that has to be created.
    pub const RECORD_CONFLICT: &str = "BackendRecordConflict";
    /// BackendGroup and Bind: the API server refuses to store the BackendRecords.
    pub const RECORDS_REFUSED: &str = "BackendRecordsRefused";
    /// Bind: some of its load balancers are not ready.
    pub const LOAD_BALANCERS_NOT_READY: &str = "LoadBalancersNotReady";
    /// BackendGroup: no load balancer is named.
    pub const NO_LOAD_BALANCERS: &str = "NoLoadBalancers";
    /// BackendGroup: a LoadBalancer that it names does not exist.
    pub const LOAD_BALANCER_NOT_FOUND: &str = "LoadBalancerNotFound";
    /// BackendGroup: a LoadBalancer that it names is not created yet.
    pub const LOAD_BALANCER_NOT_CREATED: &str = "LoadBalancerNotCreated";
    /// BackendGroup: a LoadBalancer that it names is being deleted.
    pub const LOAD_BALANCER_DELETING: &str = "LoadBalancerDeleting";
    /// BackendGroup: the scope of a LoadBalancer that it names does not include its namespace.
    pub const LOAD_BALANCER_OUT_OF_SCOPE: &str = "LoadBalancerOutOfScope";
    /// BackendGroup: a LoadBalancer that it names cannot be parsed.
    pub const LOAD_BALANCER_UNREADABLE: &str = "LoadBalancerUnreadable";
    /// BackendGroup: its Service does not exist or is being deleted.
    pub const SERVICE_NOT_FOUND: &str = "ServiceNotFound";
    /// BackendGroup: its Service has no node port for the port, such as one of type ClusterIP.
    pub const NO_NODE_PORT: &str = "NoNodePort";
    /// BackendGroup: no node is selected for its Service.
    pub const NO_NODES_SELECTED: &str = "NoNodesSelected";
    /// BackendGroup: its Service does not have the port, or its EndpointSlices do not.
    pub const NO_SERVICE_PORT: &str = "NoServicePort";
    /// BackendGroup: its Service has no endpoint of the address families and zones that it selects.
    pub const NO_ENDPOINTS: &str = "NoEndpoints";
    /// BackendGroup: some endpoints of its Service are not ready, and so not registered.
    pub const ENDPOINTS_NOT_READY: &str = "EndpointsNotReady";
    /// BackendGroup: a part of an EndpointSlice of its Service is malformed, and not registered.
    pub const INVALID_ENDPOINT_SLICE: &str = "InvalidEndpointSlice";
    /// BackendGroup: no static address is given.
    pub const NO_ADDRESSES: &str = "NoAddresses";
    /// LoadBalancerDriver: another one that names the same class has it.
    pub const SERVICE_CLASS_TAKEN: &str = "ServiceClassTaken";
    /// LoadBalancerDriver: it responded to `healthz` with `healthy: false`.
    pub const UNHEALTHY: &str = "Unhealthy";
    /// LoadBalancerDriver: it does not serve the optional webhook `healthz`.
    pub const HEALTHZ_NOT_SERVED: &str = "HealthzNotServed";
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
            status: ConditionStatus::True,
            ..Self::unmet(type_, "", "", observed_generation)
        }
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
