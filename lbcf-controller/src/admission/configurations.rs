//! What tells the API server to ask us: the two webhook configurations, from the table.

use super::table::{Action, HOOKS, Hook};
use crate::api::GROUP;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ServiceReference,
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube::api::ObjectMeta;

/// The name of the `MutatingWebhookConfiguration`; the original's, so that applying ours replaces
/// it.
pub const MUTATING_CONFIGURATION: &str = "lbcf-mutate";
/// The name of the `ValidatingWebhookConfiguration`; the original's, so that applying ours
/// replaces it.
pub const VALIDATING_CONFIGURATION: &str = "lbcf-validate";

/// The longest that the API server waits for any webhook. Drivers are asked within it.
const PATIENT_SECONDS: i32 = 30;
/// How long the API server waits for a webhook that asks nobody but the API server itself.
const USUAL_SECONDS: i32 = 10;

/// Where the API server finds the admission webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A service of the cluster.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its port.
        port: u16,
    },
    /// A place outside the cluster: `https://HOST:PORT`, without a path.
    Url(String),
}

impl Default for Endpoint {
    /// The service that the manifests in `deploy/` make.
    fn default() -> Self {
        Self::Service {
            namespace: crate::names::SYSTEM_NAMESPACE.into(),
            name: "lbcf-controller".into(),
            port: 443,
        }
    }
}

/// The two objects that tell the API server to ask us.
#[derive(Debug, Clone, PartialEq)]
pub struct Configurations {
    /// The webhooks that change objects.
    pub mutating: MutatingWebhookConfiguration,
    /// The webhooks that say yes or no.
    pub validating: ValidatingWebhookConfiguration,
}

/// The configurations for webhooks that are served at `endpoint`.
///
/// `ca_bundle` is PEM: the certificates that the API server trusts there; without it, those that
/// it trusts anyway.
#[must_use]
pub fn configurations(endpoint: &Endpoint, ca_bundle: Option<&[u8]>) -> Configurations {
    let client_config = |hook: &Hook| client_config(endpoint, ca_bundle, hook.path);
    let metadata = |name: &str| ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    let mut mutating = Vec::new();
    let mut validating = Vec::new();
    for hook in HOOKS {
        match hook.action {
            Action::Mutate => mutating.push(MutatingWebhook {
                name: hook.kind.webhook_name(),
                admission_review_versions: vec!["v1".into()],
                client_config: client_config(hook),
                failure_policy: Some("Fail".into()),
                match_policy: Some("Equivalent".into()),
                reinvocation_policy: Some("Never".into()),
                rules: Some(vec![rule(hook)]),
                side_effects: "None".into(),
                timeout_seconds: Some(USUAL_SECONDS),
                ..MutatingWebhook::default()
            }),
            Action::Validate { asks_drivers } => validating.push(ValidatingWebhook {
                name: hook.kind.webhook_name(),
                admission_review_versions: vec!["v1".into()],
                client_config: client_config(hook),
                failure_policy: Some("Fail".into()),
                match_policy: Some("Equivalent".into()),
                rules: Some(vec![rule(hook)]),
                // A driver may note whom it was asked about; rehearsals ask it only if it agrees.
                side_effects: if asks_drivers { "NoneOnDryRun" } else { "None" }.into(),
                timeout_seconds: Some(if asks_drivers {
                    PATIENT_SECONDS
                } else {
                    USUAL_SECONDS
                }),
                ..ValidatingWebhook::default()
            }),
        }
    }
    Configurations {
        mutating: MutatingWebhookConfiguration {
            metadata: metadata(MUTATING_CONFIGURATION),
            webhooks: Some(mutating),
        },
        validating: ValidatingWebhookConfiguration {
            metadata: metadata(VALIDATING_CONFIGURATION),
            webhooks: Some(validating),
        },
    }
}

/// The configurations as one YAML stream, for `kubectl apply -f -`.
///
/// # Errors
/// When they cannot be written as YAML, which would be a defect of this crate.
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

/// The kind itself: writing its status asks nobody.
fn rule(hook: &Hook) -> RuleWithOperations {
    let names = hook.kind.names();
    let operations = hook.operations.iter().map(|operation| operation.as_str());
    RuleWithOperations {
        api_groups: Some(vec![GROUP.to_owned()]),
        api_versions: Some(vec![names.version]),
        operations: Some(operations.map(str::to_owned).collect()),
        resources: Some(vec![names.resource]),
        scope: Some("Namespaced".into()),
    }
}
