//! Objects whose annotation keeps drivers from being called (d121).

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, BackendRecord, Conditions, LoadBalancer};
use lbcf_controller::names::ANNOTATION_PAUSED;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn annotation(value: Value) -> Value {
    json!({"metadata": {"annotations": {ANNOTATION_PAUSED: value}}})
}

/// Waits until all these records wait because of the object.
async fn until_paused(world: &World, by: &str, count: usize) {
    until("the records say what pauses them", async || {
        let records = world.all::<BackendRecord>().await.into_iter();
        let paused = records.filter(|record| {
            let status = record.status.clone().unwrap_or_default();
            let registered = status.conditions.find("Registered").cloned();
            registered.is_some_and(|it| it.reason == "Paused" && it.message.starts_with(by))
        });
        (paused.count() == count).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d121_a_paused_group_calls_no_driver_until_it_is_resumed() {
    let world = World::new().await;
    let _controller = world.start(World::quick());
    world.register_basics(2).await;
    let before = world.calls();
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, annotation(json!("true")))
        .await;
    world.create(&manifests::pod("web-2")).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.set_weight::<BackendGroup>(GROUP, "10").await;
    until_paused(&world, &format!("BackendGroup {NAMESPACE}/{GROUP}"), 3).await;
    let ready = until("the group says so", async || {
        let status = world.get::<BackendGroup>(GROUP).await.status?;
        let ready = status.conditions.find("Ready")?.clone();
        (ready.reason == "Paused").then_some(ready)
    })
    .await;
    assert!(ready.message.contains(ANNOTATION_PAUSED), "{ready:?}");
    let during = world.calls();
    let of_driver = ["generateBackendAddr", "ensureBackend", "deregisterBackend"];
    for webhook in of_driver {
        assert_eq!(during.get(webhook), before.get(webhook), "{webhook}");
    }
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, annotation(Value::Null))
        .await;
    world.until_targets(&["web-1", "web-2"], "10").await;
    world.until_records(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d121_a_paused_load_balancer_and_its_backends_wait() {
    let world = World::new().await;
    let _controller = world.start(World::quick());
    world.create_driver().await;
    let mut lb = manifests::load_balancer(LB);
    let paused = (ANNOTATION_PAUSED.to_owned(), "true".to_owned());
    lb.metadata.annotations = Some([paused].into());
    world.create(&lb).await;
    until("the load balancer says so", async || {
        let status = world.get::<LoadBalancer>(LB).await.status?;
        let created = status.conditions.find("Created")?.clone();
        (created.reason == "Paused").then_some(())
    })
    .await;
    assert!(world.cloud_load_balancer(LB).is_none());
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, annotation(Value::Null))
        .await;
    world.create_pods(1).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_registered(1).await;

    world
        .patch::<LoadBalancer>(NAMESPACE, LB, annotation(json!("TRUE")))
        .await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    until_paused(&world, &format!("LoadBalancer {NAMESPACE}/{LB}"), 1).await;
    let called: BTreeSet<_> = world.calls().into_keys().collect();
    assert!(!called.contains("deregisterBackend"), "{called:?}");
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, annotation(Value::Null))
        .await;
    world.until_records(0).await;
    world.until_pods(0).await;
}
