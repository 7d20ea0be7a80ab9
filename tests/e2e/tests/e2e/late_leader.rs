//! A leader that is paused for longer than its lease and then goes on.

use crate::leader::{Candidate, options};
use lbcf_controller::RunError;
use lbcf_controller::api::{BackendGroup, BackendRecord};
use lbcf_e2e::manifests::{GROUP, NAMESPACE};
use lbcf_e2e::{PausableController, World, leads, until};
use local_cluster::RequestKey;

const PODS: usize = 40;

/// Pauses a leader that registers [`PODS`] pods when the responses to this many writes of a target are
/// on their way, until another leader has deregistered everything. Checks that the first one then
/// makes no call and no write.
async fn a_leader_wakes_up_late(target: &'static str, in_flight: usize) {
    let world = World::bare().await;
    let (one, writes) =
        PausableController::start_holding(&world.cluster, "one", options("one"), target).await;
    until("it leads", async || leads(&one.health).then_some(())).await;
    let two = Candidate::start(&world, "two");
    two.until_ready().await;
    world.apply_basics(PODS).await;
    until("writes are in flight", async || {
        (writes.count() >= in_flight).then_some(())
    })
    .await;

    let paused = one.pause().await.expect("it runs");
    two.until_leader().await;
    world.until_settled().await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    until("everything is deregistered", async || {
        let records: Vec<BackendRecord> = world.all().await;
        (records.is_empty() && world.targets_count() == 0).then_some(())
    })
    .await;
    let (requests, calls) = (world.cluster.requests(), world.calls());
    // The responses arrive while the leader is paused.
    writes.release();
    drop(paused);
    let ended = one.ended().await;

    assert!(matches!(ended, Err(RunError::LostLease(_))), "{ended:?}");
    assert_eq!(world.calls(), calls);
    let requests = world.cluster.requests().since(&requests);
    // See the test of a renewal that is sent late.
    let is_of_work = |key: &RequestKey| key.is_write() && !key.resource.ends_with("/leases");
    let written = requests.count(|key| key.user_agent == "one" && is_of_work(key));
    assert_eq!(written, 0, "{requests:?}");
    world.delete_basics().await;
    two.task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d38_a_leader_that_wakes_up_late_creates_no_record() {
    if lbcf_e2e::needs_embedded("a controller that is paused") {
        return;
    }
    // So many are created at a time.
    a_leader_wakes_up_late("POST backendrecords", 16).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d38_a_leader_that_wakes_up_late_calls_no_driver() {
    if lbcf_e2e::needs_embedded("a controller that is paused") {
        return;
    }
    a_leader_wakes_up_late("PATCH backendrecords/status", PODS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d38_a_renewal_that_is_sent_after_another_one_leads_changes_no_leader() {
    if lbcf_e2e::needs_embedded("a controller that is paused") {
        return;
    }
    let world = World::bare().await;
    let cluster = &world.cluster;
    let (one, renewals) =
        PausableController::start_sending_late(cluster, "one", options("one"), "PUT leases").await;
    until("a renewal is to be sent", async || {
        (renewals.count() > 0).then_some(())
    })
    .await;
    let paused = one.pause().await.expect("it runs");
    let two = Candidate::start(&world, "two");
    two.until_leader().await;
    renewals.release();
    drop(paused);
    let ended = one.ended().await;
    assert!(matches!(ended, Err(RunError::LostLease(_))), "{ended:?}");
    let is_renewal =
        |key: &RequestKey| key.user_agent == "one" && key.resource.ends_with("/leases");
    until("the renewal arrives", async || {
        let requests = cluster.requests();
        let renewals = requests.count(|key| is_renewal(key) && key.verb == "update");
        (renewals > 0).then_some(())
    })
    .await;
    assert!(leads(&two.health), "the lease is taken from its holder");
    two.task.abort();
}
