//! The equivalents of the kubectl commands that the demo prints.

use k8s_openapi::api::core::v1::{Namespace, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Resource};
use lbcf_controller::api::{
    BackendGroup, LoadBalancer, LoadBalancerDriver, NamespacedKind as Kind,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::time::Duration;

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
pub(super) const GROUP: (&str, &str) = example!("30-backend-group-by-label.yaml");
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
        let namespace: Namespace = decode(NAMESPACE_MANIFEST)?;
        apply(&Api::all(self.client.clone()), &namespace).await
    }

    pub(super) async fn apply_driver(&self) -> ApiResult {
        self.apply_manifest::<LoadBalancerDriver>(DRIVER).await
    }

    pub(super) async fn apply_load_balancer(&self) -> ApiResult {
        self.apply_manifest::<LoadBalancer>(LOAD_BALANCER).await
    }

    pub(super) async fn apply_group(&self) -> ApiResult {
        self.apply_manifest::<BackendGroup>(GROUP).await
    }

    async fn apply_manifest<K: Kind>(&self, manifest: (&str, &str)) -> ApiResult {
        let object: K = decode(manifest)?;
        let namespace = object.meta().namespace.clone().unwrap_or_default();
        apply(&Api::namespaced(self.client.clone(), &namespace), &object).await
    }

    pub(super) async fn create_pod(&self, name: &str) -> ApiResult {
        let mut pod: Pod = decode(POD)?;
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
            .map_err(|error| error.to_string())
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
        self.api::<K>(namespace)
            .get_opt(name)
            .await
            .map_err(|error| error.to_string())
    }

    pub(super) async fn list<K: Kind>(&self, namespace: &str) -> ApiResult<Vec<K>> {
        let list = self.api::<K>(namespace).list(&ListParams::default()).await;
        list.map(|list| list.items)
            .map_err(|error| error.to_string())
    }

    pub(super) async fn pod_ip(&self, pod: &str) -> ApiResult<Option<String>> {
        let pod = self.get::<Pod>(NAMESPACE, pod).await?;
        Ok(pod.and_then(|pod| pod.status?.pod_ip))
    }

    fn api<K: Kind>(&self, namespace: &str) -> Api<K> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

fn decode<K: DeserializeOwned>((name, yaml): (&str, &str)) -> ApiResult<K> {
    serde_saphyr::from_str(yaml).map_err(|error| format!("{name}: {error}"))
}

async fn apply<K>(api: &Api<K>, object: &K) -> ApiResult
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    let name = object.meta().name.as_deref().unwrap_or_default();
    match api.create(&PostParams::default(), object).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => api
            .patch(name, &PatchParams::default(), &Patch::Merge(object))
            .await
            .map(drop),
        created => created.map(drop),
    }
    .map_err(|error| format!("{} {name}: {error}", K::kind(&())))
}

/// Creates LBCF's CRDs and waits until they are established.
pub(crate) async fn apply_crds(client: &Client) -> Result<(), String> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in lbcf_controller::api::crds() {
        apply(&api, &crd).await?;
        let name = crd.metadata.name.unwrap_or_default();
        let established = await_condition(api.clone(), &name, conditions::is_crd_established());
        match tokio::time::timeout(Duration::from_secs(60), established).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(format!("waiting for {name}: {error}")),
            Err(_) => return Err(format!("{name} was not established within 60 s")),
        }
    }
    Ok(())
}
