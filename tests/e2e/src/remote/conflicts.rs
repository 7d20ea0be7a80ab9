//! What must not be in a cluster when the tests begin, because they would change or delete it.

use super::owned::{LABEL, Named, OF_ALL, OF_WORLDS, PREFIX, is_not_found, kinds};
use k8s_openapi::api::core::v1::{Namespace, Node, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use lbcf_controller::api::crds;
use std::ops::RangeInclusive;

/// The node ports of the tests' services.
const NODE_PORTS: RangeInclusive<i32> = 30_079..=30_099;

/// The names of LBCF's CRDs that exist and are today's: they stay.
///
/// # Errors
/// What is in the way.
pub(super) async fn check(client: &Client) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for object in OF_WORLDS.iter().chain(&OF_ALL) {
        if exists(client, object).await? {
            found.push(object.describe());
        }
    }
    for resource in kinds() {
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        match api.list(&ListParams::default().limit(1)).await {
            Ok(list) if !list.items.is_empty() => {
                found.push(format!("objects of the kind {}", resource.kind));
            }
            Err(error) if !is_not_found(&error) => return Err(error.to_string()),
            _ => {}
        }
    }
    found.extend(others(client).await.map_err(|error| error.to_string())?);
    let before = crds_before(client, &mut found).await;
    let before = before.map_err(|error| error.to_string())?;
    if found.is_empty() {
        return Ok(before);
    }
    Err(format!(
        "the tests do not run on a cluster that uses LBCF, and must not change what is not theirs; \
         it has {}",
        found.join(", ")
    ))
}

async fn exists(client: &Client, object: &Named) -> Result<bool, String> {
    let read = object.api(client).get_metadata_opt(object.name).await;
    // An API that the cluster does not have has no objects either.
    read.map(|object| object.is_some())
        .map_err(|error| error.to_string())
}

/// Namespaces and nodes with the names of the tests, and services with their node ports.
async fn others(client: &Client) -> kube::Result<Vec<String>> {
    let (all, mut found) = (ListParams::default(), Vec::new());
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for namespace in namespaces.list_metadata(&all).await?.items {
        let name = namespace.metadata.name.unwrap_or_default();
        if name.starts_with(PREFIX) {
            found.push(format!("namespace {name}"));
        }
    }
    let nodes: Api<Node> = Api::all(client.clone());
    for node in nodes.list_metadata(&all).await?.items {
        let name = node.metadata.name.unwrap_or_default();
        let labels = node.metadata.labels.unwrap_or_default();
        if name.starts_with(PREFIX) || labels.contains_key(LABEL) {
            found.push(format!("node {name}"));
        }
    }
    let services: Api<Service> = Api::all(client.clone());
    for service in services.list(&all).await?.items {
        let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
        let mut ports = ports.iter().filter_map(|port| port.node_port);
        if let Some(port) = ports.find(|port| NODE_PORTS.contains(port)) {
            let name = service.metadata.name.unwrap_or_default();
            found.push(format!("service {name} with the node port {port}"));
        }
    }
    Ok(found)
}

/// Those that differ from today's are in the way: the tests are about today's.
async fn crds_before(client: &Client, found: &mut Vec<String>) -> kube::Result<Vec<String>> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let mut before = Vec::new();
    for mut crd in crds() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let Some(stored) = api.get_opt(&name).await? else {
            continue;
        };
        // The server adds its defaults to both.
        crd.metadata
            .resource_version
            .clone_from(&stored.metadata.resource_version);
        if api.replace(&name, &dry_run, &crd).await?.spec != stored.spec {
            found.push(format!("another version of the CRD {name}"));
        }
        before.push(name);
    }
    Ok(before)
}
