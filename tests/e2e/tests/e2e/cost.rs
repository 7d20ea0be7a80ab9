//! Costs: writes to the API server and calls of the driver, counted where they arrive.

use k8s_openapi::api::core::v1::{Event, Pod};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Conditions, PortSelector, ServiceMode, condition_types,
};
use lbcf_driver_sdk::webhook::Protocol;
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{CONTROLLER, World, is_exhaustive, until};
use local_cluster::RequestKey;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d119_registering_costs_two_writes_and_two_webhooks_deregistering_two_and_one() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.settle_basics(1).await;

    const MORE: u64 = 20;
    let names: Vec<String> = (1..=MORE).map(|number| format!("web-{number}")).collect();
    let all: Vec<&str> = std::iter::once("web-0")
        .chain(names.iter().map(String::as_str))
        .collect();
    let before = world.cost();
    for name in &names {
        world.create(&manifests::pod(name)).await;
    }
    world.until_targets(&all, "50").await;
    world.until_settled().await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * MORE, "{cost:?}");
    let of_groups = cost.writes("backendgroups");
    assert_eq!(cost.all_writes(), 2 * MORE + of_groups);
    cost.assert_calls([("generateBackendAddr", MORE), ("ensureBackend", MORE)]);

    let before = world.cost();
    for name in &names {
        world.delete::<Pod>(NAMESPACE, name).await;
    }
    world.until_pods(1).await;
    world.until_settled().await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * MORE, "{cost:?}");
    let of_groups = cost.writes("backendgroups");
    assert_eq!(cost.all_writes(), 2 * MORE + of_groups);
    cost.assert_calls([("deregisterBackend", MORE)]);
}

/// Its answers may take time, for which a request about a record has limits (d109).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d119_a_driver_of_a_tenant_is_asked_for_an_address_by_the_record() {
    let world = World::bare().await;
    let _controller = world.start_controller();
    let mut driver = manifests::driver(&world.driver_url());
    driver.metadata.name = Some("mine".into());
    driver.metadata.namespace = Some(NAMESPACE.into());
    world.create(&driver).await;
    let mut lb = manifests::load_balancer(LB);
    lb.spec.lb_driver = "mine".into();
    world.create(&lb).await;
    world.create(&manifests::pod("web-0")).await;
    let before = world.cost();
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_targets(&["web-0"], "50").await;
    world.until_settled().await;
    assert_eq!(world.cost_since(&before).writes("backendrecords"), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_parameters_costs_two_writes_and_one_webhook_a_backend() {
    let world = World::bare().await;
    let _controller = world.start_controller();
    world.apply_basics(5).await;
    let pods = ["web-0", "web-1", "web-2", "web-3", "web-4"];
    world.until_targets(&pods, "50").await;
    world.until_settled().await;
    let before = world.cost();
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world.until_targets(&pods, "80").await;
    world.until_settled().await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 5);
    cost.assert_calls([("ensureBackend", 5)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d119_success_is_an_event_of_the_group_and_not_of_its_backends() {
    let world = World::new().await;
    let controller = world.start_controller();
    world.settle_basics(3).await;
    // Events are written concurrently; the group's is the last one.
    let reason = "SuccSyncedBackendGroup";
    let message = world.until_event("BackendGroup", reason).await;
    assert!(
        message.starts_with("all 3 backends are registered"),
        "{message}"
    );
    world.delete_basics().await;
    controller.abort();
    let events = world.all::<Event>().await.into_iter();
    let of_records =
        events.filter(|event| event.involved_object.kind.as_deref() == Some("BackendRecord"));
    assert_eq!(of_records.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b114_a_groups_status_is_written_at_most_once_a_second_while_it_changes() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.settle_basics(1).await;
    let (before, began) = (world.cost(), tokio::time::Instant::now());
    // The counts change with each of these steps, many times a second.
    while began.elapsed() < Duration::from_millis(3500) {
        world.set_ready("web-0", false).await;
        world.until_targets(&[], "50").await;
        world.set_ready("web-0", true).await;
        world.until_pods(1).await;
    }
    world.until_settled().await;
    let seconds = began.elapsed().as_secs() + 1;
    let writes = world.cost_since(&before).writes("backendgroups");
    assert!(
        (1..=seconds + 1).contains(&writes),
        "{writes} writes in {seconds} s"
    );
}

/// On a paused clock, on which calls over a socket would time out, so that drivers are not asked whether
/// they are healthy; see `driver_health`. Meanwhile watches time out and restart, as they do in less than five minutes.
#[tokio::test]
async fn exhaustive_b141_u35_u37_u41_d77_five_minutes_at_rest_cost_nothing_and_neither_does_a_restart()
 {
    const PORTS: i32 = 5;
    if lbcf_e2e::needs_embedded("a paused clock") {
        return;
    }
    // A thousand backends in the exhaustive run.
    let pods = if is_exhaustive() { 200 } else { 40 };
    let backends = pods * 5;
    let world = World::new().await;
    let controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create_pods(pods).await;
    // A Bind on the endpoints of a service, which are the same pods.
    world.create(&manifests::service(SERVICE, 30080)).await;
    let bind = manifests::service_bind(BIND, SERVICE, ServiceMode::Endpoints, &["left"]);
    world.create(&bind).await;
    until("every endpoint is registered", async || {
        let bind = world.get::<Bind>(BIND).await;
        let status = bind.status?;
        let is_ready = status.conditions.is_true(condition_types::READY);
        (is_ready && usize::try_from(status.registered_backends) == Ok(pods)).then_some(())
    })
    .await;
    let mut group = manifests::group(GROUP, &[LB]);
    let ports = (0..PORTS).map(|port| PortSelector::new(80 + port, Protocol::Tcp));
    group.spec.pods.as_mut().unwrap().ports = ports.collect();
    world.create(&group).await;
    until("every backend is registered", async || {
        let group = world.get::<BackendGroup>(GROUP).await;
        (usize::try_from(group.status?.registered_records) == Ok(backends)).then_some(())
    })
    .await;
    world
        .until_event("BackendGroup", "SuccSyncedBackendGroup")
        .await;
    let before = world.cost();
    tokio::time::pause();
    advance(Duration::from_secs(300)).await;
    controller.abort();
    let _controller = world.start_controller();
    advance(Duration::from_secs(300)).await;
    let at_rest = world.cost_since(&before);
    let is_watch = |key: &RequestKey| key.user_agent == CONTROLLER && key.verb == "watch";
    let watches = at_rest.requests.count(is_watch);
    assert!(watches > 8, "watches were restarted: {at_rest:?}");
    let is_write = |key: &RequestKey| key.user_agent == CONTROLLER && key.is_write();
    let writes = at_rest.requests.count(is_write);
    assert_eq!(writes, 0, "events included: {at_rest:?}");
    at_rest.assert_calls([]);
    let records: Vec<BackendRecord> = world.all().await;
    assert_eq!(records.len(), backends + pods);
}

/// Advances the clock second by second, and runs all tasks in between.
pub(crate) async fn advance(time: Duration) {
    let end = tokio::time::Instant::now() + time;
    while tokio::time::Instant::now() < end {
        tokio::time::advance(Duration::from_secs(1)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
}
