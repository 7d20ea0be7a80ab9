//! Bind: load balancers and the backends registered with them in one object.

use super::{
    Condition, DeregisterPolicy, DeregisterWebhook, EnsurePolicy, EnsurePolicyType, PodSelection,
    PortSelector, ServiceSelection, StringMap, nullable,
};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Bind declares load balancers and registers pods, or the node port or the endpoints of a Service,
/// with each of them.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1",
    kind = "Bind",
    plural = "binds",
    category = "lbcf",
    namespaced,
    status = "BindStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "A Bind declares load balancers and registers pods, or the node port or the endpoints of a Service, with each of them.",
    printcolumn(
        name = "LoadBalancers",
        type_ = "integer",
        json_path = ".status.loadBalancers"
    ),
    printcolumn(
        name = "Ready",
        type_ = "integer",
        json_path = ".status.readyLoadBalancers"
    ),
    printcolumn(name = "Backends", type_ = "integer", json_path = ".status.backends"),
    printcolumn(
        name = "Registered",
        type_ = "integer",
        json_path = ".status.registeredBackends"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].message"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.type==\"Ready\")].reason"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::crd_rules::bind)]
pub struct BindSpec {
    /// Load balancers to create or use. Backends are registered with each of them.
    pub load_balancers: Vec<TargetLoadBalancer>,
    /// Registers pods. Either this or `service` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodSelection>,
    /// Registers the node port of a Service on every selected node or, in the mode `Endpoints`, the
    /// endpoints of a Service. Either this or `pods` is set; one may replace the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceSelection>,
    /// Settings of each registration. The driver defines the keys and values. Example:
    /// `{weight: "50"}`.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    pub parameters: StringMap,
    /// Determines when a pod that is not Ready is deregistered: `IfNotReady` (the default),
    /// `IfNotRunning` or `Webhook`. A pod that is being deleted is always deregistered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_policy: Option<DeregisterPolicy>,
    /// The driver that decides about pods that are not Ready. Required where `deregisterPolicy` is
    /// `Webhook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_webhook: Option<DeregisterWebhook>,
    /// Determines whether load balancers and backends are ensured again while nothing has changed.
    /// By default they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<BindEnsurePolicy>,
}

impl BindSpec {
    pub(crate) fn pod_ports(&self) -> Vec<&PortSelector> {
        self.pods.iter().flat_map(|pods| &pods.ports).collect()
    }

    /// None, which only a BackendGroup may have.
    pub(crate) const fn static_addresses(&self) -> &[String] {
        &[]
    }

    /// Only groups have the option.
    pub(crate) const fn min_registered(&self) -> usize {
        0
    }

    /// The policy of its records and load balancers: `minPeriod` takes precedence over the seconds.
    pub(crate) fn ensure_policy(&self) -> Option<EnsurePolicy> {
        let policy = self.ensure_policy.as_ref()?;
        let seconds = policy.resync_period_in_seconds;
        let seconds = seconds.map(|seconds| format!("{seconds}s"));
        Some(EnsurePolicy {
            policy: policy.policy,
            min_period: policy.min_period.clone().or(seconds),
        })
    }
}

/// A load balancer of a Bind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetLoadBalancer {
    /// Name of the load balancer, a DNS label that is unique within the Bind.
    pub name: String,
    /// Name of a LoadBalancerDriver. A name that starts with `lbcf-` refers to kube-system, any
    /// other to this namespace. Immutable.
    pub driver: String,
    /// Identifies an existing load balancer, or describes the one to create. The driver defines the
    /// keys and values. Immutable.
    pub spec: StringMap,
    /// Settings that may change during the load balancer's life. The driver defines the keys and
    /// values.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    pub attributes: StringMap,
}

/// Determines when the load balancers and backends of a Bind are ensured again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindEnsurePolicy {
    /// `IfNotSucc` (the default): only after a change or a failure. `Always`: also periodically.
    #[serde(default)]
    pub policy: EnsurePolicyType,
    /// Period of `Always`, as a duration such as `1m30s`. Minimum 10s, default 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_period: Option<String>,
    /// Period of `Always` in seconds. Minimum 10. Ignored where `minPeriod` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resync_period_in_seconds: Option<i32>,
}

/// The observed state of a Bind, written by the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindStatus {
    /// One entry for each load balancer, including those that were removed from the spec and are
    /// not deleted yet.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<Vec<TargetLoadBalancerStatus>>")]
    pub load_balancer_statuses: Vec<TargetLoadBalancerStatus>,
    /// Number of load balancers in the spec.
    #[serde(default)]
    pub load_balancers: i32,
    /// Number of load balancers in the spec that exist and have their attributes.
    #[serde(default)]
    pub ready_load_balancers: i32,
    /// Number of selected backends: pods, addresses of endpoints, or 1 for the node port of a Service.
    #[serde(default)]
    pub backends: i32,
    /// Number of backends that are registered with all load balancers that exist, with all ports. Equal
    /// to `backends` when the Bind is done.
    #[serde(default)]
    pub registered_backends: i32,
    /// `Ready`: all load balancers are ready and all backends are registered with them, and if not,
    /// why.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}

/// The observed state of one load balancer of a Bind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetLoadBalancerStatus {
    /// Name of the load balancer in the Bind.
    pub name: String,
    /// Name of the LoadBalancerDriver that has the load balancer.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub driver: String,
    /// Identity of the load balancer, returned by `createLoadBalancer`; a copy of its `spec` where
    /// the driver returned none.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    pub lb_info: StringMap,
    /// The attributes that the driver was called with last. `ensureLoadBalancer` is called when
    /// they differ from the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_attributes: Option<StringMap>,
    /// Time at which the load balancer was removed from the spec, in RFC 3339; `null` before.
    #[serde(default)]
    #[schemars(schema_with = "super::condition::date_time")]
    pub deletion_timestamp: Option<String>,
    /// Time of the next attempt after a failure, in RFC 3339; `null` where nothing failed.
    #[serde(default)]
    #[schemars(schema_with = "super::condition::date_time")]
    pub retry_after: Option<String>,
    /// `Created`: the load balancer exists. `Ready`: it has the attributes of the spec. `Drift`:
    /// backends are registered that no BackendRecord accounts for.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}
