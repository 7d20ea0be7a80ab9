//! Writes to the API server.
//!
//! Each write carries the uid and the resourceVersion of the state that it was decided on: if the
//! object changed since, or another object has its name, the API server responds with a conflict
//! and the object is reconciled again. Each write has a timeout, as the client alone would retry
//! for minutes. Only the leader writes, until its renew deadline.

mod built_in;
mod raw_list;

pub(crate) use built_in::GateCondition;
pub(crate) use raw_list::RawList;

use super::watched::FromWatched;
use crate::api::names::CONTROLLER;
use crate::api::{BackendRecord, NamespacedKind, ObjectKey};
use crate::process::leader::{LeaseGuard, NotLeading};
use crate::process::metrics::Metrics;
use kube::Client;
use kube::api::{
    Api, DeleteParams, ListParams, ObjectList, Patch, PatchParams, PostParams, Preconditions,
};
use kube::core::object::HasStatus;
use kube::core::{Request, Status};
use serde::Serialize;
use serde::de::Error as _;
use serde_json::{Map, Value, json};
use std::future::Future;
use std::time::Duration;
use tokio::time::Instant;

/// The cause of a 403 for a creation in a namespace that is being deleted.
const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";

#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The object changed since it was read, exists already, or was deleted.
    #[error("the object changed since it was read")]
    Stale,
    #[error("the API server did not respond within {}s", .0.as_secs())]
    Timeout(Duration),
    #[error(transparent)]
    Refused(kube::Error),
    #[error("the namespace is being deleted, so that nothing can be created in it")]
    NamespaceTerminating,
    #[error("nothing is written in a dry run")]
    DryRun,
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
}

