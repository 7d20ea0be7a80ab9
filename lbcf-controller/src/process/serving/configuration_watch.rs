//! Watches the webhook configurations, each by its name, so that one that is created, replaced or
//! edited gets the CA certificates at once, and so that the controller is not ready while one lacks
//! them (d49).

use super::ca_bundle::{ConfigurationName, Configurations, has_ca_bundle, with_ca_bundle};
use crate::process::error_text::in_full;
use futures::StreamExt as _;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::watch_object;
use serde_json::Value;
use std::collections::BTreeMap;
use std::pin::pin;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The webhooks of the configurations that are known to exist. Those that cannot be watched, for example
/// without the permission, are not among them: each rotation reads them live.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct WatchedConfigurations(BTreeMap<ConfigurationName, Value>);

impl WatchedConfigurations {
    /// Whether the CA certificates of one differ from these, in whatever way: publishing decides that
    /// on the Secret and a live read.
    pub(super) fn differ_from(&self, ca_bundle: &str) -> bool {
        let mut webhooks = self.0.values();
        webhooks.any(|webhooks| with_ca_bundle(webhooks, ca_bundle).is_some())
    }

    /// Whether API servers trust these CA certificates in every configuration that exists. Where none is
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
    pub(super) fn start(client: &Client, configurations: &Configurations) -> Self {
        let (sender, known) = watch::channel(WatchedConfigurations::default());
        let names = configurations.each();
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

    /// Whether there was a change since.
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
        known.send_if_modified(|known| {
            let old = match object {
                Some(object) => {
                    let webhooks = object.data["webhooks"].clone();
                    let is_new = known.0.get(&name) != Some(&webhooks);
                    known.0.insert(name.clone(), webhooks);
                    return is_new;
                }
                None => known.0.remove(&name),
            };
            old.is_some()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::ByteString;
    use serde_json::json;

    fn configurations() -> Configurations {
        Configurations {
            validating: vec!["validate".into()],
            mutating: vec!["mutate".into()],
        }
    }

    /// The second configuration has these webhooks, or does not exist; the first one has the CA "new".
    fn watched(second: Option<Value>) -> WatchedConfigurations {
        let states = [Some(webhooks("new")), second];
        let configurations = configurations();
        let states = configurations.each().zip(states);
        WatchedConfigurations(
            states
                .filter_map(|(name, state)| Some((name, state?)))
                .collect(),
        )
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
