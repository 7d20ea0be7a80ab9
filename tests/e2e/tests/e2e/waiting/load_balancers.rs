//! What load balancers wait for.

use super::{impatient, respond, setup, until_condition, until_event, until_waits};
use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_e2e::World;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use tokio::time::Instant;

const DELETED: &str = "Deleted";

async fn until_deletion_waits(world: &World, reason: &str) -> String {
    until_waits::<LoadBalancer>(world, LB, DELETED, "False", reason).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_load_balancer_that_waits_for_records_says_how_many_and_which_first() {
    const RECORDS: usize = 40;
    let (world, proxy, _controller) = setup(World::options()).await;
    world.create(&manifests::load_balancer(LB)).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.pods = None;
    group.spec.static_addresses = (0..RECORDS).map(|n| format!("192.0.2.{n}:80")).collect();
    world.create(&group).await;
    world.until_records(RECORDS).await;
    respond(&proxy, "deregisterBackend", "Fail");
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    let message = until_deletion_waits(&world, "RecordsRemaining").await;
    assert!(
        message.contains("remain: 40, the first is lbcf-e2e-web/"),
        "{message}"
    );
    // Its writes do not grow with the number of records that are deregistered meanwhile.
    let (before, began) = (world.cost(), Instant::now());
    proxy.forward_all();
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    let seconds = began.elapsed().as_secs() + 1;
    let writes = world.cost_since(&before).writes("loadbalancers");
    // The last one removes the finalizer.
    assert!(writes <= seconds + 2, "{writes} writes in {seconds} s");
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_load_balancer_whose_deletion_fails_says_so() {
    let (world, proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    until_condition::<LoadBalancer>(&world, LB, "Created", ("True", "")).await;
    respond(&proxy, "deleteLoadBalancer", "Fail");
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    let failed = ("False", "OperationFailed");
    let message = until_condition::<LoadBalancer>(&world, LB, DELETED, failed).await;
    assert_eq!(message, "made so by the test");
    until_event(&world, "LoadBalancer", LB, "FailedDeleteLoadBalancer").await;
    // Without its driver it waits for that.
    world.remove_driver_by_hand().await;
    let message = until_deletion_waits(&world, "DriverNotFound").await;
    assert!(message.contains("kube-system/lbcf-clb"), "{message}");
    proxy.forward_all();
    world.create_driver().await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
}
