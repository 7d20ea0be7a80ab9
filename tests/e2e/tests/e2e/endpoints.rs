//! The endpoints of a service as backends.

mod pods;
mod slices;
mod wire;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use lbcf_controller::Options;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{DriverProxy, World};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// [`World::behind_proxy`] with a service without a selector, and a group on its endpoints.
async fn setup_by_hand(options: Options) -> (World, DriverProxy, JoinHandle<()>) {
    let (world, proxy, controller) = World::behind_proxy(options).await;
    let service = manifests::service_without_selector(SERVICE);
    world.create(&service).await;
    let group = manifests::endpoint_group(GROUP, SERVICE, &[LB]);
    world.create(&group).await;
    (world, proxy, controller)
}

async fn create_slice(world: &World, name: &str, addresses: &[String]) {
    let endpoints = manifests::endpoints(addresses.iter().map(String::as_str));
    let slice = manifests::endpoint_slice(name, SERVICE, &endpoints);
    world.create(&slice).await;
}

async fn set_endpoints(world: &World, name: &str, endpoints: Value) {
    let patch = json!({ "endpoints": endpoints });
    world.patch::<EndpointSlice>(NAMESPACE, name, patch).await;
}

async fn set_addresses(world: &World, name: &str, addresses: &[String]) {
    let endpoints = manifests::endpoints(addresses.iter().map(String::as_str));
    set_endpoints(world, name, endpoints).await;
}
