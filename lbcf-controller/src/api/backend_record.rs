//! BackendRecord: one address of one load balancer (section 6 of the behaviour list).

use super::{Condition, EnsurePolicy, PortSelector, StringMap, null_as_default};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One address of one load balancer. Made and kept by the controller; nobody else edits it.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1beta1",
    kind = "BackendRecord",
    plural = "backendrecords",
    shortname = "br",
    category = "lbcf",
    namespaced,
    status = "BackendRecordStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "One address of one load balancer. Made and kept by the controller; nobody else edits it.",
    printcolumn(name = "LB", type_ = "string", json_path = ".spec.lbName"),
    printcolumn(name = "Pod", type_ = "string", json_path = ".spec.podBackend.name"),
    printcolumn(name = "Addr", type_ = "string", json_path = ".status.backendAddr"),
    printcolumn(
        name = "Registered",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Registered\")].status"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        priority = 1,
        json_path = ".status.conditions[?(@.type==\"Registered\")].message"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct BackendRecordSpec {
    /// The driver's name.
    pub lb_driver: String,
    /// The load balancer's name.
    pub lb_name: String,
    /// The load balancer's identity when the record was made.
    #[serde(default)]
    pub lb_info: StringMap,
    /// The load balancer's attributes when the record was made or last changed.
    #[serde(default)]
    pub lb_attributes: StringMap,
    /// The pod behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_backend: Option<PodBackendRecord>,
    /// The service's node port behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_backend: Option<ServiceBackendRecord>,
    /// The address that a user wrote down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_addr: Option<String>,
    /// What it is registered with.
    #[serde(default)]
    pub parameters: StringMap,
    /// Whether `ensureBackend` is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
}

/// A pod's port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodBackendRecord {
    /// The pod's name.
    pub name: String,
    /// Its port.
    pub port: PortSelector,
}

/// A service's node port on a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceBackendRecord {
    /// The service's name.
    pub name: String,
    /// The service's port.
    pub port: PortSelector,
    /// The port on the node.
    pub node_port: i32,
    /// The node's name.
    pub node_name: String,
}

/// What the controller found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendRecordStatus {
    /// The address, from `generateBackendAddr`. It stands here before it is registered anywhere.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    #[schemars(with = "Option<String>")]
    pub backend_addr: String,
    /// What `ensureBackend` gave to remember.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub injected_info: StringMap,
    /// `Registered`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}

fn is_empty(map: &StringMap) -> bool {
    map.is_empty()
}
