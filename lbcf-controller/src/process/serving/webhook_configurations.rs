//! Publishes the CA certificates in webhook configurations, where API servers read them.
//!
//! The configurations are watched, each by its name, so that one that is created, replaced or edited gets
//! the CA certificates at once, and so that the controller is not ready while one lacks them.

use crate::process::api_server::{ApiError, ApiServer};
use crate::process::text::in_full;
use futures::StreamExt as _;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::watch_object;
use kube::{Client, Resource as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::pin;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Attempts of a patch where other writers change the configuration.
const ATTEMPTS: usize = 5;

/// A webhook configuration that gets the CA certificates, whenever it exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigurationName {
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
    configurations: &[ConfigurationName],
    ca_bundle: &str,
) -> Result<usize, PublishError> {
    let mut changed = 0;
    let mut failed = None;
    for configuration in configurations {
        match publish_in(api, configuration, ca_bundle).await {
            Ok(true) => {
                tracing::info!(%configuration, "published the CA certificates");
                changed += 1;
            }
            Ok(false) => {}
            Err(source) => {
                failed.get_or_insert(PublishError {
                    configuration: configuration.clone(),
                    source,
                });
            }
        }
    }
    failed.map_or(Ok(changed), Err)
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

/// Returns true if it changed the configuration.
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

/// True where all webhooks have at least these CA certificates.
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

/// The webhooks of the configurations that are known to exist. Those that cannot be watched, for example
/// without the permission, are not among them: each rotation reads them live.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WatchedConfigurations(BTreeMap<ConfigurationName, Value>);

impl WatchedConfigurations {
    /// True where the CA certificates of one differ from these, in whatever way: publishing decides that
    /// on the Secret and a live read.
    pub(super) fn differ_from(&self, ca_bundle: &str) -> bool {
        let mut webhooks = self.0.values();
        webhooks.any(|webhooks| with_ca_bundle(webhooks, ca_bundle).is_some())
    }

    /// Checks that API servers trust these CA certificates in every configuration that exists. Where none is
    /// installed, nothing is refused.
    ///
    /// # Errors
    /// Which configuration lacks them.
    pub(super) fn trust(&self, ca_bundle: &str) -> Result<(), String> {
        let lacking = |(_, webhooks): &(_, &Value)| !has_ca_bundle(webhooks, ca_bundle);
        match self.0.iter().find(lacking) {
            None => Ok(()),
            Some((name, _)) => Err(format!(
                "{name} lacks the controller's CA certificates, so that the API server refuses what users write"
            )),
        }
    }
}

/// Follows the configurations until it is dropped.
pub(super) struct ConfigurationWatch {
    known: watch::Receiver<WatchedConfigurations>,
    _tasks: JoinSet<()>,
}

impl ConfigurationWatch {
    pub(super) fn start(client: &Client, configurations: &[ConfigurationName]) -> Self {
        let (sender, known) = watch::channel(WatchedConfigurations::default());
        let names = configurations.iter().cloned();
        let tasks = names.map(|name| follow(client.clone(), name, sender.clone()));
        Self {
            known,
            _tasks: tasks.collect(),
        }
    }

    pub(super) fn known(&self) -> WatchedConfigurations {
        self.known.borrow().clone()
    }

    /// From here on, [`ConfigurationWatch::changed`] reports only later changes.
    pub(super) fn mark_seen(&mut self) {
        self.known.mark_unchanged();
    }

    pub(super) fn has_changed(&self) -> bool {
        self.known.has_changed().unwrap_or_default()
    }

    /// Waits for a change.
    pub(super) async fn changed(&mut self) {
        if self.known.changed().await.is_err() {
            // Only where there is no configuration to watch.
            std::future::pending::<()>().await;
        }
    }
}

async fn follow(
    client: Client,
    name: ConfigurationName,
    known: watch::Sender<WatchedConfigurations>,
) {
    let api: Api<DynamicObject> = Api::all_with(client, &name.resource());
    let mut states = pin!(watch_object(api, name.name()).default_backoff());
    while let Some(state) = states.next().await {
        let object = match state {
            Ok(object) => object,
            Err(error) => {
                let error = in_full(&error);
                tracing::warn!(configuration = %name, error, "watching failed; retrying");
                continue;
            }
        };
        known.send_if_modified(|known| match &object {
            Some(object) => {
                let webhooks = &object.data["webhooks"];
                known.0.insert(name.clone(), webhooks.clone()).as_ref() != Some(webhooks)
            }
            None => known.0.remove(&name).is_some(),
        });
    }
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

#[cfg(test)]
mod configuration_watch_tests {
    use super::*;
    use k8s_openapi::ByteString;
    use serde_json::json;

    /// The second configuration has these webhooks, or does not exist; the first one has the CA "new".
    fn watched(second: Option<Value>) -> WatchedConfigurations {
        let first = ConfigurationName::Validating("validate".into());
        let second =
            second.map(|webhooks| (ConfigurationName::Mutating("mutate".into()), webhooks));
        let states = [(first, webhooks("new"))].into_iter().chain(second);
        WatchedConfigurations(states.collect())
    }

    fn webhooks(ca_bundle: &str) -> Value {
        let ca_bundle = ByteString(ca_bundle.as_bytes().to_vec());
        json!([{"name": "a", "clientConfig": {"url": "https://x", "caBundle": ca_bundle}}])
    }

    #[test]
    fn d49_a_configuration_without_the_ca_is_named_and_one_that_does_not_exist_is_fine() {
        for (second, is_trusted, differs) in [
            (Some(webhooks("new")), true, false),
            (None, true, false),
            (Some(webhooks("")), false, true),
            (Some(webhooks("old")), false, true),
            (
                Some(json!([{"name": "a", "clientConfig": {"url": "https://x"}}])),
                false,
                true,
            ),
            // Another replica has published a further one, before or after this one.
            (Some(webhooks("newer,new,old")), true, true),
            (Some(Value::Null), true, false),
            (Some(json!([])), true, false),
        ] {
            let case = format!("{second:?}");
            let watched = watched(second);
            assert_eq!(watched.differ_from("new"), differs, "{case}");
            let error = watched.trust("new").err().unwrap_or_default();
            assert_eq!(error.is_empty(), is_trusted, "{case}: {error}");
            let is_named = error.contains("MutatingWebhookConfiguration mutate lacks");
            assert_eq!(is_named, !is_trusted, "{case}: {error}");
        }
    }
}
