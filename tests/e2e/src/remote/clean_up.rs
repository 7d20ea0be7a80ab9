//! Removes what the tests own. It needs no controller of LBCF: it removes finalizers itself.

use super::nodes;
use super::owned::{Named, OF_ALL, OF_WORLDS, PREFIX, is_conflict, is_not_found, kinds};
use crate::manifests::{NAMESPACE, SYSTEM};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Event, Namespace, Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use lbcf_controller::api::{NamespacedKind, crds};
use lbcf_controller::names::LABEL_INJECT_READINESS_GATE;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// A namespace of a busy cluster takes a while.
const DEADLINE: Duration = Duration::from_secs(300);
/// The pause between two attempts grows from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Removes everything of a world, except its empty namespace.
pub(super) async fn end_world(client: &Client) -> Result<(), String> {
    for object in &OF_WORLDS {
        delete_named(client, object).await?;
    }
    until("objects of LBCF are deleted", async || {
        delete_lbcf(client).await
    })
    .await?;
    until("pods and services are deleted", async || {
        delete_contents(client).await
    })
    .await?;
    until("namespaces are deleted", async || {
        delete_namespaces(client, |name| name != NAMESPACE).await
    })
    .await?;
    remove_label(client).await.map_err(describe)?;
    nodes::delete(client).await.map_err(describe)?;
    delete_events(client).await.map_err(describe)
}

/// Removes what [`end_world`] left: the namespace, permissions, and CRDs that did not exist before.
pub(super) async fn remove_shared(client: &Client, crds_before: &[String]) -> Result<(), String> {
    until("namespaces are deleted", async || {
        delete_namespaces(client, |_| true).await
    })
    .await?;
    for object in &OF_ALL {
        delete_named(client, object).await?;
    }
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let names = crds().into_iter().filter_map(|crd| crd.metadata.name);
    let names: Vec<String> = names.filter(|name| !crds_before.contains(name)).collect();
    until("CRDs are deleted", async || {
        let mut is_done = true;
        for name in &names {
            is_done &= is_gone(api.delete(name, &DeleteParams::default()).await)?;
        }
        Ok(is_done)
    })
    .await
}

