//! What a class or a Service has wrong.

use super::{create_pods, setup, until_listeners, until_ports, until_warned};
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{
    Conditions, LoadBalancer, LoadBalancerDriver, ServiceMode, condition_types,
};
use lbcf_e2e::manifests::{self, CLASS, DRIVER, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::until;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_of_two_drivers_with_a_class_the_older_has_it_until_it_is_gone() {
    let (world, _controller) = setup(ServiceMode::Endpoints).await;
    create_pods(&world, 1).await;
    let condition = async |name: &str, status: &str| {
        until(&format!("{name} has the class: {status}"), async || {
            let driver = world
                .api::<LoadBalancerDriver>(SYSTEM)
                .get(name)
                .await
                .ok()?;
            let condition = driver
                .status?
                .conditions
                .find(condition_types::SERVICE_CLASS)?
                .clone();
            (format!("{:?}", condition.status) == status).then_some(condition.message)
        })
        .await
    };
    condition(DRIVER, "True").await;
    let mut second = manifests::driver(&world.driver_url());
    second.metadata.name = Some("lbcf-second".into());
    second.spec.service_class = Some(manifests::service_class(ServiceMode::Endpoints));
    // Creation timestamps have whole seconds, so that the name may decide.
    world.create(&second).await;
    let message = condition("lbcf-second", "False").await;
    assert!(
        message.contains("LoadBalancerDriver kube-system/lbcf-clb serves the class"),
        "{message}"
    );
    let own = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    world.create(&own).await;
    until_listeners(&world, &[("80", 1)]).await;
    until_ports(&world, &[80]).await;
    assert_eq!(world.all::<LoadBalancer>().await[0].spec.lb_driver, DRIVER);

    // The first one gives the class up: what exists stays with it, and what is new is the second's.
    let none = json!({"spec": {"serviceClass": null}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, none)
        .await;
    condition("lbcf-second", "True").await;
    let ports = manifests::balanced_service(SERVICE, Some(CLASS), &[80, 81]);
    let ports = json!({"spec": {"ports": ports.spec.unwrap().ports}});
    world.patch::<Service>(NAMESPACE, SERVICE, ports).await;
    until_listeners(&world, &[("80", 1), ("81", 1)]).await;
    let mut drivers: Vec<String> = world
        .all::<LoadBalancer>()
        .await
        .into_iter()
        .map(|lb| lb.spec.lb_driver)
        .collect();
    drivers.sort();
    assert_eq!(drivers, [DRIVER, "lbcf-second"]);
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world
        .delete::<LoadBalancerDriver>(SYSTEM, "lbcf-second")
        .await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_node_ports_that_are_not_allocated_are_named_and_endpoints_do_not_need_them() {
    let (world, _controller) = setup(ServiceMode::NodePort).await;
    create_pods(&world, 1).await;
    let mut own = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    own.spec.as_mut().unwrap().allocate_load_balancer_node_ports = Some(false);
    world.create(&own).await;
    until_warned(&world, "spec.allocateLoadBalancerNodePorts is false").await;
    assert!(world.all::<LoadBalancer>().await.is_empty());
    let endpoints = json!({"spec": {"serviceClass": {"mode": "Endpoints"}}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, endpoints)
        .await;
    until_listeners(&world, &[("80", 1)]).await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete_basics().await;
}