impl WriteError {
    /// True if the object is another one than is known: it changed, or the API server gave no response or failed itself, and
    /// may have done what it was asked for.
    pub(crate) const fn is_uncertain(&self) -> bool {
        match self {
            Self::Stale | Self::Timeout(_) => true,
            Self::Refused(kube::Error::Api(status)) => status.code >= 500,
            Self::Refused(_) => true,
            _ => false,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Writer {
    client: Client,
    timeout: Duration,
    dry_run: bool,
    metrics: Metrics,
    guard: LeaseGuard,
}

/// The state of an object that a write is based on.
struct Target {
    kind: String,
    url_path: String,
    key: ObjectKey,
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Target {
    fn of<K: NamespacedKind>(object: &K) -> Self {
        let (key, meta) = (ObjectKey::of(object), object.meta());
        Self {
            kind: K::kind(&()).into_owned(),
            url_path: K::url_path(&(), Some(&key.namespace)),
            key,
            uid: meta.uid.clone(),
            resource_version: meta.resource_version.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patched {
    Object,
    Status,
    /// The status of a kind of Kubernetes. A strategic merge patch leaves the entries of lists that other
    /// clients write.
    PartOfStatus,
}

impl Writer {
    pub(crate) const fn new(
        client: Client,
        timeout: Duration,
        dry_run: bool,
        metrics: Metrics,
        guard: LeaseGuard,
    ) -> Self {
        Self {
            client,
            timeout,
            dry_run,
            metrics,
            guard,
        }
    }

    pub(crate) async fn list<K: NamespacedKind>(
        &self,
        namespace: &str,
        params: &ListParams,
    ) -> Result<ObjectList<K>, WriteError> {
        let api: Api<K> = Api::namespaced(self.client.clone(), namespace);
        self.limited(api.list(params)).await
    }

    /// Like [`Writer::list`], with the objects as text, by name.
    pub(crate) async fn list_as_text<K: NamespacedKind>(
        &self,
        namespace: &str,
        params: &ListParams,
    ) -> Result<RawList, WriteError> {
        let request = Request::new(K::url_path(&(), Some(namespace))).list(params);
        let request = request.map_err(unsendable)?;
        let text = self.limited(self.client.request_text(request)).await?;
        serde_json::from_str(&text).map_err(invalid)
    }

    /// The object as it is now; none if it does not exist.
    pub(crate) async fn get<K: NamespacedKind>(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<K>, WriteError> {
        let api: Api<K> = Api::namespaced(self.client.clone(), &key.namespace);
        self.limited(api.get_opt(&key.name)).await
    }

    pub(crate) async fn create<K: NamespacedKind + FromWatched>(
        &self,
        object: &K,
    ) -> Result<K, WriteError> {
        let params = PostParams {
            field_manager: Some(CONTROLLER.into()),
            ..PostParams::default()
        };
        let target = Target::of(object);
        self.check_dry_run("create", &target, &json!({}))?;
        let body = serde_json::to_vec(object).map_err(invalid)?;
        let request = Request::new(&target.url_path).create(&params, body);
        let request = request.map_err(unsendable)?;
        let created = self.measured(&target, "Create", self.client.request_text(request));
        parsed(&created.await?)
    }

    /// Requests the deletion of just this object; returns its state if finalizers keep it.
    pub(crate) async fn delete<K: NamespacedKind>(
        &self,
        object: &K,
    ) -> Result<Option<K>, WriteError> {
        self.delete_version(object, None).await
    }

    /// Like [`Writer::delete`], unless the record changed since it was read.
    pub(crate) async fn delete_unchanged(
        &self,
        record: &BackendRecord,
    ) -> Result<Option<BackendRecord>, WriteError> {
        let version = record.metadata.resource_version.clone();
        self.delete_version(record, version).await
    }

    async fn delete_version<K: NamespacedKind>(
        &self,
        object: &K,
        resource_version: Option<String>,
    ) -> Result<Option<K>, WriteError> {
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: object.meta().uid.clone(),
                resource_version,
            }),
            ..DeleteParams::default()
        };
        let target = Target::of(object);
        self.check_dry_run("delete", &target, &json!({}))?;
        let api: Api<K> = Api::namespaced(self.client.clone(), &target.key.namespace);
        let deletion = api.delete(&target.key.name, &params);
        let deleted = self.measured(&target, "Delete", deletion).await?;
        Ok(deleted.left())
    }

    /// Changes the status of an object, which has the previous status, to `new`.
    pub(crate) async fn status<K>(&self, object: &K, new: &K::Status) -> Result<K, WriteError>
    where
        K: NamespacedKind + FromWatched + HasStatus<Status: Serialize>,
    {
        let (mut old, new) = (to_value(&object.status())?, to_value(new)?);
        if let Some(old) = old.as_object_mut() {
            // Of a record that was created with its address, the stored status may not have it yet.
            old.remove("backendAddr");
        }
        let patch = json!({ "status": merge_patch(&old, &new) });
        self.patch(Target::of(object), patch, Patched::Status).await
    }

    /// Changes what differs from `old` to `new` of a record's spec, labels and owners. `current` is
    /// its newest known state.
    pub(crate) async fn update(
        &self,
        current: &BackendRecord,
        old: &BackendRecord,
        new: &BackendRecord,
    ) -> Result<BackendRecord, WriteError> {
        let patch = update_patch(old, new)?;
        self.patch(Target::of(current), patch, Patched::Object)
            .await
    }

    /// Changes what differs from `old` to `new` of the object of a Service.
    pub(crate) async fn update_owned<K: NamespacedKind + FromWatched>(
        &self,
        old: &K,
        new: &K,
    ) -> Result<K, WriteError> {
        let patch = merge_patch(&to_value(old)?, &to_value(new)?);
        self.patch(Target::of(old), patch, Patched::Object).await
    }

    pub(crate) async fn finalizers<K: NamespacedKind + FromWatched>(
        &self,
        object: &K,
        finalizers: &[String],
    ) -> Result<K, WriteError> {
        let patch = json!({ "metadata": { "finalizers": finalizers } });
        self.patch(Target::of(object), patch, Patched::Object).await
    }

    /// Patches an object, bound to the state that it was decided on.
    async fn patch<K: FromWatched>(
        &self,
        target: Target,
        patch: Value,
        patched: Patched,
    ) -> Result<K, WriteError> {
        parsed(&self.patch_text(target, patch, patched).await?)
    }

    /// Returns the response's body. It is not generic over the kind, because it would be compiled for
    /// each.
    async fn patch_text(
        &self,
        target: Target,
        mut patch: Value,
        patched: Patched,
    ) -> Result<String, WriteError> {
        self.check_dry_run("patch", &target, &patch)?;
        patch["metadata"]["uid"] = json!(target.uid);
        if let Some(version) = &target.resource_version {
            patch["metadata"]["resourceVersion"] = json!(version);
        }
        let patch = match patched {
            Patched::Object | Patched::Status => Patch::Merge(patch),
            Patched::PartOfStatus => Patch::Strategic(patch),
        };
        let params = PatchParams {
            field_manager: Some(CONTROLLER.into()),
            ..PatchParams::default()
        };
        let (request, name) = (Request::new(&target.url_path), &target.key.name);
        let (operation, request) = match patched {
            Patched::Object => ("Update", request.patch(name, &params, &patch)),
            Patched::Status | Patched::PartOfStatus => {
                let request = request.patch_subresource("status", name, &params, &patch);
                ("UpdateStatus", request)
            }
        };
        let request = request.map_err(unsendable)?;
        self.measured(&target, operation, self.client.request_text(request))
            .await
    }

    /// A dry run only logs what would be written.
    fn check_dry_run(&self, verb: &str, target: &Target, patch: &Value) -> Result<(), WriteError> {
        if !self.dry_run {
            return Ok(());
        }
        let Target { kind, key, .. } = target;
        tracing::info!(%kind, object = %key, %patch, "dry run: would {verb} it");
        Err(WriteError::DryRun)
    }

    async fn measured<T>(
        &self,
        target: &Target,
        operation: &str,
        call: impl Future<Output = kube::Result<T>> + Send,
    ) -> Result<T, WriteError> {
        let began = Instant::now();
        let result = self.guard.run(self.limited(call)).await?;
        self.metrics
            .written(&target.kind, operation, began.elapsed());
        result
    }

    async fn limited<T>(
        &self,
        call: impl Future<Output = kube::Result<T>> + Send,
    ) -> Result<T, WriteError> {
        match tokio::time::timeout(self.timeout, call).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(kube::Error::Api(status)))
                if status.is_conflict() || status.is_not_found() || status.is_already_exists() =>
            {
                Err(WriteError::Stale)
            }
            Ok(Err(kube::Error::Api(status))) if is_namespace_terminating(&status) => {
                Err(WriteError::NamespaceTerminating)
            }
            Ok(Err(error)) => Err(WriteError::Refused(error)),
            Err(_) => Err(WriteError::Timeout(self.timeout)),
        }
    }
}

/// Only the cause tells this response from that to a request without permission.
fn is_namespace_terminating(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    status.code == 403
        && causes
            .into_iter()
            .any(|cause| cause.reason == NAMESPACE_TERMINATING)
}

fn to_value<S: Serialize>(object: &S) -> Result<Value, WriteError> {
    serde_json::to_value(object).map_err(invalid)
}

fn parsed<K: FromWatched>(text: &str) -> Result<K, WriteError> {
    let object = serde_json::from_str(text).map_err(invalid)?;
    K::from_watched(object).map_err(|error| invalid(serde_json::Error::custom(error)))
}

const fn unsendable(error: kube::core::request::Error) -> WriteError {
    WriteError::Refused(kube::Error::BuildRequest(error))
}

const fn invalid(error: serde_json::Error) -> WriteError {
    WriteError::Refused(kube::Error::SerdeError(error))
}

/// A list is replaced as a whole, so that owners are only in the patch if they changed.
fn update_patch(old: &BackendRecord, new: &BackendRecord) -> Result<Value, WriteError> {
    let mut patch = json!({});
    if old.spec != new.spec {
        patch["spec"] = merge_patch(&to_value(&old.spec)?, &to_value(&new.spec)?);
    }
    let (was, is) = (&old.metadata, &new.metadata);
    if was.labels != is.labels {
        patch["metadata"]["labels"] = merge_patch(&to_value(&was.labels)?, &to_value(&is.labels)?);
    }
    if was.owner_references != is.owner_references {
        patch["metadata"]["ownerReferences"] = to_value(&is.owner_references)?;
    }
    Ok(patch)
}

/// The JSON merge patch that turns `old` into `new`, with null for each removed field.
fn merge_patch(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return new.clone();
    };
    let mut patch = Map::new();
    for (key, new) in new {
        match old.get(key) {
            Some(old) if old == new => {}
            Some(old) => {
                patch.insert(key.clone(), merge_patch(old, new));
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
    fn a_merge_patch_has_what_was_added_changed_and_removed() {
        let old = json!({"same": 1, "changed": {"a": "1", "gone": "2"}, "list": [1], "gone": 1});
        let new =
            json!({"same": 1, "changed": {"a": "1", "b": "3"}, "list": [2], "came": {"x": "y"}});
        assert_eq!(
            merge_patch(&old, &new),
            json!({"changed": {"b": "3", "gone": null}, "list": [2], "came": {"x": "y"}, "gone": null})
        );
        assert_eq!(merge_patch(&Value::Null, &new), new);
    }

    #[test]
    fn d34_d36_an_update_contains_only_what_changed() {
        let mut old = BackendRecord::default();
        old.metadata.labels = Some([("a".to_owned(), "1".to_owned())].into());
        let mut new = old.clone();
        assert_eq!(update_patch(&old, &new).unwrap(), json!({}));
        new.metadata.labels = Some(["a", "b"].map(|it| (it.to_owned(), "1".to_owned())).into());
        assert_eq!(
            update_patch(&old, &new).unwrap(),
            json!({"metadata": {"labels": {"b": "1"}}})
        );
        new.metadata.owner_references = Some(Vec::new());
        new.spec.lb_name = "lb".into();
        assert_eq!(
            update_patch(&old, &new).unwrap(),
            json!({
                "metadata": {"labels": {"b": "1"}, "ownerReferences": []},
                "spec": {"lbName": "lb"},
            })
        );
    }

    #[test]
    fn d33_a_creation_denied_by_a_namespaces_deletion_differs_from_one_without_permission() {
        let status = |causes: Value| -> Status {
            let details = json!({ "causes": causes });
            serde_json::from_value(json!({"code": 403, "reason": "Forbidden", "details": details}))
                .unwrap()
        };
        let terminating =
            json!([{"reason": "NamespaceTerminating", "field": "metadata.namespace"}]);
        assert!(is_namespace_terminating(&status(terminating)));
        assert!(!is_namespace_terminating(&status(json!([]))));
    }
}
