//! LoadBalancerDriver: where a driver is served (section 2 of the behaviour list).

use super::{Condition, null_as_default};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a driver is served and how long its webhooks may take.
#[derive(
    CustomResource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
)]
#[kube(
    group = "lbcf.tkestack.io",
    version = "v1beta1",
    kind = "LoadBalancerDriver",
    plural = "loadbalancerdrivers",
    shortname = "lbd",
    shortname = "driver",
    category = "lbcf",
    namespaced,
    status = "LoadBalancerDriverStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "Where a driver is served and how long its webhooks may take.",
    printcolumn(name = "URL", type_ = "string", json_path = ".spec.url"),
    printcolumn(
        name = "Accepted",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = super::crd_rules::DRIVER.to_json()))]
pub struct LoadBalancerDriverSpec {
    /// How the driver is reached; `Webhook` is the only way there is.
    pub driver_type: String,
    /// The driver's address; each webhook's name is added to its path.
    pub url: String,
    /// Timeouts of single webhooks.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Option<Vec<WebhookConfig>>")]
    pub webhooks: Vec<WebhookConfig>,
    /// Whether the driver may be called with `dryRun: true`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<bool>")]
    pub accept_dry_run_call: bool,
}

/// One webhook's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConfig {
    /// The webhook's name, such as `ensureBackend`.
    pub name: String,
    /// How long it may take, such as `15s`: at most 1m, 10s when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// What the controller found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerDriverStatus {
    /// `Accepted`: the controller took the driver.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
}
