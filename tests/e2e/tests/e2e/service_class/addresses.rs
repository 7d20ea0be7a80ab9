//! The addresses that drivers announce, which kube-proxy takes traffic for.

use super::{ingress_of, service, until_warned};
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::Options;
use lbcf_controller::api::{LoadBalancerDriver, ServiceMode};
use lbcf_e2e::manifests::{self, CLASS, DRIVER, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::{ProxyAction, World, kill, until_is};
use serde_json::json;

/// A world whose drivers announce this address for everything.
async fn announcing(address: &str) -> World {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let response = json!({"status": "Succ", "succ": true, "lbInfo": {"address": address}});
    proxy.rule(move |_| ProxyAction::reply_json(&response));
    world
}

async fn create_driver(world: &World, name: &str, namespace: &str) {
    let mut driver = manifests::driver(&world.driver_url());
    driver.metadata.name = Some(name.to_owned());
    driver.metadata.namespace = Some(namespace.to_owned());
    let mut class = manifests::service_class(ServiceMode::Endpoints);
    class.ingress = None;
    driver.spec.service_class = Some(class);
    world.create::<LoadBalancerDriver>(&driver).await;
}

async fn until_shown(world: &World, addresses: &[&str]) {
    let expected: Vec<String> = addresses.iter().map(|&it| it.to_owned()).collect();
    until_is("addresses in the status", expected, async || {
        let ingress = ingress_of(&service(world).await);
        ingress.into_iter().filter_map(|it| it.ip).collect()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d100_an_address_of_another_service_is_not_taken_from_it() {
    let address = "10.96.0.77";
    // Another spelling is the same address.
    let world = announcing("::ffff:10.96.0.77").await;
    let mut other = manifests::service("other", 30_080);
    other.spec.as_mut().unwrap().cluster_ip = Some(address.into());
    world.create(&other).await;
    let _controller = world.start(World::quick());
    create_driver(&world, DRIVER, SYSTEM).await;
    let balanced = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    world.create(&balanced).await;
    until_warned(&world, "another Service has the address 10.96.0.77").await;
    until_shown(&world, &[]).await;

    world.delete::<Service>(NAMESPACE, "other").await;
    let touched = json!({"metadata": {"annotations": {"touched": "true"}}});
    world.patch::<Service>(NAMESPACE, SERVICE, touched).await;
    until_shown(&world, &[address]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d100_a_driver_of_a_tenant_announces_what_the_operator_lists() {
    let address = "203.0.113.5";
    let world = announcing(address).await;
    let controller = world.start(World::quick());
    create_driver(&world, "tenants", NAMESPACE).await;
    let balanced = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    world.create(&balanced).await;
    let problem = "203.0.113.5 is no address that drivers in other namespaces may announce";
    until_warned(&world, problem).await;
    until_shown(&world, &[]).await;

    kill(controller).await;
    let _controller = world.start(Options {
        announced_by_tenants: "203.0.113.0/24".parse().unwrap(),
        ..World::quick()
    });
    until_shown(&world, &[address]).await;
}
