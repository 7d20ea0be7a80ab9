//! LoadBalancerDriver: a driver that the controller may call.

use super::{Condition, ServiceClass, nullable};
use kube::CustomResource;
use lbcf_driver_sdk::webhook::HealthzResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A LoadBalancerDriver is a driver that the controller calls: its URL and its timeouts.
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
    doc = "A LoadBalancerDriver is a driver that the controller calls: its URL and its timeouts.",
    printcolumn(name = "URL", type_ = "string", json_path = ".spec.url"),
    printcolumn(
        name = "Accepted",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Accepted\")].status"
    ),
    printcolumn(
        name = "Healthy",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Healthy\")].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::crd_rules::load_balancer_driver)]
pub struct LoadBalancerDriverSpec {
    /// Type of the driver. The only value is `Webhook`. Immutable.
    pub driver_type: String,
    /// Base URL of the driver. The name of a webhook is appended to its path. Immutable. Example:
    /// `http://my-driver.my-namespace.svc:8080`.
    pub url: String,
    /// Timeouts of individual webhooks. Admission adds the webhooks that are not listed, except for
    /// `listBackends`: listing it declares that the driver serves it, and the controller looks for
    /// backends that are left over.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<WebhookConfig>>")]
    pub webhooks: Vec<WebhookConfig>,
    /// Set to `true` if the driver handles calls with `dryRun: true` without side effects. Default
    /// `false`: the driver is not called in a dry run.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<bool>")]
    pub accept_dry_run_call: bool,
    /// Serves Services of type LoadBalancer with this class: the controller makes their LoadBalancers and
    /// BackendGroups. By default no Service is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_class: Option<ServiceClass>,
}

/// Settings of one webhook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConfig {
    /// Name of the webhook, such as `ensureBackend`.
    pub name: String,
    /// Timeout of a call, as a duration such as `15s`. Maximum 1m, for `healthz` 5s; default 10s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// The observed state of a LoadBalancerDriver, written by the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerDriverStatus {
    /// `Accepted`: the controller has taken the driver into use. `Healthy`: the driver responds to
    /// `healthz` that it is healthy; `Unknown` if it does not serve that webhook. `ServiceClass`: the driver
    /// serves the Services of its class, or another one that names the same does.
    #[serde(default, with = "nullable")]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub conditions: Vec<Condition>,
    /// Version of the specification that the driver follows, such as `1`, by its last response to `healthz`. Absent
    /// if it does not say.
    #[serde(default, with = "nullable", skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>")]
    pub specification: String,
    /// Abilities beyond what every driver has, by its last response to `healthz`. `batches`: calls
    /// about one load balancer come together. `cancel`: an `ensureBackend` takes back a `deregisterBackend` that is
    /// running. `pages`: audits list its backends in pages. `reasons`: its failures may have a reason, which
    /// conditions show.
    #[serde(default, with = "nullable", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub features: Vec<String>,
}

impl LoadBalancerDriver {
    /// True if the driver says that `ensureBackend` takes back a `deregisterBackend` that is running.
    pub(crate) fn can_cancel(&self) -> bool {
        self.has_feature(HealthzResponse::CANCEL)
    }

    pub(crate) fn has_feature(&self, name: &str) -> bool {
        let features = self.status.as_ref().map(|status| &status.features);
        features.is_some_and(|features| features.iter().any(|feature| feature == name))
    }
}
