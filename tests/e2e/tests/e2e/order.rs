//! The order of operations.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, BackendRecord, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u18_a_load_balancer_is_deleted_after_its_backends() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.register_basics(5).await;
    // The group stays: the backends of a deleted load balancer are deregistered (b105, b107).
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    let calls = world.journal().await;
    let deleted = calls
        .iter()
        .position(|webhook| webhook == "deleteLoadBalancer")
        .unwrap();
    let last = calls
        .iter()
        .rposition(|webhook| webhook == "deregisterBackend")
        .unwrap();
    assert!(last < deleted, "{calls:?}");
    assert_eq!(
        calls
            .iter()
            .filter(|webhook| *webhook == "deregisterBackend")
            .count(),
        5
    );
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u18_everything_deleted_together_is_removed_in_order() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.register_basics(3).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    for pod in ["web-0", "web-1", "web-2"] {
        world.delete::<Pod>(NAMESPACE, pod).await;
    }
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    let calls = world.calls();
    assert_eq!(
        (calls["deregisterBackend"], calls["deleteLoadBalancer"]),
        (3, 1)
    );
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u20_d31_an_address_of_two_groups_is_deregistered_once() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.apply_basics(1).await;
    world.create(&manifests::group("second", &[LB])).await;
    until("both have registered it", async || {
        let records: Vec<BackendRecord> = world.all().await;
        let registered = records.iter().filter(|record| {
            record
                .status
                .as_ref()
                .is_some_and(|status| !status.conditions.is_empty())
        });
        (registered.count() == 2).then_some(())
    })
    .await;
    world.until_pods(1).await;
    world.delete::<BackendGroup>(NAMESPACE, "second").await;
    until("the second group's record is deleted", async || {
        (world.all::<BackendRecord>().await.len() == 1).then_some(())
    })
    .await;
    world.until_pods(1).await;
    assert_eq!(world.calls().get("deregisterBackend"), None);
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_targets(&[], "50").await;
    assert_eq!(world.calls()["deregisterBackend"], 1);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u19_a_record_created_again_ends_registered() {
    // Deleting and creating a group creates records with the same names and addresses while the old
    // ones are still being deleted.
    let world = World::new().await;
    let _controller = world.start_controller();
    world.apply_basics(3).await;
    let pods = ["web-0", "web-1", "web-2"];
    world.until_targets(&pods, "50").await;
    for _ in 0..3 {
        world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
        world.until_deleted::<BackendGroup>(NAMESPACE, GROUP).await;
        world.create(&manifests::group(GROUP, &[LB])).await;
        world.until_settled().await;
        world.until_targets(&pods, "50").await;
    }
    world.delete_basics().await;
}
