//! LBCF's objects in a cluster.

use super::{delete, in_words, resource};
use crate::waiting::until;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Service;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Resource, ResourceExt as _};
use lbcf_controller::admission::{Endpoint, configurations};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use lbcf_controller::names::ANNOTATION_SERVICE_CLASS;
use std::cell::RefCell;

/// Kind and name of each object of LBCF's kinds.
pub(crate) async fn lbcf_objects(client: &Client) -> Result<Vec<String>, String> {
    let mut found = objects_of::<LoadBalancerDriver>(client).await?;
    found.extend(in_the_cloud(client).await?);
    Ok(found)
}

/// Kind and name of each object of a kind, which the cluster may not have.
pub(crate) async fn objects_of<K: NamespacedKind>(client: &Client) -> Result<Vec<String>, String> {
    let kind = K::kind(&());
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource::<K>());
    let list = match api.list_metadata(&ListParams::default()).await {
        Ok(list) => list.items,
        // Of a group that the cluster does not have, the response is not a Status.
        Err(kube::Error::Api(status)) if status.code == 404 => Vec::new(),
        Err(error) => return Err(format!("listing {kind}: {}", in_words(&error))),
    };
    let names = list.into_iter().filter_map(|it| it.metadata.name);
    Ok(names.map(|name| format!("{kind} {name}")).collect())
}

/// Deletes what has backends or a load balancer in a driver's cloud, and waits until the controller has deregistered and
/// deleted all of it.
///
/// # Errors
/// The objects that are left after the time to wait, or why the cluster did not list or delete them.
pub(crate) async fn delete_load_balancers(client: &Client) -> Result<(), String> {
    // What belongs to a Service would be created again.
    delete_all::<Service>(client, |it| {
        it.annotations().contains_key(ANNOTATION_SERVICE_CLASS)
    })
    .await?;
    delete_all::<Bind>(client, |_| true).await?;
    delete_all::<BackendGroup>(client, |_| true).await?;
    delete_all::<LoadBalancer>(client, |_| true).await?;
    let left = RefCell::default();
    let deleted = until("the load balancers are deleted", async || {
        let found = in_the_cloud(client).await?;
        let is_empty = found.is_empty();
        *left.borrow_mut() = found;
        Ok(is_empty.then_some(()))
    });
    deleted
        .await
        .map_err(|why| format!("{why}; left: {}", left.borrow().join(", ")))
}

/// Kind and name of each object that has something in a driver's cloud.
pub(crate) async fn in_the_cloud(client: &Client) -> Result<Vec<String>, String> {
    let mut found = objects_of::<Bind>(client).await?;
    found.extend(objects_of::<BackendGroup>(client).await?);
    found.extend(objects_of::<LoadBalancer>(client).await?);
    found.extend(objects_of::<BackendRecord>(client).await?);
    Ok(found)
}

async fn delete_all<K: Resource<DynamicType = ()>>(
    client: &Client,
    is_one: fn(&PartialObjectMeta<DynamicObject>) -> bool,
) -> Result<(), String> {
    let resource = resource::<K>();
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let list = all.list_metadata(&ListParams::default()).await;
    let list = list.map_err(|error| in_words(&error))?;
    for it in list.items.into_iter().filter(is_one) {
        let namespace = it.metadata.namespace.unwrap_or_default();
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &namespace, &resource);
        delete(&api, &it.metadata.name.unwrap_or_default()).await?;
    }
    Ok(())
}

/// The webhook configuration with which a controller guards LBCF's kinds, if there is one.
pub(crate) async fn admission(client: &Client) -> Result<Option<String>, String> {
    let both = configurations(&Endpoint::default(), None);
    let name = both.validating.metadata.name.unwrap_or_default();
    let resource = resource::<ValidatingWebhookConfiguration>();
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let found = api.get_opt(&name).await;
    let found = found.map_err(|error| in_words(&error))?;
    Ok(found.map(|_| format!("ValidatingWebhookConfiguration {name}")))
}
