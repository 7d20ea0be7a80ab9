//! A cluster whose storage is restored from a backup, so that its versions go back.

use crate::leader::{Candidate, lease, options};
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, BackendRecord, LoadBalancer};
use lbcf_controller::{LeaderElection, Options, RunError};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, kill, until, until_is};
use local_cluster::RequestKey;
use serde_json::json;
use std::time::Duration;

/// A candidate whose lease lasts longer than the test.
fn start(world: &World, name: &str) -> Candidate {
    let options = Options {
        leader_election: Some(LeaderElection {
            lease_duration: Duration::from_secs(3600),
            renew_deadline: Duration::from_secs(1800),
            retry_period: Duration::from_millis(100),
            ..LeaderElection::new(SYSTEM, name)
        }),
        ..options(name)
    };
    Candidate::with_options(world, name, options)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d39_a_standby_that_takes_over_after_a_restore_knows_only_what_exists() {
    if lbcf_e2e::needs_embedded("a restored backup") {
        return;
    }
    let mut world = World::stored().await;
    let first = world.start_controller();
    world.settle_basics(1).await;
    kill(first).await;
    world.back_up().await;

    let one = start(&world, "one");
    one.until_leader().await;
    let two = start(&world, "two");
    two.until_ready().await;
    world.create(&manifests::pod("web-1")).await;
    world.until_counts(GROUP, [2, 2, 2, 2]).await;
    until("the standby knows the second record", async || {
        let metrics = two.health.metrics().unwrap();
        let known = r#"pending_key{key_kind="BackendRecord"} 2"#;
        metrics.contains(known).then_some(())
    })
    .await;

    // The backup contains no lease, so the standby takes over at once.
    world.restore(|| one.task.abort()).await;
    two.until_leader().await;
    assert_eq!(two.health.ready(), Ok(()));
    world.create(&manifests::pod("web-2")).await;
    world.until_counts(GROUP, [2, 2, 2, 2]).await;
    let records: Vec<BackendRecord> = world.all().await;
    let mut pods: Vec<&str> = records
        .iter()
        .map(|record| &*record.spec.pod_backend.as_ref().unwrap().name)
        .collect();
    pods.sort_unstable();
    assert_eq!(pods, ["web-0", "web-2"]);
    let lists = |key: &RequestKey| key.user_agent == "two" && key.verb == "list";
    let requests = world.cluster.requests();
    assert_eq!(requests.count(lists), 9, "one page a kind: {requests:?}");
    // The load balancer waits for no record that does not exist.
    world.delete_basics().await;
    two.task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d39_a_leader_whose_cluster_is_restored_ends() {
    if lbcf_e2e::needs_embedded("a restored backup") {
        return;
    }
    let mut world = World::stored().await;
    let one = start(&world, "one");
    one.until_leader().await;
    world.back_up().await;
    let before = lease(&world).await.renew_time;
    until("the lease is renewed", async || {
        (lease(&world).await.renew_time != before).then_some(())
    })
    .await;
    world.restore(|| {}).await;
    let ended = one.task.await.expect("no panic");
    let error = ended.expect_err("it was not asked to");
    assert!(matches!(error, RunError::LostLease(_)), "{error:?}");
    assert!(
        error.to_string().contains("the cluster was restored"),
        "{error}"
    );
}

/// Sets an attribute of the load balancer, and waits until the cloud has it.
async fn set_bandwidth(world: &World, bandwidth: &str) {
    let spec = json!({"spec": {"attributes": {"max-bandwidth-out": bandwidth}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, spec).await;
    until_bandwidth(world, bandwidth).await;
}

async fn until_bandwidth(world: &World, expected: &str) {
    until_is("bandwidth", Some(expected.to_owned()), async || {
        let lbs = world.cloud.observe().load_balancers;
        lbs[0].attributes.get("max-bandwidth-out").cloned()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d56_a_controller_started_after_a_restore_ensures_what_exists_again() {
    if lbcf_e2e::needs_embedded("a restored backup") {
        return;
    }
    let mut world = World::stored().await;
    let first = world.start_controller();
    world.apply_basics(2).await;
    set_bandwidth(&world, "1").await;
    world.until_pods(2).await;
    world.until_settled().await;
    world.back_up().await;

    // What is deregistered and changed now will be as it was.
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-1"], "50").await;
    world.set_weight::<BackendGroup>(GROUP, "90").await;
    world.until_targets(&["web-1"], "90").await;
    set_bandwidth(&world, "7").await;
    kill(first).await;
    world.restore(|| {}).await;

    let options = Options {
        ensure_at_start: true,
        ..World::options()
    };
    let (second, calls) = world.start_counting_controller(options);
    world.until_pods(2).await;
    until_bandwidth(&world, "1").await;
    world.until_settled().await;
    let calls = calls.snapshot();
    assert_eq!(calls["ensureLoadBalancer"], 1, "{calls:?}");
    assert_eq!(calls["ensureBackend"], 2, "{calls:?}");
    second.abort();
}
