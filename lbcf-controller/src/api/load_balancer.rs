//! LoadBalancer: a load balancer that exists or is to be created.

use super::{Condition, EnsurePolicy, StringMap, nullable};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A LoadBalancer is a load balancer of an external system, existing or to be created.
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
    doc = "A LoadBalancer is a load balancer of an external system, existing or to be created.",
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
    printcolumn(name = "Address", type_ = "string", json_path = ".status.lbInfo.address"),
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
#[schemars(transform = super::crd_rules::load_balancer)]
pub struct LoadBalancerSpec {
    /// Name of a LoadBalancerDriver. A name that starts with `lbcf-` refers to kube-system, any
    /// other to this namespace. Immutable.
    pub lb_driver: String,
    /// Identifies an existing load balancer, or describes the one to create. The driver defines the
    /// keys and values. Immutable. Example: `{lbID: lb-7wf394rv}`.
    pub lb_spec: StringMap,
    /// Settings that may change during the load balancer's life. The driver defines the keys and
    /// values.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    pub attributes: StringMap,
    /// Namespaces that may use the load balancer; `*` allows all. Empty, the default, allows only
    /// its own. Can be set only in kube-system and with a name that starts with `lbcf-`.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub scope: Vec<String>,
    /// Determines whether `ensureLoadBalancer` is called again while nothing has changed. By
    /// default it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensure_policy: Option<EnsurePolicy>,
}

/// The observed state of a LoadBalancer, written by the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerStatus {
    /// Identity of the load balancer, returned by `createLoadBalancer`; a copy of `lbSpec` where the
    /// driver returned none.
    #[serde(default, skip_serializing_if = "StringMap::is_empty")]
    pub lb_info: StringMap,
    /// Digest of the attributes that the driver was called with last. `ensureLoadBalancer` is called
    /// when it is not that of the spec's. Absent where the original controller wrote the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_digest: Option<String>,
    /// The attributes themselves, where an earlier controller wrote the status. The next write replaces
    /// them by their digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_attributes: Option<StringMap>,
    /// `Created`: the load balancer exists. `AttributesSynced`: it has the attributes of the spec.
    /// `Deleted`: why it still exists although it is being deleted.
    /// `Drift`: backends are registered that no BackendRecord accounts for.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}

impl LoadBalancerStatus {
    /// Reports whether these attributes are those that the driver was called with last.
    #[must_use]
    pub fn has_synced(&self, attributes: &StringMap) -> bool {
        match &self.last_synced_digest {
            Some(digest) => *digest == attributes.digest(),
            None => self.last_synced_attributes.as_ref() == Some(attributes),
        }
    }
}
