//! The same pods get another owner, or their owner another load balancer, source or settings.

use super::scene::{BLUE, GREEN, OTHER_LB, Scene, bind, existing};
use super::selection::{patch_group, select_green, selecting};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Conditions, LoadBalancer, LoadBalancerDriver, ServiceMode,
};
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::{World, until};
use serde_json::{Value, json};

/// Another group takes the place of the group.
async fn replace_group(world: &World, other: &BackendGroup) {
    world.create(other).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_deleted::<BackendGroup>(NAMESPACE, GROUP).await;
}

pub(super) async fn group_renamed(scene: &Scene) {
    let renamed = manifests::group("renamed", &[LB]);
    replace_group(&scene.world, &renamed).await;
    scene.world.until_targets(&BLUE, "50").await;
}

pub(super) async fn group_of_other_weight(scene: &Scene) {
    let mut other = manifests::group("other", &[LB]);
    other.spec.parameters = [("weight", "20")].into();
    replace_group(&scene.world, &other).await;
    scene.world.until_targets(&BLUE, "20").await;
}

pub(super) async fn groups_swap(scene: &Scene) {
    let world = &scene.world;
    select_green(world).await;
    patch_group(world, "other", selecting("web")).await;
    world.until_records(BLUE.len() + GREEN.len()).await;
    let all = [BLUE, GREEN].concat();
    world.until_targets(&all, "50").await;
}

pub(super) async fn group_moved(scene: &Scene) {
    let world = &scene.world;
    let moved = json!({"spec": {"loadBalancers": [OTHER_LB]}});
    patch_group(world, GROUP, moved).await;
    until("only the other load balancer has records", async || {
        let records = world.all::<BackendRecord>().await;
        let are_moved = records.iter().all(|it| it.spec.lb_name == OTHER_LB);
        are_moved.then_some(())
    })
    .await;
    world.until_targets(&BLUE, "50").await;
}

/// A Bind is replaced by a group for the same pods at the same load balancer, and this by the Bind.
pub(super) async fn bind_and_group(scene: &Scene) {
    let world = &scene.world;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.until_records(BLUE.len()).await;
    world.create(&bind(existing())).await;
    // Before, the controller does not know that it wants the same load balancer.
    until("the Bind has its load balancer", async || {
        let entry = world.entry(BIND, "lb").await?;
        entry.conditions.is_true("Created").then_some(())
    })
    .await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_deleted::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_records(BLUE.len()).await;
    world.until_targets(&BLUE, "50").await;
}

/// From pods to a Service, and back.
pub(super) async fn source_of_bind(scene: &Scene) {
    let world = &scene.world;
    let service = manifests::service_bind(BIND, SERVICE, ServiceMode::Endpoints, &[]);
    let service = json!({"spec": {"pods": null, "service": service.spec.service}});
    let mut pods_again = selecting("web");
    pods_again["spec"]["service"] = Value::Null;
    pods_again["spec"]["pods"]["ports"] = json!([{"port": 80, "protocol": "TCP"}]);
    for source in [service, pods_again] {
        world.patch::<Bind>(NAMESPACE, BIND, source).await;
        // For the address and its registration.
        scene.one_call().await;
        scene.one_call().await;
    }
    world.until_targets(&BLUE, "50").await;
}

pub(super) async fn attribute(scene: &Scene) {
    let world = &scene.world;
    let patch = json!({"spec": {"attributes": {"bandwidth": "10"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, patch).await;
    until_attribute(world, "bandwidth", "10").await;
}

pub(super) async fn until_attribute(world: &World, name: &str, value: &str) {
    until(&format!("{name} is {value}"), async || {
        let observed = world.cloud.observe().load_balancers;
        let mut attributes = observed.iter().filter_map(|it| it.attributes.get(name));
        attributes.any(|it| it == value).then_some(())
    })
    .await;
}

pub(super) async fn settings_of_class(scene: &Scene) {
    let world = &scene.world;
    let class = json!({"spec": {"serviceClass": {"parameters": {"weight": "20"}}}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, class)
        .await;
    world.until_targets(&BLUE, "20").await;
}
