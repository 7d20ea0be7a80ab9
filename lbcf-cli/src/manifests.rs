//! Manifests, sent to a cluster as kubectl sends them.
//!
//! One type serves all kinds, as code for each kind would be several megabytes.

mod existing;
mod files;

pub(crate) use existing::{admission, delete_load_balancers, in_the_cloud, lbcf_objects};
pub(crate) use files::{Manifest, files, parse, read_all, read_each};

use files::described;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::{GroupVersionKind, ObjectMeta};
use kube::discovery::{Scope, pinned_kind};
use kube::runtime::wait::await_condition;
use kube::{Client, Resource};
use lbcf_controller::admission::{Endpoint, configurations};
use lbcf_controller::names::{RECORD_KEY_SECRET, SYSTEM_NAMESPACE};
use serde::Serialize;
use std::time::Duration;

/// The field manager of what is applied.
pub(crate) const MANAGER: &str = "lbcf";

pub(crate) fn resource<K: Resource<DynamicType = ()>>() -> ApiResource {
    ApiResource::erase::<K>(&())
}

/// Why an object was not applied.
#[derive(Debug)]
pub(crate) struct NotApplied {
    pub(crate) problem: String,
    /// The reason may pass without a change of the object: a driver or a namespace that is missing so far.
    pub(crate) may_pass: bool,
}

/// Applies an object of any kind that the cluster has, in this namespace if it names none.
///
/// # Errors
/// What the cluster does not accept.
pub(crate) async fn apply_any(
    client: &Client,
    object: &DynamicObject,
    namespace: &str,
) -> Result<(), NotApplied> {
    let types = object.types.clone().unwrap_or_default();
    let kind = GroupVersionKind::try_from(&types).map_err(|error| NotApplied {
        problem: error.to_string(),
        may_pass: false,
    })?;
    let found = pinned_kind(client, &kind).await;
    let (resource, capabilities) = found.map_err(|error| NotApplied {
        problem: format!("{}: {error}", types.kind),
        may_pass: true,
    })?;
    let api = match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => {
            let namespace = object.metadata.namespace.as_deref().unwrap_or(namespace);
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
    };
    let put = put(&api, object).await;
    put.map_err(|error| NotApplied {
        may_pass: may_pass(&error),
        problem: not_applied(object, &error),
    })
}

/// Applies an object on the server, as `kubectl apply --server-side` does: a field that is no longer in it is removed,
/// and what others have set stays.
pub(crate) async fn apply(api: &Api<DynamicObject>, object: &DynamicObject) -> Result<(), String> {
    let put = put(api, object).await;
    put.map_err(|error| not_applied(object, &error))
}

async fn put(api: &Api<DynamicObject>, object: &DynamicObject) -> kube::Result<()> {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    let as_manager = PatchParams::apply(MANAGER).force();
    let applied = api.patch(name, &as_manager, &Patch::Apply(object)).await;
    applied.map(drop)
}

fn not_applied(object: &DynamicObject, error: &kube::Error) -> String {
    format!("{}: {}", described(object), in_words(error))
}

/// True for an object that may be accepted later: admission answers 500 when a driver does not respond,
/// 403 when it rejects the object.
fn may_pass(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => matches!(status.code, 404 | 409 | 429) || status.code >= 500,
        _ => true,
    }
}

/// The API server's message, without the Status around it, which has it a second time.
fn in_words(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}

/// Creates LBCF's CRDs and waits until they are established.
pub(crate) async fn apply_crds(client: &Client) -> Result<(), String> {
    let crds = resource::<CustomResourceDefinition>();
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &crds);
    for crd in lbcf_controller::api::crds() {
        let crd = untyped(&crd)?;
        apply(&api, &crd).await?;
        let name = crd.metadata.name.unwrap_or_default();
        let established = await_condition(api.clone(), &name, is_established);
        match tokio::time::timeout(Duration::from_secs(60), established).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(format!("waiting for {name}: {error}")),
            Err(_) => return Err(format!("{name} was not established within 60 s")),
        }
    }
    Ok(())
}

/// Creates the webhook configurations: from now on objects are stored only if admission allows it.
pub(crate) async fn apply_admission(client: &Client, endpoint: &Endpoint) -> Result<(), String> {
    let both = configurations(endpoint, None);
    let mutating = resource::<MutatingWebhookConfiguration>();
    let validating = resource::<ValidatingWebhookConfiguration>();
    let api = |resource| Api::all_with(client.clone(), resource);
    apply(&api(&mutating), &untyped(&both.mutating)?).await?;
    apply(&api(&validating), &untyped(&both.validating)?).await
}

/// Deletes the webhook configurations and the Secret with their certificates.
pub(crate) async fn delete_admission(client: &Client, secret: &str) -> Result<(), String> {
    let both = configurations(&Endpoint::default(), None);
    let all = |resource| Api::all_with(client.clone(), &resource);
    let mutating = all(resource::<MutatingWebhookConfiguration>());
    let validating = all(resource::<ValidatingWebhookConfiguration>());
    let secrets = resource::<Secret>();
    let secrets = Api::namespaced_with(client.clone(), SYSTEM_NAMESPACE, &secrets);
    let name = |meta: ObjectMeta| meta.name.unwrap_or_default();
    delete(&mutating, &name(both.mutating.metadata)).await?;
    delete(&validating, &name(both.validating.metadata)).await?;
    delete(&secrets, RECORD_KEY_SECRET).await?;
    delete(&secrets, secret).await
}

async fn delete(api: &Api<DynamicObject>, name: &str) -> Result<(), String> {
    match api.delete(name, &DeleteParams::default()).await {
        // It is gone, or is being deleted.
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        deleted => deleted.map(drop).map_err(|error| in_words(&error)),
    }
}

fn untyped(object: &impl Serialize) -> Result<DynamicObject, String> {
    let object = serde_json::to_value(object).and_then(serde_json::from_value);
    object.map_err(|error| error.to_string())
}

fn is_established(crd: Option<&DynamicObject>) -> bool {
    let conditions = crd.and_then(|crd| crd.data["status"]["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == "Established" && it["status"] == "True")
}
