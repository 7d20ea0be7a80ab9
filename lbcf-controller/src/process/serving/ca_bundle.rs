//! Publishes the CA certificates in webhook configurations, where API servers read them.

use super::api_server::{ApiError, ApiServer};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kube::Resource as _;
use kube::api::{ApiResource, DynamicObject};
use serde_json::{Value, json};
use std::fmt;

/// How often a patch is tried where other writers change the configuration.
const ATTEMPTS: usize = 5;

/// The names of the webhook configurations that get the CA certificates, whenever they exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Configurations {
    pub(crate) validating: Vec<String>,
    pub(crate) mutating: Vec<String>,
}

/// One webhook configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ConfigurationName {
    Validating(String),
    Mutating(String),
}

/// A configuration that cannot get the CA certificates.
#[derive(Debug, thiserror::Error)]
#[error("{configuration}: {source}")]
pub(crate) struct PublishError {
    configuration: ConfigurationName,
    #[source]
    source: ApiError,
}

/// Puts the CA certificates into every webhook of the configurations, where they differ, and returns
/// how many configurations it changed. One that fails does not keep others from being changed.
pub(super) async fn publish(
    api: &ApiServer,
    configurations: &Configurations,
    ca_bundle: &str,
) -> Result<usize, PublishError> {
    let mut changed = 0;
    let mut failed = None;
    for configuration in configurations.each() {
        match publish_in(api, &configuration, ca_bundle).await {
            Ok(true) => {
                tracing::info!(%configuration, "published the CA certificates");
                changed += 1;
            }
            Ok(false) => {}
            Err(source) => {
                let error = PublishError {
                    configuration,
                    source,
                };
                failed.get_or_insert(error);
            }
        }
    }
    failed.map_or(Ok(changed), Err)
}

impl Configurations {
    pub(super) fn each(&self) -> impl Iterator<Item = ConfigurationName> {
        let validating = self.validating.iter().cloned();
        let mutating = self.mutating.iter().cloned();
        validating
            .map(ConfigurationName::Validating)
            .chain(mutating.map(ConfigurationName::Mutating))
    }
}

impl ConfigurationName {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Validating(name) | Self::Mutating(name) => name,
        }
    }

    pub(super) fn resource(&self) -> ApiResource {
        match self {
            Self::Validating(_) => ApiResource::erase::<ValidatingWebhookConfiguration>(&()),
            Self::Mutating(_) => ApiResource::erase::<MutatingWebhookConfiguration>(&()),
        }
    }
}

impl fmt::Display for ConfigurationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.resource().kind, self.name())
    }
}

/// Whether the configuration was changed.
async fn publish_in(
    api: &ApiServer,
    configuration: &ConfigurationName,
    ca_bundle: &str,
) -> Result<bool, ApiError> {
    let resource = DynamicObject::url_path(&configuration.resource(), None);
    let (resource, name) = (resource.as_str(), configuration.name());
    let mut left = ATTEMPTS;
    loop {
        // Untyped, so that fields of newer clusters stay: a patch replaces the list as a whole.
        let Some(configuration) = api.get::<Value>(resource, name).await? else {
            return Ok(false);
        };
        let Some(webhooks) = with_ca_bundle(&configuration["webhooks"], ca_bundle) else {
            return Ok(false);
        };
        let metadata = &configuration["metadata"];
        let patch = json!({
            "metadata": { "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"] },
            "webhooks": webhooks,
        });
        left -= 1;
        match api.merge(resource, name, patch).await {
            Err(ApiError::Stale) if left > 0 => {}
            other => return other.map(|_| true),
        }
    }
}

/// Whether clients that trust the CA certificates of any of the webhooks trust these: all of them have
/// at least these.
pub(super) fn has_ca_bundle(webhooks: &Value, ca_bundle: &str) -> bool {
    let mut webhooks = webhooks.as_array().into_iter().flatten();
    webhooks.all(|webhook| {
        let published = webhook["clientConfig"]["caBundle"].clone();
        let published = serde_json::from_value::<ByteString>(published);
        published.is_ok_and(|published| {
            let published = String::from_utf8(published.0);
            published.is_ok_and(|published| published.contains(ca_bundle))
        })
    })
}

/// The webhooks with the CA certificates; `None` where they have them already.
pub(super) fn with_ca_bundle(webhooks: &Value, ca_bundle: &str) -> Option<Value> {
    let ca_bundle = serde_json::to_value(ByteString(ca_bundle.as_bytes().to_vec())).ok()?;
    let mut changed = webhooks.clone();
    for webhook in changed.as_array_mut()? {
        let client_config = webhook.get_mut("clientConfig")?.as_object_mut()?;
        client_config.insert("caBundle".into(), ca_bundle.clone());
    }
    (changed != *webhooks).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u47_webhooks_that_differ_get_the_ca_certificates_and_keep_the_rest() {
        let service = json!({"name": "lbcf", "namespace": "kube-system"});
        let webhooks = json!([
            {"name": "a", "clientConfig": {"service": service, "caBundle": "b2xk"}, "future": 1},
            {"name": "b", "clientConfig": {"url": "https://x"}},
        ]);
        let changed = with_ca_bundle(&webhooks, "new").unwrap();
        assert_eq!(
            changed,
            json!([
                {"name": "a", "clientConfig": {"service": service, "caBundle": "bmV3"}, "future": 1},
                {"name": "b", "clientConfig": {"url": "https://x", "caBundle": "bmV3"}},
            ])
        );
        assert_eq!(with_ca_bundle(&changed, "new"), None);
    }

    #[test]
    fn a_configuration_without_webhooks_is_left_alone() {
        for webhooks in [Value::Null, json!([]), json!({}), json!([{"name": "a"}])] {
            assert_eq!(with_ca_bundle(&webhooks, "new"), None, "{webhooks}");
        }
    }
}