/// Repeats an action until it finds nothing to do. One that fails is repeated, too.
async fn until(what: &str, action: impl AsyncFn() -> kube::Result<bool>) -> Result<(), String> {
    let (deadline, mut pause) = (Instant::now() + DEADLINE, FIRST_PAUSE);
    loop {
        let done = action().await;
        if matches!(done, Ok(true)) {
            return Ok(());
        }
        if Instant::now() > deadline {
            let seconds = DEADLINE.as_secs();
            return Err(format!("not within {seconds} s: {what}: {done:?}"));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

/// Whether the object did not exist any more when it was to be deleted.
fn is_gone<T>(deleted: kube::Result<T>) -> kube::Result<bool> {
    match deleted {
        Ok(_) => Ok(false),
        Err(error) if is_not_found(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

async fn delete_named(client: &Client, object: &Named) -> Result<(), String> {
    let api = object.api(client);
    until(&format!("{} is deleted", object.describe()), async || {
        is_gone(api.delete(object.name, &DeleteParams::default()).await)
    })
    .await
}

/// Deletes all objects of LBCF's kinds, of which there were none before, whatever their finalizers.
async fn delete_lbcf(client: &Client) -> kube::Result<bool> {
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let mut is_done = true;
    for resource in kinds() {
        let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let objects = match all.list_metadata(&ListParams::default()).await {
            Ok(list) => list.items,
            Err(error) if is_not_found(&error) => continue,
            Err(error) => return Err(error),
        };
        for object in objects {
            is_done = false;
            let meta = object.metadata;
            let (namespace, name) = (
                meta.namespace.unwrap_or_default(),
                meta.name.unwrap_or_default(),
            );
            let api: Api<DynamicObject> =
                Api::namespaced_with(client.clone(), &namespace, &resource);
            if meta.deletion_timestamp.is_none() {
                is_gone(api.delete(&name, &DeleteParams::background()).await)?;
            }
            if meta.finalizers.is_some() {
                let params = PatchParams::default();
                is_gone(api.patch_metadata(&name, &params, &none).await)?;
            }
        }
    }
    Ok(is_done)
}

/// Deletes what keeps node ports and addresses, and what later worlds would find.
async fn delete_contents(client: &Client) -> kube::Result<bool> {
    let (all, params) = (ListParams::default(), DeleteParams::default());
    let now = params.clone().grace_period(0);
    let mut is_done = true;
    for namespace in own_namespaces(client).await? {
        // They would create pods and slices again.
        is_done &= delete_all::<Deployment>(client, &namespace).await?;
        is_done &= delete_all::<ReplicaSet>(client, &namespace).await?;
        let pods: Api<Pod> = Api::namespaced(client.clone(), &namespace);
        is_done &= pods.list_metadata(&all).await?.items.is_empty();
        ignore_conflict(pods.delete_collection(&now, &all).await)?;
        is_done &= delete_all::<Service>(client, &namespace).await?;
        is_done &= delete_all::<EndpointSlice>(client, &namespace).await?;
        let events: Api<Event> = Api::namespaced(client.clone(), &namespace);
        ignore_conflict(events.delete_collection(&params, &all).await)?;
    }
    Ok(is_done)
}

/// Deletes the objects one by one, as not every kind can be deleted as a collection.
async fn delete_all<K: NamespacedKind>(client: &Client, namespace: &str) -> kube::Result<bool> {
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let objects = api.list_metadata(&ListParams::default()).await?.items;
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    for object in &objects {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        is_gone(api.delete(name, &DeleteParams::background()).await)?;
        // Those of Services that a controller served.
        if object.metadata.finalizers.is_some() {
            let params = PatchParams::default();
            is_gone(api.patch_metadata(name, &params, &none).await)?;
        }
    }
    Ok(objects.is_empty())
}

/// An object may be deleted by two at a time.
fn ignore_conflict<T>(result: kube::Result<T>) -> kube::Result<()> {
    match result {
        Err(error) if !is_conflict(&error) && !is_not_found(&error) => Err(error),
        _ => Ok(()),
    }
}

async fn own_namespaces(client: &Client) -> kube::Result<Vec<String>> {
    let api: Api<Namespace> = Api::all(client.clone());
    let namespaces = api.list_metadata(&ListParams::default()).await?.items;
    let names = namespaces.into_iter().filter_map(|it| it.metadata.name);
    Ok(names.filter(|name| name.starts_with(PREFIX)).collect())
}

async fn delete_namespaces(client: &Client, is_meant: impl Fn(&str) -> bool) -> kube::Result<bool> {
    let api: Api<Namespace> = Api::all(client.clone());
    let mut is_done = true;
    for name in own_namespaces(client).await? {
        if is_meant(&name) {
            // While it terminates, deleting it again is refused with a conflict.
            ignore_conflict(api.delete(&name, &DeleteParams::default()).await)?;
            is_done = false;
        }
    }
    Ok(is_done)
}

/// Removes the label that tests set in the namespace that stays.
async fn remove_label(client: &Client) -> kube::Result<()> {
    let none = Patch::Merge(json!({"metadata": {"labels": {LABEL_INJECT_READINESS_GATE: null}}}));
    let api: Api<Namespace> = Api::all(client.clone());
    is_gone(
        api.patch_metadata(NAMESPACE, &PatchParams::default(), &none)
            .await,
    )
    .map(drop)
}

/// Deletes the events in the system's namespace that are about objects of LBCF.
async fn delete_events(client: &Client) -> kube::Result<()> {
    let api: Api<Event> = Api::namespaced(client.clone(), SYSTEM);
    for event in api.list(&ListParams::default()).await?.items {
        let version = event.involved_object.api_version.unwrap_or_default();
        if version.starts_with("lbcf.tkestack.io/") {
            let name = event.metadata.name.unwrap_or_default();
            is_gone(api.delete(&name, &DeleteParams::default()).await)?;
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn describe(error: kube::Error) -> String {
    error.to_string()
}
