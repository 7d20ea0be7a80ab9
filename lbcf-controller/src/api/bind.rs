//! Bind: load balancers and the pods behind them in one object (section 5 of the behaviour list).

use super::{
    Condition, DeregisterPolicy, DeregisterWebhook, EnsurePolicyType, PodSelection, StringMap,
    null_as_default,
};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load balancers and the pods that are registered to each of them.
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
    doc = "Load balancers and the pods that are registered to each of them.",
    printcolumn(
        name = "LoadBalancers",
        type_ = "string",
        json_path = ".spec.loadBalancers[*].name"
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.loadBalancerStatuses[*].conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = super::crd_rules::BIND.to_json()))]
pub struct BindSpec {
    /// The load balancers.
    pub load_balancers: Vec<TargetLoadBalancer>,
    /// Which pods, and which of their ports.
    pub pods: PodSelection,
    /// What pods are registered with. Its keys are the driver's.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub parameters: StringMap,
    /// When a pod that is not ready is taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_policy: Option<DeregisterPolicy>,
    /// Who decides, where the policy is `Webhook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_webhook: Option<DeregisterWebhook>,
    /// Whether ensuring is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<BindEnsurePolicy>,
}

/// One load balancer of a Bind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetLoadBalancer {
    /// Its name, unique within the Bind.
    pub name: String,
    /// The driver's name. One that starts with `lbcf-` is looked up in kube-system.
    pub driver: String,
    /// What identifies the load balancer, or what it is made from. Its keys are the driver's.
    pub spec: StringMap,
    /// Settings that do not identify it. Its keys are the driver's.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub attributes: StringMap,
}

/// When a Bind's load balancers and backends are ensured again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindEnsurePolicy {
    /// `IfNotSucc` (the default) or `Always`.
    #[serde(default)]
    pub policy: EnsurePolicyType,
    /// With `Always`: the least time between two calls, such as `1m`; at least 10s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_period: Option<String>,
    /// With `Always`: the same in seconds, at least 10; `minPeriod` wins where both are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resync_period_in_seconds: Option<i32>,
}

/// What the controller found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindStatus {
    /// One entry for each load balancer, those that are going included.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<Vec<TargetLoadBalancerStatus>>")]
    pub load_balancer_statuses: Vec<TargetLoadBalancerStatus>,
}

/// What the controller found of one load balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetLoadBalancerStatus {
    /// The load balancer's name in the Bind.
    pub name: String,
    /// The driver's name.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<String>")]
    pub driver: String,
    /// The load balancer's identity, from `createLoadBalancer`; its `spec` where that gave none.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub lb_info: StringMap,
    /// The attributes that the driver has: where they differ from the spec's,
    /// `ensureLoadBalancer` is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_attributes: Option<StringMap>,
    /// When the load balancer was taken out of the spec, in RFC 3339; null while it is there.
    #[serde(default)]
    #[schemars(schema_with = "super::condition::date_time")]
    pub deletion_timestamp: Option<String>,
    /// When it is tried again, in RFC 3339, where something failed; else null.
    #[serde(default)]
    #[schemars(schema_with = "super::condition::date_time")]
    pub retry_after: Option<String>,
    /// `Created` and `Ready`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}

fn is_empty(map: &StringMap) -> bool {
    map.is_empty()
}
