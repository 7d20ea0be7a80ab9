//! State left behind by users and by the original controller.

use k8s_openapi::api::core::v1::Event;
use lbcf_controller::api::{BackendGroup, BackendRecord, LoadBalancer};
use lbcf_e2e::manifests::{GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, kill, until};
use serde_json::json;

/// Removes what the original controller does not store: observed generations, synced attributes and
/// the inputs of addresses.
async fn as_the_original_left_it(world: &World) {
    world.forget_record_key().await;
    for record in world.all::<BackendRecord>().await {
        let name = record.metadata.name.as_deref().unwrap();
        let annotations = json!({"metadata": {"annotations": null}});
        world
            .patch::<BackendRecord>(NAMESPACE, name, annotations)
            .await;
        let mut status = serde_json::to_value(record.status.unwrap()).unwrap();
        for condition in status["conditions"].as_array_mut().unwrap() {
            condition
                .as_object_mut()
                .unwrap()
                .remove("observedGeneration");
        }
        world
            .patch_status::<BackendRecord>(NAMESPACE, name, status)
            .await;
    }
    let lb = world.get::<LoadBalancer>(LB).await;
    let mut status = serde_json::to_value(lb.status.unwrap()).unwrap();
    status["lastSyncedDigest"] = json!(null);
    world
        .patch_status::<LoadBalancer>(NAMESPACE, LB, status)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d27_b157_controllers_can_be_swapped_and_nothing_is_registered_again() {
    let world = World::bare().await;
    let controller = world.start_controller();
    world.apply_basics(3).await;
    let pods = ["web-0", "web-1", "web-2"];
    world.until_targets(&pods, "50").await;
    world.until_settled().await;
    kill(controller).await;
    as_the_original_left_it(&world).await;

    let before = world.cost();
    let _controller = world.start_controller();
    until("the load balancer was ensured", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        lb.status.unwrap().last_synced_digest.map(drop)
    })
    .await;
    let cost = world.cost_since(&before);
    cost.assert_calls([("ensureLoadBalancer", 1)]);
    // Later changes reach every backend once.
    world.set_weight::<BackendGroup>(GROUP, "70").await;
    world.until_targets(&pods, "70").await;
    world.until_settled().await;
    let cost = world.cost_since(&before);
    cost.assert_calls([("ensureLoadBalancer", 1), ("ensureBackend", 3)]);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b62_a_record_whose_finalizer_is_removed_by_hand_is_deleted_without_a_call() {
    let mut world = World::new().await;
    let _controller = world.start_controller();
    world.settle_basics(1).await;
    world.stop_driver().await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    let record = until("deregistering fails", async || {
        let events: Vec<Event> = world.all().await;
        let failed = |event: &&Event| event.reason.as_deref() == Some("InvalidDeregister");
        events.iter().find(failed)?.involved_object.name.clone()
    })
    .await;
    let by_hand = json!({"metadata": {"finalizers": null}});
    world
        .patch::<BackendRecord>(NAMESPACE, &record, by_hand)
        .await;
    world
        .until_deleted::<BackendRecord>(NAMESPACE, &record)
        .await;
    world.start_driver().await;
    // The load balancer no longer waits for it.
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    assert!(!world.calls().contains_key("deregisterBackend"));
}
