//! All requests of the controller to the API server, with reads and events, counted where they arrive.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, BackendRecord, Conditions, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{CONTROLLER, World, is_exhaustive, until};
use local_cluster::{RequestCounts, RequestKey};
use mock_driver::{FaultAction, FaultMatch, FaultRule, Glob};
use std::collections::BTreeMap;
use std::time::Duration;

const RECORDS: &str = "lbcf.tkestack.io/backendrecords";
const GROUPS: &str = "lbcf.tkestack.io/backendgroups";

/// How often the controller sent each request. Events and the group's status are written less often than
/// they change, so that their number depends on time.
fn by_controller(counts: &RequestCounts) -> BTreeMap<(&'static str, String), u64> {
    let mut requests = BTreeMap::new();
    let is_counted = |key: &RequestKey| {
        key.user_agent == CONTROLLER && !key.is_event() && key.resource != GROUPS
    };
    for (key, count) in counts.iter().filter(|(key, _)| is_counted(key)) {
        *requests
            .entry((key.verb, key.resource.clone()))
            .or_default() += count;
    }
    requests.retain(|_, count| *count > 0);
    requests
}

fn expected(requests: &[(&'static str, &str, u64)]) -> BTreeMap<(&'static str, String), u64> {
    let keyed = requests
        .iter()
        .map(|&(verb, resource, count)| ((verb, resource.to_owned()), count));
    keyed.collect()
}

async fn until_registered(world: &World, backends: i32) {
    until(&format!("{backends} backends are registered"), async || {
        let group = world.get::<BackendGroup>(GROUP).await;
        let status = group.status?;
        let counts = (status.backends, status.registered_records);
        (counts == (backends, backends)).then_some(())
    })
    .await;
    world.until_settled().await;
}

async fn until_created(world: &World) {
    until("the load balancer exists", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        lb.status?.conditions.is_true("Created").then_some(())
    })
    .await;
}

async fn versions(world: &World) -> BTreeMap<String, Option<String>> {
    let records = world.all::<BackendRecord>().await.into_iter();
    let versions = records.map(|it| (it.metadata.name.unwrap(), it.metadata.resource_version));
    versions.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d119_a_backend_costs_three_requests_and_no_event_and_its_removal_two_requests() {
    const PODS: u64 = 20;
    let world = World::new().await;
    let _controller = world.start_controller();
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    until_created(&world).await;
    let before = world.cluster.requests();
    for number in 0..PODS {
        let pod = manifests::pod(&format!("web-{number}"));
        world.create(&pod).await;
    }
    until_registered(&world, 20).await;
    let registering = world.cluster.requests().since(&before);
    let one_read_and_two_writes = [
        ("get", "pods", PODS),
        ("create", RECORDS, PODS),
        ("patch", RECORDS, PODS),
    ];
    assert_eq!(
        by_controller(&registering),
        expected(&one_read_and_two_writes)
    );
    let events = registering.count(|key| key.user_agent == CONTROLLER && key.is_event());
    assert!(events <= 2, "those of the group: {events}");

    let before = world.cluster.requests();
    for number in 0..PODS {
        world
            .delete::<Pod>(NAMESPACE, &format!("web-{number}"))
            .await;
    }
    until_registered(&world, 0).await;
    let deregistering = world.cluster.requests().since(&before);
    let two_writes = [("delete", RECORDS, PODS), ("patch", RECORDS, PODS)];
    assert_eq!(by_controller(&deregistering), expected(&two_writes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d119_pods_that_are_registered_together_are_read_in_pages() {
    // More than a batch of backends and more than a page of pods.
    const PODS: usize = 520;
    let world = World::new().await;
    world.create_pods(PODS).await;
    until("all pods are ready", async || {
        let pods = world.all::<Pod>().await.into_iter();
        let conditions = pods.filter_map(|pod| pod.status?.conditions);
        let ready = conditions.flatten().filter(|it| it.type_ == "Ready");
        (ready.filter(|it| it.status == "True").count() == PODS).then_some(())
    })
    .await;
    let _controller = world.start_controller();
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    until_created(&world).await;
    let before = world.cluster.requests();
    world.create(&manifests::group(GROUP, &[LB])).await;
    until_registered(&world, i32::try_from(PODS).unwrap()).await;
    let made = by_controller(&world.cluster.requests().since(&before));
    let count = |verb| made.get(&(verb, "pods".to_owned())).copied();
    assert_eq!((count("list"), count("get")), (Some(2), None), "{made:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d119_records_of_a_driver_that_takes_its_time_ask_for_their_own_addresses() {
    const PODS: usize = 20;
    let world = World::new().await;
    world.create_pods(PODS).await;
    // A call before the record exists names it instead of its uid. Such a call gets no answer.
    let slow = FaultRule {
        matches: FaultMatch {
            record_id: Some(Glob::from("generateBackendAddr(*/*)")),
            ..FaultMatch::default()
        },
        action: FaultAction::Hang,
    };
    world.cloud.faults().add(slow).unwrap();
    let _controller = world.start(Options {
        address_timeout: Duration::from_millis(1),
        ..World::options()
    });
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    until_created(&world).await;
    let before = world.cluster.requests();
    world.create(&manifests::group(GROUP, &[LB])).await;
    until_registered(&world, 20).await;
    let made = by_controller(&world.cluster.requests().since(&before));
    let written = ["create", "patch"].map(|verb| made[&(verb, RECORDS.to_owned())]);
    assert_eq!(written, [20, 40], "{made:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exhaustive_a_pod_of_a_thousand_reads_and_writes_nothing_of_the_others() {
    let pods = if is_exhaustive() { 1000 } else { 100 };
    let registered = i32::try_from(pods).unwrap();
    let world = World::new().await;
    let _controller = world.start_controller();
    world.apply_basics(pods).await;
    until_registered(&world, registered).await;

    let all = versions(&world).await;
    let (before, calls) = (world.cluster.requests(), world.cloud.calls());
    world.delete::<Pod>(NAMESPACE, "web-7").await;
    until_registered(&world, registered - 1).await;
    let others = versions(&world).await;
    let made = world.cluster.requests().since(&before);
    let two_writes = [("delete", RECORDS, 1), ("patch", RECORDS, 1)];
    assert_eq!(by_controller(&made), expected(&two_writes));
    assert_eq!(world.cloud.calls().difference(&calls).total(), 1);
    assert_eq!(others.len(), pods - 1);
    assert!(others.iter().all(|(name, version)| all[name] == *version));

    let (before, calls) = (world.cluster.requests(), world.cloud.calls());
    world.create(&manifests::pod("web-7")).await;
    until_registered(&world, registered).await;
    let made = world.cluster.requests().since(&before);
    let one_read_and_two_writes = [
        ("get", "pods", 1),
        ("create", RECORDS, 1),
        ("patch", RECORDS, 1),
    ];
    assert_eq!(by_controller(&made), expected(&one_read_and_two_writes));
    assert_eq!(world.cloud.calls().difference(&calls).total(), 2);
    let mut versions = versions(&world).await;
    versions.retain(|name, _| others.contains_key(name));
    assert_eq!(versions, others);
}
