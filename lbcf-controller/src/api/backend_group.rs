//! BackendGroup: which backends stand behind which load balancers (section 4 of the behaviour
//! list).

use super::{EnsurePolicy, PortSelector, StringMap, null_as_default};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Backends of one kind that are registered to load balancers: pods, a service's node port, or
/// addresses.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1beta1",
    kind = "BackendGroup",
    plural = "backendgroups",
    shortname = "bg",
    category = "lbcf",
    namespaced,
    status = "BackendGroupStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "Backends of one kind that are registered to load balancers: pods, a service's node port, or addresses.",
    printcolumn(
        name = "LoadBalancers",
        type_ = "string",
        json_path = ".spec.loadBalancers"
    ),
    printcolumn(name = "Backends", type_ = "integer", json_path = ".status.backends"),
    printcolumn(
        name = "Registered",
        type_ = "integer",
        json_path = ".status.registeredBackends"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = super::crd_rules::BACKEND_GROUP.to_json()))]
pub struct BackendGroupSpec {
    /// The load balancers. One that starts with `lbcf-` is looked up in kube-system.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<String>>")]
    pub load_balancers: Vec<String>,
    /// The load balancer, as the earlier edition calls it; `loadBalancers` wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lb_name: Option<String>,
    /// Pods as backends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodSelection>,
    /// A service's node port as backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceSelection>,
    /// Addresses as backends; the driver gets them as they stand here.
    #[serde(
        rename = "static",
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<String>>")]
    pub static_addresses: Vec<String>,
    /// What backends are registered with. Its keys are the driver's.
    #[serde(default)]
    pub parameters: StringMap,
    /// When a pod that is not ready is taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_policy: Option<DeregisterPolicy>,
    /// Who decides, where the policy is `Webhook`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deregister_webhook: Option<DeregisterWebhook>,
    /// Whether `ensureBackend` is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
}

impl BackendGroupSpec {
    /// The names of the load balancers, each once (b20).
    pub fn load_balancer_names(&self) -> impl Iterator<Item = &str> {
        let legacy = self
            .lb_name
            .as_ref()
            .filter(|_| self.load_balancers.is_empty());
        let names = self.load_balancers.iter().chain(legacy).map(String::as_str);
        let mut seen = std::collections::HashSet::new();
        names.filter(move |name| seen.insert(*name))
    }
}

/// Which pods, and which of their ports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodSelection {
    /// The ports of each pod.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<PortSelector>>")]
    pub ports: Vec<PortSelector>,
    /// The port, as the earlier edition calls it; `ports` wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<PortSelector>,
    /// Pods with these labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_label: Option<SelectPodByLabel>,
    /// Pods with these names.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<String>>")]
    pub by_name: Vec<String>,
}

/// Pods by their labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
// What else stands here is kept for admission, which says that labels go into the selector.
#[schemars(extend(
    "x-kubernetes-preserve-unknown-fields" = true,
    "x-kubernetes-validations" = super::crd_rules::SELECT_BY_LABEL.to_json()
))]
pub struct SelectPodByLabel {
    /// The labels that a pod must have.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub selector: BTreeMap<String, String>,
    /// Names of pods that are left out, and taken away where they were registered.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<String>>")]
    pub except: Vec<String>,
}

/// A service's node port.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSelection {
    /// The service's name.
    pub name: String,
    /// The service's port.
    pub port: PortSelector,
    /// The labels that a node must have; all nodes when empty.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub node_selector: BTreeMap<String, String>,
}

/// When a pod that is not ready is taken away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DeregisterPolicy {
    /// When its Ready condition is not True.
    #[default]
    IfNotReady,
    /// When its phase is not Running.
    IfNotRunning,
    /// When the driver of `deregisterWebhook` does not keep it.
    Webhook,
}

/// Who decides about pods that are not ready.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeregisterWebhook {
    /// The driver that is asked.
    pub driver_name: String,
    /// What happens when it gives no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
}

/// What happens when the driver that decides gives no answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FailurePolicy {
    /// No pod is taken away.
    #[default]
    DoNothing,
    /// As the policy of that name.
    IfNotReady,
    /// As the policy of that name.
    IfNotRunning,
}

/// What the controller found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendGroupStatus {
    /// How many backends are selected: pods, 1 for a service, addresses.
    #[serde(default)]
    pub backends: i32,
    /// How many of them are registered, at every port and every load balancer.
    #[serde(default)]
    pub registered_backends: i32,
    /// How many records there shall be: one for each backend, port and load balancer.
    #[serde(default)]
    pub records: i32,
    /// How many of them are registered.
    #[serde(default)]
    pub registered_records: i32,
    /// The generation of the spec that this was found for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}
