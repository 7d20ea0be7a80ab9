//! The equivalents of the kubectl commands that the demo prints.
//!
//! Like kubectl, they send manifests as they are. Kinds are parameters where a response is read; for the
//! rest one type serves all of them, as code for each kind would be several megabytes.

use super::profile::Manifest;
use crate::manifests::{apply, resource};
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use lbcf_controller::api::NamespacedKind as Kind;
use serde_json::{Map, Value, json};

/// The namespace of the examples.
pub(super) const NAMESPACE: &str = "my-namespace";

/// The path and the text of a manifest in `deploy/examples/`.
macro_rules! example {
    ($name:literal) => {
        (
            concat!("deploy/examples/", $name),
            include_str!(concat!("../../../deploy/examples/", $name)),
        )
    };
}

pub(super) const DRIVER: (&str, &str) = example!("10-driver.yaml");
pub(super) const LOAD_BALANCER: (&str, &str) = example!("20-load-balancer-new.yaml");
pub(super) const EXISTING_LOAD_BALANCER: (&str, &str) = example!("20-load-balancer-existing.yaml");
pub(super) const GROUP: (&str, &str) = example!("30-backend-group-by-label.yaml");
pub(super) const ENDPOINTS_GROUP: (&str, &str) = example!("30-backend-group-endpoints.yaml");
pub(super) const STATIC_GROUP: (&str, &str) = example!("30-backend-group-static.yaml");
pub(super) const DEPLOYMENT: (&str, &str) = example!("40-deployment.yaml");
pub(super) const SERVICE: (&str, &str) = example!("40-service.yaml");
pub(super) const BIND: (&str, &str) = example!("50-bind.yaml");
const NAMESPACE_MANIFEST: (&str, &str) = example!("00-namespace.yaml");
const POD: (&str, &str) = example!("40-pod.yaml");

pub(super) struct Kubectl {
    client: Client,
}

type ApiResult<T = ()> = Result<T, String>;

impl Kubectl {
    pub(super) const fn new(client: Client) -> Self {
        Self { client }
    }

    pub(super) async fn apply_namespace(&self) -> ApiResult {
        let namespace = decode(NAMESPACE_MANIFEST)?;
        let api = Api::all_with(self.client.clone(), &resource::<Namespace>());
        apply(&api, &namespace).await
    }

    pub(super) async fn apply<K: Kind>(&self, manifest: (&str, &str)) -> ApiResult {
        let object = decode(manifest)?;
        let namespace = object.metadata.namespace.clone().unwrap_or_default();
        apply(&self.api::<K>(&namespace), &object).await
    }

    /// Applies a manifest with the values that are different in the demo.
    pub(super) async fn apply_changed<K: Kind>(&self, manifest: &Manifest) -> ApiResult {
        let mut object = decode(manifest.file)?;
        for (pointer, value) in &manifest.changes {
            set(&mut object.data, pointer, value.clone())
                .ok_or_else(|| format!("{}: no {pointer}", manifest.file.0))?;
        }
        let namespace = object.metadata.namespace.clone().unwrap_or_default();
        apply(&self.api::<K>(&namespace), &object).await
    }

    pub(super) async fn create_pod(&self, name: &str) -> ApiResult {
        let mut pod = decode(POD)?;
        pod.metadata.name = Some(name.to_owned());
        apply(&self.api::<Pod>(NAMESPACE), &pod).await
    }

    pub(super) async fn delete_pod(&self, name: &str) -> ApiResult {
        self.delete::<Pod>(NAMESPACE, name).await
    }

    /// Sets a pod's Ready condition, as its kubelet would.
    pub(super) async fn set_ready(&self, pod: &str, ready: bool) -> ApiResult {
        let status = if ready { "True" } else { "False" };
        let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        self.api::<Pod>(NAMESPACE)
            .patch_status(pod, &PatchParams::default(), &Patch::Strategic(patch))
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    }

    pub(super) async fn patch<K: Kind>(
        &self,
        namespace: &str,
        name: &str,
        patch: Value,
    ) -> ApiResult {
        self.api::<K>(namespace)
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .map(drop)
            .map_err(|error| match error {
                kube::Error::Api(status) => format!("{}: {}", status.reason, status.message),
                error => error.to_string(),
            })
    }

    pub(super) async fn delete<K: Kind>(&self, namespace: &str, name: &str) -> ApiResult {
        match self
            .api::<K>(namespace)
            .delete(name, &DeleteParams::default())
            .await
        {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(super) async fn get<K: Kind>(&self, namespace: &str, name: &str) -> ApiResult<Option<K>> {
        let found = self.get_any::<K>(namespace, name).await?;
        found.map(parsed).transpose()
    }

    pub(super) async fn list<K: Kind>(&self, namespace: &str) -> ApiResult<Vec<K>> {
        list(&self.api::<K>(namespace)).await
    }

    pub(super) async fn has_pod(&self, pod: &str) -> ApiResult<bool> {
        let pod = self.get_any::<Pod>(NAMESPACE, pod).await?;
        Ok(pod.is_some())
    }

    pub(super) async fn pod_ip(&self, pod: &str) -> ApiResult<Option<String>> {
        let pod = self.get_any::<Pod>(NAMESPACE, pod).await?;
        Ok(pod.and_then(|pod| Some(pod.data["status"]["podIP"].as_str()?.to_owned())))
    }

    async fn get_any<K: Kind>(
        &self,
        namespace: &str,
        name: &str,
    ) -> ApiResult<Option<DynamicObject>> {
        self.api::<K>(namespace)
            .get_opt(name)
            .await
            .map_err(|error| error.to_string())
    }

    fn api<K: Kind>(&self, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &resource::<K>())
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

/// Sets the field at a JSON pointer of an object whose parent exists.
fn set(object: &mut Value, pointer: &str, value: Value) -> Option<()> {
    let (parent, field) = pointer.rsplit_once('/')?;
    let parent: &mut Map<_, _> = object.pointer_mut(parent)?.as_object_mut()?;
    parent.insert(field.to_owned(), value);
    Some(())
}

/// The changes of a manifest that it does not have already, such as `parameters {"weight":"50"}`.
pub(super) fn differences(manifest: &Manifest) -> ApiResult<Vec<String>> {
    let object = decode(manifest.file)?;
    let changes = manifest.changes.iter();
    let differs = changes.filter(|(pointer, value)| object.data.pointer(pointer) != Some(value));
    let text = |(pointer, value): &(&str, Value)| {
        let field = pointer.trim_start_matches("/spec/").replace('/', ".");
        format!("{field} {value}")
    };
    Ok(differs.map(text).collect())
}

fn decode((name, yaml): (&str, &str)) -> ApiResult<DynamicObject> {
    // By way of a value: the YAML reader's code for a type is large.
    let value: Value = serde_saphyr::from_str(yaml).map_err(|error| format!("{name}: {error}"))?;
    serde_json::from_value(value).map_err(|error| format!("{name}: {error}"))
}
