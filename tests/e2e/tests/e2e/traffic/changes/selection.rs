//! Other pods are selected, or other ports or parameters of the same ones.

use super::scene::{BLUE, GREEN, Scene};
use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::api::{BackendGroup, Bind};
use lbcf_e2e::manifests::{BIND, GROUP, NAMESPACE, SERVICE};
use lbcf_e2e::{ProxyAction, World, until, until_is};
use mock_driver::Quotas;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn selecting(app: &str) -> Value {
    json!({"spec": {"pods": {"byLabel": {"selector": {"app": app}}}}})
}

pub(super) async fn patch_group(world: &World, name: &str, patch: Value) {
    world.patch::<BackendGroup>(NAMESPACE, name, patch).await;
}

/// Lets the group select the green pods.
pub(super) async fn select_green(world: &World) {
    patch_group(world, GROUP, selecting("green")).await;
}

pub(super) async fn of_group(scene: &Scene) {
    select_green(&scene.world).await;
    scene.world.until_targets(&GREEN, "50").await;
}

pub(super) async fn of_bind(scene: &Scene) {
    let world = &scene.world;
    let green = selecting("green");
    world.patch::<Bind>(NAMESPACE, BIND, green).await;
    world.until_targets(&GREEN, "50").await;
}

pub(super) async fn of_service(scene: &Scene) {
    let world = &scene.world;
    let selector = json!({"spec": {"selector": {"app": "green"}}});
    world.patch::<Service>(NAMESPACE, SERVICE, selector).await;
    world.until_targets(&GREEN, "50").await;
}

pub(super) async fn with_weight(scene: &Scene) {
    let mut patch = selecting("green");
    patch["spec"]["parameters"] = json!({"weight": "10"});
    patch_group(&scene.world, GROUP, patch).await;
    scene.world.until_targets(&GREEN, "10").await;
}

/// A quota has no room for old and new targets together.
pub(super) async fn without_room(scene: &Scene) {
    let world = &scene.world;
    world.cloud.set_quotas(Quotas {
        backends: Some(BLUE.len()),
        ..Quotas::default()
    });
    select_green(world).await;
    world.until_targets(&GREEN, "50").await;
    let message = world
        .until_event("BackendGroup", "NoRoomForReplacement")
        .await;
    assert!(message.starts_with("a backend"), "{message}");
}

pub(super) async fn weight(scene: &Scene) {
    scene.world.set_weight::<BackendGroup>(GROUP, "10").await;
    scene.world.until_targets(&BLUE, "10").await;
}

pub(super) async fn port_renamed(scene: &Scene) {
    let world = &scene.world;
    let ports = json!([{"name": "web", "port": 80, "protocol": "TCP", "nodePort": 30_080}]);
    let renamed = json!({"spec": {"ports": ports}});
    world.patch::<Service>(NAMESPACE, SERVICE, renamed).await;
    // Longer than the grace period of endpoints.
    tokio::time::sleep(Duration::from_secs(4)).await;
    world.until_targets(&BLUE, "50").await;
}

pub(super) async fn port_added_and_first_removed(scene: &Scene) {
    patch_group(&scene.world, GROUP, ports(&[80, 81])).await;
    target_port(scene).await;
}

pub(super) async fn target_port(scene: &Scene) {
    let world = &scene.world;
    patch_group(world, GROUP, ports(&[81])).await;
    until_is("ports", vec!["81".to_owned(); 2], async || {
        let bound = world.bound().into_iter();
        bound
            .map(|it| it.rsplit(':').next().unwrap().to_owned())
            .collect()
    })
    .await;
    world.until_targets(&BLUE, "50").await;
}

fn ports(numbers: &[i32]) -> Value {
    let ports = numbers.iter();
    let ports = ports.map(|number| json!({"port": number, "protocol": "TCP"}));
    json!({"spec": {"pods": {"ports": ports.collect::<Value>()}}})
}

pub(super) async fn one_new_pod_refused(scene: &Scene) {
    let world = &scene.world;
    let refused = until("green-1 has an address", async || {
        let pod = world.get::<Pod>("green-1").await;
        pod.status?.pod_ip
    })
    .await;
    scene.slow_unless(move |call| {
        let is_refused =
            call.webhook == "ensureBackend" && call.body.to_string().contains(&refused);
        let response = json!({"status": "Fail", "msg": "refused"});
        is_refused.then(|| ProxyAction::reply_json(&response))
    });
    select_green(world).await;
    world.until_targets(&["green-0"], "50").await;
}
