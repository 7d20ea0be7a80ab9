//! Something that registers the green pods is down for a while.

use super::owners::until_attribute;
use super::scene::{GREEN, OUTAGE, Scene};
use super::selection::{patch_group, select_green};
use crate::leader::{Candidate, options};
use http::StatusCode;
use k8s_openapi::api::core::v1::Service;
use lbcf_e2e::manifests::{CHARGE_TYPE, GROUP, NAMESPACE, SERVICE};
use lbcf_e2e::{CONTROLLER, ProxyAction, kill};
use local_cluster::{Fault, RequestFilter, WatchEnd};
use serde_json::json;

/// By name, and the controller is killed once.
pub(super) async fn names_and_controller_killed(scene: &mut Scene) {
    let names = json!({"spec": {"pods": {"byName": GREEN}}});
    patch_group(&scene.world, GROUP, names).await;
    scene.moment(0).await;
    scene.restart_controller().await;
    scene.world.until_targets(&GREEN, "50").await;
}

pub(super) async fn controller_killed_at_random(scene: &mut Scene) {
    select_green(&scene.world).await;
    for number in 0..4 {
        scene.moment(number).await;
        scene.restart_controller().await;
    }
    scene.world.until_targets(&GREEN, "50").await;
}

/// The leader stops when it has begun.
pub(super) async fn leader_changed(scene: &mut Scene) {
    scene.kill_controller().await;
    let one = Candidate::with_options(&scene.world, "one", options("one"));
    one.until_leader().await;
    let two = Candidate::with_options(&scene.world, "two", options("two"));
    two.until_ready().await;
    select_green(&scene.world).await;
    scene.moment(0).await;
    one.stop().await;
    two.until_leader().await;
    scene.world.until_targets(&GREEN, "50").await;
    kill(two.task).await;
}

/// Calls are carried out and their responses lost, and then there is no driver for a while.
pub(super) async fn driver_restarted(scene: &Scene) {
    select_green(&scene.world).await;
    let lost = ProxyAction::ForwardThenReply(StatusCode::BAD_GATEWAY, String::new());
    scene.outage(lost).await;
    let down = ProxyAction::Reply(StatusCode::SERVICE_UNAVAILABLE, String::new());
    scene.outage(down).await;
    scene.world.until_targets(&GREEN, "50").await;
}

/// The driver answers that every call fails.
pub(super) async fn cloud_down(scene: &Scene) {
    let world = &scene.world;
    select_green(world).await;
    scene.moment(0).await;
    world.cloud.set_outage(true);
    tokio::time::sleep(OUTAGE).await;
    world.cloud.set_outage(false);
    world.until_targets(&GREEN, "50").await;
}

/// The controller does not reach the API server.
pub(super) async fn api_server_down(scene: &Scene) {
    let world = &scene.world;
    select_green(world).await;
    scene.moment(0).await;
    let of_controller = RequestFilter::default().user_agent(CONTROLLER);
    let faults = world.cluster.faults();
    let down = faults.inject(Fault::disconnect().of(of_controller.clone()));
    faults.end_watches(WatchEnd::Broken, &of_controller);
    tokio::time::sleep(OUTAGE).await;
    drop(down);
    world.until_targets(&GREEN, "50").await;
}

/// No replica serves admission, so nothing that the Service asks for is stored.
pub(super) async fn admission_down(scene: &Scene) {
    let world = &scene.world;
    world.install_admission().await;
    let patch = json!({
        "metadata": {"annotations": {CHARGE_TYPE: "MONTHLY"}},
        "spec": {"selector": {"app": "green"}},
    });
    world.patch::<Service>(NAMESPACE, SERVICE, patch).await;
    tokio::time::sleep(OUTAGE).await;
    world.uninstall_admission().await;
    until_attribute(world, "chargeType", "MONTHLY").await;
    world.until_targets(&GREEN, "50").await;
}
