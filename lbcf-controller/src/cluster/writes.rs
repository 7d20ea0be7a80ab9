//! Writes to the API server.
//!
//! Each write carries the uid and the resourceVersion that its decision was made on: where the
//! object changed since, or is a namesake, the write fails with a conflict and the next look
//! decides anew. Each has a time limit of its own, as the client alone would retry for minutes.

use crate::api::NamespacedKind as Kind;
use crate::key::ObjectKey;
use crate::metrics::{Metrics, Operation};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Client, Resource};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;
use tokio::time::Instant;

/// Who writes, in `managedFields`.
const FIELD_MANAGER: &str = "lbcf-controller";

/// Why a write did not happen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object changed since it was looked at, exists already, or is gone: look again.
    #[error("the object changed since it was looked at")]
    Stale,
    /// The API server did not answer in time.
    #[error("the API server did not answer within {}s", .0.as_secs())]
    Timeout(Duration),
    /// The API server refused.
    #[error(transparent)]
    Refused(kube::Error),
    /// Nothing is written in a dry run.
    #[error("nothing is written in a dry run")]
    DryRun,
}

/// Writes to the API server.
#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    timeout: Duration,
    dry_run: bool,
    metrics: Metrics,
}

impl Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Writer {
    pub(crate) const fn new(
        client: Client,
        timeout: Duration,
        dry_run: bool,
        metrics: Metrics,
    ) -> Self {
        Self {
            client,
            timeout,
            dry_run,
            metrics,
        }
    }

    pub(crate) async fn create<K: Kind>(&self, object: &K) -> Result<K, WriteError> {
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PostParams::default()
        };
        self.unless_dry_run("create", object, &json!({}))?;
        let api = self.api(object);
        self.within::<K, _>(Operation::Create, api.create(&params, object))
            .await
    }

    /// The object as it is now; none where it is gone.
    pub(crate) async fn get<K: Kind>(&self, key: &ObjectKey) -> Result<Option<K>, WriteError> {
        let api: Api<K> = Api::namespaced(self.client.clone(), &key.namespace);
        self.limited(api.get_opt(&key.name)).await
    }

    /// Asks for deletion of just this object; gives its state where it stays for its finalizers.
    pub(crate) async fn delete<K: Kind>(&self, object: &K) -> Result<Option<K>, WriteError> {
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: object.meta().uid.clone(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        self.unless_dry_run("delete", object, &json!({}))?;
        let api = self.api(object);
        let deletion = api.delete(name(object), &params);
        let deleted = self.within::<K, _>(Operation::Delete, deletion).await?;
        Ok(deleted.left())
    }

    /// Changes an object's status from `old` to `new`.
    pub(crate) async fn status<K: Kind, S: Serialize + Sync>(
        &self,
        object: &K,
        old: Option<&S>,
        new: &S,
    ) -> Result<K, WriteError> {
        let patch = json!({ "status": difference(&value(&old)?, &value(new)?) });
        self.unless_dry_run("change the status of", object, &patch)?;
        let patch = Patch::Merge(guarded(object, patch));
        let api = self.api(object);
        let params = params();
        let change = api.patch_status(name(object), &params, &patch);
        self.within::<K, _>(Operation::UpdateStatus, change).await
    }

    /// Changes an object's spec from `old` to `new`.
    pub(crate) async fn spec<K: Kind, S: Serialize + Sync>(
        &self,
        object: &K,
        old: &S,
        new: &S,
    ) -> Result<K, WriteError> {
        let patch = json!({ "spec": difference(&value(old)?, &value(new)?) });
        self.patch(object, patch).await
    }

    /// Changes an object's finalizers.
    pub(crate) async fn finalizers<K: Kind>(
        &self,
        object: &K,
        finalizers: &[String],
    ) -> Result<K, WriteError> {
        self.patch(object, json!({ "metadata": { "finalizers": finalizers } }))
            .await
    }

    async fn patch<K: Kind>(&self, object: &K, patch: Value) -> Result<K, WriteError> {
        self.unless_dry_run("change", object, &patch)?;
        let patch = Patch::Merge(guarded(object, patch));
        let api = self.api(object);
        let params = params();
        let change = api.patch(name(object), &params, &patch);
        self.within::<K, _>(Operation::Update, change).await
    }

    /// d23: in a dry run, what would be written is logged and nothing else.
    fn unless_dry_run<K: Kind>(
        &self,
        what: &str,
        object: &K,
        patch: &Value,
    ) -> Result<(), WriteError> {
        if !self.dry_run {
            return Ok(());
        }
        let kind = K::kind(&());
        let object = ObjectKey::of(object);
        tracing::info!(%kind, %object, %patch, "dry run: would {what} it");
        Err(WriteError::DryRun)
    }

    fn api<K: Kind>(&self, object: &K) -> Api<K> {
        let namespace = object.meta().namespace.as_deref().unwrap_or_default();
        Api::namespaced(self.client.clone(), namespace)
    }

    async fn within<K: Kind, T>(
        &self,
        operation: Operation,
        call: impl Future<Output = kube::Result<T>> + Send,
    ) -> Result<T, WriteError> {
        let began = Instant::now();
        let ended = self.limited(call).await;
        self.metrics
            .written(&K::kind(&()), operation, began.elapsed());
        ended
    }

    async fn limited<T>(
        &self,
        call: impl Future<Output = kube::Result<T>> + Send,
    ) -> Result<T, WriteError> {
        match tokio::time::timeout(self.timeout, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(kube::Error::Api(status)))
                if status.is_conflict() || status.is_not_found() || status.is_already_exists() =>
            {
                Err(WriteError::Stale)
            }
            Ok(Err(error)) => Err(WriteError::Refused(error)),
            Err(_) => Err(WriteError::Timeout(self.timeout)),
        }
    }
}

fn params() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.into()),
        ..PatchParams::default()
    }
}

fn name<K: Resource>(object: &K) -> &str {
    object.meta().name.as_deref().unwrap_or_default()
}

fn value<S: Serialize>(object: &S) -> Result<Value, WriteError> {
    serde_json::to_value(object)
        .map_err(|error| WriteError::Refused(kube::Error::SerdeError(error)))
}

/// Binds a patch to the state that it was decided on.
fn guarded<K: Resource>(object: &K, mut patch: Value) -> Value {
    if let Some(patch) = patch.as_object_mut() {
        let metadata = patch
            .entry("metadata")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("uid".into(), json!(object.meta().uid));
            metadata.insert(
                "resourceVersion".into(),
                json!(object.meta().resource_version),
            );
        }
    }
    patch
}

/// The merge patch that makes `new` of `old`: what is gone from a map has to be said.
fn difference(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return new.clone();
    };
    let mut patch = Map::new();
    for (key, new) in new {
        match old.get(key) {
            Some(old) if old == new => {}
            Some(old) => {
                patch.insert(key.clone(), difference(old, new));
            }
            None => {
                patch.insert(key.clone(), new.clone());
            }
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_says_what_came_changed_and_went() {
        let old = json!({"same": 1, "changed": {"a": "1", "gone": "2"}, "list": [1], "gone": 1});
        let new =
            json!({"same": 1, "changed": {"a": "1", "b": "3"}, "list": [2], "came": {"x": "y"}});
        assert_eq!(
            difference(&old, &new),
            json!({"changed": {"b": "3", "gone": null}, "list": [2], "came": {"x": "y"}, "gone": null})
        );
        assert_eq!(difference(&Value::Null, &new), new);
    }
}
