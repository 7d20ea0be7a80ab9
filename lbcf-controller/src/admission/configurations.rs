//! The two webhook configurations, generated from the list of webhooks.

use super::table::{Action, HOOKS, Hook, Kind};
use crate::api::names::{
    CONTROLLER, INJECT_READINESS_GATE, LABEL_INJECT_READINESS_GATE, SYSTEM_NAMESPACE,
};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ServiceReference,
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::api::ObjectMeta;
use std::collections::BTreeMap;

/// Name of the `MutatingWebhookConfiguration`, the same as in the original, which is thereby replaced.
pub const MUTATING_CONFIGURATION: &str = "lbcf-mutate";
/// Name of the `ValidatingWebhookConfiguration`, the same as in the original, which is thereby
/// replaced.
pub const VALIDATING_CONFIGURATION: &str = "lbcf-validate";

/// Timeout of webhooks that call drivers: the longest that is allowed.
const DRIVER_TIMEOUT_SECONDS: i32 = 30;
/// Timeout of the other webhooks, which at most read from the API server.
const TIMEOUT_SECONDS: i32 = 10;
/// Timeout of the webhook for pods, which reads nothing: pods are created without it, too.
const POD_TIMEOUT_SECONDS: i32 = 3;

/// The address at which the API server calls the admission webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A Service of the cluster.
    Service {
        /// Namespace of the Service.
        namespace: String,
        /// Name of the Service.
        name: String,
        /// Port of the Service.
        port: u16,
    },
    /// A URL outside the cluster, `https://HOST:PORT` without a path.
    Url(String),
}

impl Default for Endpoint {
    /// The Service of the manifests in `deploy/`.
    fn default() -> Self {
        Self::Service {
            namespace: SYSTEM_NAMESPACE.into(),
            name: CONTROLLER.into(),
            port: 443,
        }
    }
}

/// The two objects that register the webhooks with the API server.
#[derive(Debug, Clone, PartialEq)]
pub struct Configurations {
    /// Webhooks that mutate objects.
    pub mutating: MutatingWebhookConfiguration,
    /// Webhooks that validate objects.
    pub validating: ValidatingWebhookConfiguration,
}

/// The configurations of webhooks that are served at `endpoint`.
///
/// `ca_bundle` are the CA certificates of the endpoint in PEM; without it the API server uses the
/// system's trust roots.
#[must_use]
pub fn configurations(endpoint: &Endpoint, ca_bundle: Option<&[u8]>) -> Configurations {
    let (mutating, validating): (Vec<_>, Vec<_>) = HOOKS
        .iter()
        .map(|hook| (hook, client_config(endpoint, ca_bundle, hook.path)))
        .partition(|(hook, _)| hook.action == Action::Mutate);
    let metadata = |name: &str| ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    Configurations {
        mutating: MutatingWebhookConfiguration {
            metadata: metadata(MUTATING_CONFIGURATION),
            webhooks: Some(mutating.into_iter().map(mutating_webhook).collect()),
        },
        validating: ValidatingWebhookConfiguration {
            metadata: metadata(VALIDATING_CONFIGURATION),
            webhooks: Some(validating.into_iter().map(validating_webhook).collect()),
        },
    }
}

fn mutating_webhook((hook, client_config): (&Hook, WebhookClientConfig)) -> MutatingWebhook {
    // Without the controller no object of LBCF is created, but pods are.
    let (failure_policy, namespace_selector) = match hook.kind {
        Kind::Pod => ("Ignore", Some(injected_namespaces())),
        _ => ("Fail", None),
    };
    MutatingWebhook {
        name: hook.kind.webhook_name(),
        admission_review_versions: vec!["v1".into()],
        client_config,
        failure_policy: Some(failure_policy.into()),
        match_policy: Some("Equivalent".into()),
        namespace_selector,
        reinvocation_policy: Some("Never".into()),
        rules: Some(vec![rule(hook)]),
        side_effects: "None".into(),
        timeout_seconds: Some(timeout_seconds(hook)),
        ..MutatingWebhook::default()
    }
}

fn validating_webhook((hook, client_config): (&Hook, WebhookClientConfig)) -> ValidatingWebhook {
    // A driver may have side effects; a dry run calls only drivers that accept it.
    let side_effects = match hook.action {
        Action::ValidateWithDrivers => "NoneOnDryRun",
        _ => "None",
    };
    ValidatingWebhook {
        name: hook.kind.webhook_name(),
        admission_review_versions: vec!["v1".into()],
        client_config,
        failure_policy: Some("Fail".into()),
        match_policy: Some("Equivalent".into()),
        rules: Some(vec![rule(hook)]),
        side_effects: side_effects.into(),
        timeout_seconds: Some(timeout_seconds(hook)),
        ..ValidatingWebhook::default()
    }
}

fn timeout_seconds(hook: &Hook) -> i32 {
    match (hook.kind, hook.action) {
        (Kind::Pod, _) => POD_TIMEOUT_SECONDS,
        (_, Action::ValidateWithDrivers) => DRIVER_TIMEOUT_SECONDS,
        _ => TIMEOUT_SECONDS,
    }
}

/// The configurations as a YAML stream for `kubectl apply -f -`.
///
/// # Errors
/// If they cannot be written as YAML, which would be a defect of this crate.
pub fn configurations_yaml(
    endpoint: &Endpoint,
    ca_bundle: Option<&[u8]>,
) -> Result<String, serde_saphyr::ser::Error> {
    let both = configurations(endpoint, ca_bundle);
    let mutating = serde_saphyr::to_string(&both.mutating)?;
    let validating = serde_saphyr::to_string(&both.validating)?;
    Ok(format!("---\n{mutating}---\n{validating}"))
}

fn client_config(endpoint: &Endpoint, ca_bundle: Option<&[u8]>, path: &str) -> WebhookClientConfig {
    let (service, url) = match endpoint {
        Endpoint::Service {
            namespace,
            name,
            port,
        } => {
            let service = ServiceReference {
                namespace: namespace.clone(),
                name: name.clone(),
                path: Some(path.to_owned()),
                port: Some(i32::from(*port)),
            };
            (Some(service), None)
        }
        Endpoint::Url(url) => (None, Some(format!("{}{path}", url.trim_end_matches('/')))),
    };
    WebhookClientConfig {
        ca_bundle: ca_bundle.map(|pem| ByteString(pem.to_vec())),
        service,
        url,
    }
}

/// The namespaces whose new pods get the readiness gate.
fn injected_namespaces() -> LabelSelector {
    LabelSelector {
        match_labels: Some(BTreeMap::from([(
            LABEL_INJECT_READINESS_GATE.to_owned(),
            INJECT_READINESS_GATE.to_owned(),
        )])),
        match_expressions: None,
    }
}

/// Matches the kind without its subresources, so status writes are not sent.
fn rule(hook: &Hook) -> RuleWithOperations {
    let resource = hook.kind.resource();
    let operations = hook.operations.iter().map(|operation| operation.as_str());
    RuleWithOperations {
        api_groups: Some(vec![resource.group]),
        api_versions: Some(vec![resource.version]),
        operations: Some(operations.map(str::to_owned).collect()),
        resources: Some(vec![resource.plural]),
        scope: Some("Namespaced".into()),
    }
}
