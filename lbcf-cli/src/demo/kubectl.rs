//! The equivalents of the kubectl commands that the demo prints.
//!
//! Like kubectl, they send manifests as they are. Kinds are parameters where a response is read; for the
//! rest one type serves all of them, as code for each kind would be several megabytes.

use super::examples::{Manifest, NAMESPACE, NAMESPACE_MANIFEST, POD};
use crate::manifests::{apply, resource};
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use lbcf_controller::api::NamespacedKind as Kind;
use lbcf_controller::names::SYSTEM_NAMESPACE;
use serde_json::{Value, json};

/// Of one namespace for each kind: that of the examples.
pub(super) struct Kubectl {
    client: Client,
}

type ApiResult<T = ()> = Result<T, String>;

impl Kubectl {
    pub(super) const fn new(client: Client) -> Self {
        Self { client }
    }

    pub(super) async fn apply_namespace(&self) -> ApiResult {
        let api = Api::all_with(self.client.clone(), &resource::<Namespace>());
        apply(&api, &Manifest::from(NAMESPACE_MANIFEST).object()?).await
    }

    pub(super) async fn has_namespace(&self) -> ApiResult<bool> {
        let namespaces = resource::<Namespace>();
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &namespaces);
        let found = api.get_opt(NAMESPACE).await;
        found
            .map(|it| it.is_some())
            .map_err(|error| error.to_string())
    }

    /// Deletes the namespace with everything in it, and tells if it is still there.
    pub(super) async fn delete_namespace(&self) -> ApiResult<bool> {
        let api = Api::all_with(self.client.clone(), &resource::<Namespace>());
        delete(&api, NAMESPACE).await
    }

    pub(super) async fn apply<K: Kind>(&self, manifest: &Manifest) -> ApiResult {
        apply(&self.api::<K>(), &manifest.object()?).await
    }

    pub(super) async fn create_pod(&self, name: &str) -> ApiResult {
        let mut pod = Manifest::from(POD).object()?;
        pod.metadata.name = Some(name.to_owned());
        apply(&self.api::<Pod>(), &pod).await
    }

    /// Sets a pod's Ready condition, as its kubelet would.
    pub(super) async fn set_ready(&self, pod: &str, ready: bool) -> ApiResult {
        let patch = Patch::Strategic(ready_status(ready));
        self.api::<Pod>()
            .patch_status(pod, &PatchParams::default(), &patch)
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    }

    pub(super) async fn patch<K: Kind>(&self, name: &str, patch: Value) -> ApiResult {
        self.api::<K>()
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .map(drop)
            .map_err(|error| match error {
                kube::Error::Api(status) => format!("{}: {}", status.reason, status.message),
                error => error.to_string(),
            })
    }

    pub(super) async fn delete<K: Kind>(&self, name: &str) -> ApiResult {
        delete(&self.api::<K>(), name).await.map(drop)
    }

    pub(super) async fn get<K: Kind>(&self, name: &str) -> ApiResult<Option<K>> {
        let found = self.get_any::<K>(name).await?;
        found.map(parsed).transpose()
    }

    pub(super) async fn list<K: Kind>(&self) -> ApiResult<Vec<K>> {
        list(&self.api::<K>()).await
    }

    pub(super) async fn exists<K: Kind>(&self, name: &str) -> ApiResult<bool> {
        Ok(self.get_any::<K>(name).await?.is_some())
    }

    pub(super) async fn pod_ip(&self, pod: &str) -> ApiResult<Option<String>> {
        let pod = self.get_any::<Pod>(pod).await?;
        Ok(pod.and_then(|pod| Some(pod.data["status"]["podIP"].as_str()?.to_owned())))
    }

    async fn get_any<K: Kind>(&self, name: &str) -> ApiResult<Option<DynamicObject>> {
        let found = self.api::<K>().get_opt(name).await;
        found.map_err(|error| error.to_string())
    }

    fn api<K: Kind>(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace_of::<K>(), &resource::<K>())
    }
}

/// Deletes an object, and tells if it existed.
async fn delete(api: &Api<DynamicObject>, name: &str) -> ApiResult<bool> {
    match api.delete(name, &DeleteParams::default()).await {
        Ok(_) => Ok(true),
        // It is being deleted.
        Err(kube::Error::Api(status)) if status.is_conflict() => Ok(true),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}

/// The status that a kubelet reports of a pod.
pub(super) fn ready_status(ready: bool) -> Value {
    let status = if ready { "True" } else { "False" };
    json!({"status": {"conditions": [{"type": "Ready", "status": status}]}})
}

/// The kind and namespace of a command, such as `lb -n my-namespace`.
pub(super) fn target<K: Kind>() -> String {
    let kind = K::kind(&());
    let short = match &*kind {
        "BackendGroup" => "bg",
        "BackendRecord" => "br",
        "LoadBalancer" => "lb",
        "LoadBalancerDriver" => "lbd",
        _ => &kind.to_lowercase(),
    };
    format!("{short} -n {}", namespace_of::<K>())
}

fn namespace_of<K: Kind>() -> &'static str {
    match &*K::kind(&()) {
        "LoadBalancerDriver" => SYSTEM_NAMESPACE,
        _ => NAMESPACE,
    }
}

/// The objects of a kind in all namespaces.
pub(super) async fn list_all<K: Kind>(client: &Client) -> ApiResult<Vec<K>> {
    list(&Api::all_with(client.clone(), &resource::<K>())).await
}

async fn list<K: Kind>(api: &Api<DynamicObject>) -> ApiResult<Vec<K>> {
    let list = api.list(&ListParams::default()).await;
    let list = list.map_err(|error| error.to_string())?;
    list.items.into_iter().map(parsed).collect()
}

fn parsed<K: Kind>(object: DynamicObject) -> ApiResult<K> {
    let parsed = object.try_parse();
    parsed.map_err(|error| format!("{}: {error}", K::kind(&())))
}
