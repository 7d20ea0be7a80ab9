//! LoadBalancer: one load balancer, existing or to be made (section 3 of the behaviour list).

use super::{Condition, EnsurePolicy, StringMap, null_as_default};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One load balancer: an existing one by its identity, or what a new one is made from.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1beta1",
    kind = "LoadBalancer",
    plural = "loadbalancers",
    shortname = "lb",
    category = "lbcf",
    namespaced,
    status = "LoadBalancerStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One load balancer: an existing one by its identity, or what a new one is made from.",
    validation = super::crd_rules::scope_needs_a_system_name(),
    printcolumn(name = "Driver", type_ = "string", json_path = ".spec.lbDriver"),
    printcolumn(
        name = "Created",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Created\")].status"
    ),
    printcolumn(
        name = "Synced",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"AttributesSynced\")].status"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.status==\"False\")].message"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = super::crd_rules::LOAD_BALANCER.to_json()))]
pub struct LoadBalancerSpec {
    /// The driver's name. One that starts with `lbcf-` is looked up in kube-system.
    pub lb_driver: String,
    /// What identifies the load balancer, or what it is made from. Its keys are the driver's.
    pub lb_spec: StringMap,
    /// Settings that do not identify it. Its keys are the driver's.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub attributes: StringMap,
    /// The namespaces that may use it; `*` is all. Only for `lbcf-` names in kube-system.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<String>>")]
    pub scope: Vec<String>,
    /// Whether `ensureLoadBalancer` is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
}

fn is_empty(map: &StringMap) -> bool {
    map.is_empty()
}

/// What the controller found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerStatus {
    /// The load balancer's identity, from `createLoadBalancer`; `lbSpec` where that gave none.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub lb_info: StringMap,
    /// The attributes that the driver has: where they differ from the spec's,
    /// `ensureLoadBalancer` is called. Absent where another controller wrote the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_attributes: Option<StringMap>,
    /// `Created` and `AttributesSynced`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}
