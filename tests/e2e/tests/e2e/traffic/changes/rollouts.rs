//! Pods come, go and are not Ready for a while.

use super::scene::{BLUE, OUTAGE, Scene, pod};
use http::StatusCode;
use k8s_openapi::api::core::v1::Pod;
use kube::api::EvictParams;
use lbcf_e2e::manifests::{self, NAMESPACE};
use lbcf_e2e::{ProxyAction, World, until};
use serde_json::json;
use std::sync::atomic::Ordering::Relaxed;

const NEW: [&str; 2] = ["new-0", "new-1"];

/// Which pod is there first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// With surge.
    New,
    /// Without.
    Old,
}

/// Replaces one pod after the other, as a Deployment whose pods have the readiness gate.
pub(super) async fn rolling_update(scene: &Scene, first: First) {
    let world = &scene.world;
    for (old, new) in BLUE.into_iter().zip(NEW) {
        if first == First::Old {
            world.delete::<Pod>(NAMESPACE, old).await;
        }
        world.create(&manifests::gated(pod("web", new))).await;
        until_ready(world, new).await;
        if first == First::New {
            world.delete::<Pod>(NAMESPACE, old).await;
        }
    }
    world.until_targets(&NEW, "50").await;
}

pub(super) async fn driver_down_meanwhile(scene: &Scene) {
    let down = ProxyAction::Reply(StatusCode::SERVICE_UNAVAILABLE, String::new());
    tokio::join!(rolling_update(scene, First::New), scene.outage(down));
}

pub(super) async fn scaled_down_and_up(scene: &Scene) {
    let world = &scene.world;
    for others in [["web-2", "web-3", "web-4"], ["web-5", "web-6", "web-7"]] {
        for name in others {
            world.create(&pod("web", name)).await;
        }
        let all = [&BLUE[..], &others].concat();
        world.until_targets(&all, "50").await;
        for name in &all[1..] {
            world.delete::<Pod>(NAMESPACE, name).await;
        }
        world.until_targets(&all[..1], "50").await;
        world.create(&pod("web", "web-1")).await;
    }
    world.until_targets(&BLUE, "50").await;
}

pub(super) async fn evicted(scene: &Scene) {
    let world = &scene.world;
    evict(world, "web-0").await;
    world.create(&pod("web", "web-2")).await;
    world.until_targets(&["web-1", "web-2"], "50").await;
}

/// All pods of a node leave, one after the other.
pub(super) async fn node_drained(scene: &Scene) {
    let world = &scene.world;
    let all = ["web-0", "web-1", "web-2", "web-3"];
    for name in &all[BLUE.len()..] {
        world.create(&pod("web", name)).await;
    }
    world.until_targets(&all, "50").await;
    let node = node_of(world, "web-0").await;
    let cordoned = json!({"spec": {"unschedulable": true}});
    world.patch_node(&node, cordoned).await;
    let mut others = Vec::new();
    for (number, name) in (0..).zip(all) {
        if node_of(world, name).await == node {
            evict(world, name).await;
            scene.moment(number).await;
        } else {
            others.push(name);
        }
    }
    assert_eq!(others.len(), all.len() / 2, "pods are spread over nodes");
    world.until_targets(&others, "50").await;
}

/// A node is out of contact, and its pods serve on.
pub(super) async fn node_lost(scene: &Scene) {
    let world = &scene.world;
    let node = node_of(world, "web-0").await;
    world.set_node_ready(&node, false).await;
    world.until_targets(&["web-1"], "50").await;
    world.set_node_ready(&node, true).await;
    world.until_targets(&BLUE, "50").await;
}

/// The containers of a pod end at once. Requests may fail until the cloud has carried out what follows.
pub(super) async fn pod_killed(scene: &Scene) {
    let world = &scene.world;
    scene.excused.store(true, Relaxed);
    let ended = json!({"phase": "Failed"});
    world.patch_status::<Pod>(NAMESPACE, "web-1", ended).await;
    world.until_targets(&["web-0"], "50").await;
    scene.excused.store(false, Relaxed);
    world.create(&pod("web", "web-2")).await;
    world.until_targets(&["web-0", "web-2"], "50").await;
}

/// A pod is not Ready for less time than a call takes.
pub(super) async fn pod_blinks(scene: &Scene) {
    let world = &scene.world;
    world.set_ready("web-0", false).await;
    scene.moment(0).await;
    world.set_ready("web-0", true).await;
    world.until_records(BLUE.len()).await;
    world.until_targets(&BLUE, "50").await;
}

/// All pods are not Ready for a while, in which they serve on.
pub(super) async fn all_pods_blink(scene: &Scene) {
    let world = &scene.world;
    let all = ["web-0", "web-1", "web-2", "web-3", "web-4", "web-5"];
    for name in &all[BLUE.len()..] {
        world.create(&pod("web", name)).await;
    }
    world.until_targets(&all, "50").await;
    for is_ready in [false, true] {
        for name in all {
            world.set_ready(name, is_ready).await;
        }
        tokio::time::sleep(OUTAGE).await;
    }
    world.until_records(all.len()).await;
    world.until_targets(&all, "50").await;
}

async fn evict(world: &World, pod: &str) {
    let pods = world.api::<Pod>(NAMESPACE);
    let evicted = pods.evict(pod, &EvictParams::default()).await;
    evicted.expect("pods may be evicted");
}

async fn node_of(world: &World, pod: &str) -> String {
    let spec = world.get::<Pod>(pod).await.spec;
    spec.unwrap().node_name.unwrap()
}

async fn until_ready(world: &World, pod: &str) {
    until(&format!("{pod} is Ready"), async || {
        let conditions = world.get::<Pod>(pod).await.status?.conditions?;
        let ready = conditions.into_iter().find(|it| it.type_ == "Ready")?;
        (ready.status == "True").then_some(())
    })
    .await;
}
