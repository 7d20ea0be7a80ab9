//! The audit: backends in the cloud that no BackendRecord accounts for.

mod diff;
mod pages;

use k8s_openapi::api::core::v1::{Event, Pod};
use lbcf_controller::api::{
    BackendRecord, Bind, Condition, ConditionStatus, Conditions, LoadBalancer, LoadBalancerDriver,
    WebhookConfig,
};
use lbcf_controller::{Controller, Health, Options};
use lbcf_driver_client::DriverClient;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, NAMESPACE, OWN_DRIVER};
use lbcf_e2e::{DriverProxy, Latch, ProxyAction, World, until, until_is};
use mock_driver::{Endpoint, Target};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinHandle;

const LIST: &str = "listBackends";
const BY_HAND: &str = "203.0.113.7:80";
/// It has the recordID of another cluster.
const FOREIGN: &str = "203.0.113.8:80";

/// A world with a driver that lists backends, behind a proxy.
async fn setup() -> (World, DriverProxy) {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    create_driver(&world, DRIVER, manifests::SYSTEM).await;
    (world, proxy)
}

async fn create_driver(world: &World, name: &str, namespace: &str) {
    let mut driver = manifests::driver(&world.driver_url());
    driver.metadata.name = Some(name.to_owned());
    driver.metadata.namespace = Some(namespace.to_owned());
    driver.spec.webhooks.push(WebhookConfig {
        name: LIST.to_owned(),
        timeout: None,
    });
    world.create(&driver).await;
}

/// Starts a controller that audits often.
fn start(world: &World) -> (JoinHandle<()>, Health) {
    start_with(world, World::quick())
}

fn start_with(world: &World, options: Options) -> (JoinHandle<()>, Health) {
    let options = Options {
        audit_period: Duration::from_millis(50),
        ..options
    };
    let controller = Controller::new(world.client_as("lbcf-controller"), options);
    let health = controller.health();
    let task = tokio::spawn(async move {
        let ended = controller.run(std::future::pending()).await;
        ended.expect("the controller runs until it is killed");
    });
    (task, health)
}

/// Waits until this many more audits are done: a listing begins when the one before was evaluated.
async fn audits(proxy: &DriverProxy, count: usize) {
    let begun = proxy.calls_of(LIST).len();
    until("audits are done", async || {
        (proxy.calls_of(LIST).len() > begun + count).then_some(())
    })
    .await;
}

/// The condition Drift of the load balancer.
async fn drift(world: &World) -> Option<Condition> {
    let lb = world.get::<LoadBalancer>(LB).await;
    lb.status?.conditions.find("Drift").cloned()
}

async fn until_drift(world: &World, expected: &str) {
    until_is("Drift", Some(expected.to_owned()), async || {
        let drift = drift(world).await?;
        (drift.status == ConditionStatus::True).then_some(drift.message)
    })
    .await;
}

async fn events(world: &World, reason: &str) -> Vec<(String, Option<i32>)> {
    let events: Vec<Event> = world.all().await;
    let events = events.into_iter();
    let events = events.filter(|event| event.reason.as_deref() == Some(reason));
    let message_and_count = |event: Event| (event.message.unwrap_or_default(), event.count);
    events.map(message_and_count).collect()
}

/// Binds a target to the only load balancer of the cloud that LBCF uses.
fn bind(world: &World, address: &str, record_id: Option<&str>) {
    let target = Target {
        weight: 100,
        parameters: StringMap::new(),
        record_id: record_id.map(str::to_owned),
    };
    let bound = world.cloud.bind(&endpoint(world), address, target);
    bound.expect("the load balancer exists");
}

fn endpoint(world: &World) -> Endpoint {
    let observed = world.cloud.observe().load_balancers;
    let [lb] = &*observed else {
        panic!("{observed:?}")
    };
    Endpoint {
        load_balancer: lb.lb_info["lbID"].clone(),
        listener: lb.lb_info["lblID"].clone(),
        domain: None,
        url: None,
    }
}

/// The driver, the load balancer, one pod and the group; the pod is registered.
async fn register_a_pod(world: &World) {
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(1).await;
}

async fn until_no_records(world: &World) {
    until("all records are gone", async || {
        let records: Vec<BackendRecord> = world.all().await;
        records.is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_a_backend_that_a_late_call_registered_is_removed() {
    let (world, proxy) = setup().await;
    let (controller, _) = start(&world);
    register_a_pod(&world).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    until_no_records(&world).await;
    world.until_bound(&[]).await;

    // The call of an earlier leader that arrives after its successor deregistered the backend.
    let late = proxy.calls_of("ensureBackend").remove(0);
    let driver = DriverClient::new(&world.driver_url()).unwrap();
    let response = driver
        .raw_call("ensureBackend", late.body.to_string())
        .await;
    assert_eq!(response.unwrap().status, 200);
    let removed = world
        .until_event("LoadBalancer", "RemovedOrphanedBackends")
        .await;
    assert!(removed.starts_with("removed 1 backend: "), "{removed}");
    world.until_bound(&[]).await;
    until_is("Drift", Some(ConditionStatus::False), async || {
        Some(drift(&world).await?.status)
    })
    .await;
    let deregistered = proxy.calls_of("deregisterBackend");
    let record_ids: Vec<_> = deregistered.iter().map(|call| call.record_id()).collect();
    // The record's own deregistration, and that of what was left.
    assert_eq!(record_ids.len(), 2, "{record_ids:?}");
    assert_eq!(record_ids[0], record_ids[1]);
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_a_backend_that_a_user_bound_by_hand_is_reported_once_and_stays() {
    let (world, proxy) = setup().await;
    let (controller, health) = start(&world);
    register_a_pod(&world).await;
    let registered = world.bound();
    audits(&proxy, 2).await;
    assert_eq!(drift(&world).await, None);

    bind(&world, BY_HAND, None);
    let message = format!("no BackendRecord accounts for 1 registered backend: {BY_HAND}");
    until_drift(&world, &message).await;
    world.until_event("LoadBalancer", "OrphanedBackends").await;
    audits(&proxy, 3).await;
    assert_eq!(world.bound(), [registered[0].clone(), BY_HAND.to_owned()]);
    assert_eq!(
        events(&world, "OrphanedBackends").await,
        [(message, Some(1))]
    );
    let metrics = health.metrics().unwrap();
    let metric = r#"lbcf_orphaned_backends{driver_name="kube-system/lbcf-clb"} 1"#;
    assert!(metrics.contains(metric), "{metrics}");

    world.cloud.unbind(&endpoint(&world), BY_HAND).unwrap();
    let resolved = world.until_event("LoadBalancer", "DriftResolved").await;
    assert!(!resolved.is_empty());
    let drift = drift(&world).await.expect("it stays");
    assert_eq!(drift.status, ConditionStatus::False);
    assert_eq!(world.bound(), registered);
    assert_eq!(proxy.calls_of("deregisterBackend").len(), 0);
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_backends_of_unknown_records_are_removed_only_with_the_annotation() {
    let (world, proxy) = setup().await;
    let (controller, _) = start(&world);
    register_a_pod(&world).await;
    let registered = world.bound();
    bind(&world, BY_HAND, None);
    let unknown = "ensureBackend(08e36678-82c8-11e9-b9e7-525400854cbb)";
    bind(&world, FOREIGN, Some(unknown));
    let both = format!("{BY_HAND}, {FOREIGN}");
    let message = format!("no BackendRecord accounts for 2 registered backends: {both}");
    until_drift(&world, &message).await;
    audits(&proxy, 3).await;
    assert_eq!(world.bound().len(), 3);

    let annotation =
        json!({"metadata": {"annotations": {"lbcf.tkestack.io/remove-orphans": "true"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, annotation).await;
    let message = format!("no BackendRecord accounts for 1 registered backend: {BY_HAND}");
    until_drift(&world, &message).await;
    audits(&proxy, 3).await;
    assert_eq!(world.bound(), [registered[0].clone(), BY_HAND.to_owned()]);
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d52_a_driver_that_does_not_list_the_webhook_is_not_asked() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    world.create_driver().await;
    create_driver(&world, OWN_DRIVER, NAMESPACE).await;
    let (controller, _) = start(&world);
    register_a_pod(&world).await;
    let asked = {
        let mut lb = manifests::load_balancer("asked");
        lb.spec.lb_driver = OWN_DRIVER.to_owned();
        lb.spec.attributes = [("name", "asked")].into();
        world.create(&lb).await;
        until("it is created", async || world.cloud_load_balancer("asked")).await
    };
    until("it is audited", async || {
        (!proxy.calls_of(LIST).is_empty()).then_some(())
    })
    .await;
    audits(&proxy, 3).await;
    for call in proxy.calls_of(LIST) {
        assert_eq!(call.body["lbInfo"], json!(asked.lb_info), "{call:?}");
    }
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_what_is_being_registered_or_deregistered_is_not_reported() {
    let (world, proxy) = setup().await;
    let (controller, _) = start(&world);
    // The cloud has the backend, and the controller does not know that yet.
    let registered = Latch::default();
    let hold = registered.clone();
    proxy.rule(move |call| match &*call.webhook {
        "ensureBackend" => ProxyAction::ForwardThenHold(hold.clone()),
        _ => ProxyAction::Forward,
    });
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    until_is("it is in the cloud", 1, async || proxy.held_responses()).await;
    assert_eq!(world.targets_count(), 1);
    audits(&proxy, 3).await;
    registered.open();
    world.until_records(1).await;

    // The list is made before the backend is deregistered, and arrives when its record is gone.
    let listed = Latch::default();
    let hold = listed.clone();
    proxy.rule(move |call| match &*call.webhook {
        LIST => ProxyAction::ForwardThenHold(hold.clone()),
        _ => ProxyAction::Forward,
    });
    until_is("the list is made", 2, async || proxy.held_responses()).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    until_no_records(&world).await;
    listed.open();
    audits(&proxy, 3).await;
    assert_eq!(events(&world, "OrphanedBackends").await, []);
    assert_eq!(drift(&world).await, None);
    assert_eq!(proxy.calls_of("deregisterBackend").len(), 1);
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_a_load_balancer_of_a_bind_is_audited_too() {
    let (world, proxy) = setup().await;
    let (controller, _) = start(&world);
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.until_records(1).await;
    bind(&world, BY_HAND, None);
    world
        .until_entry(BIND, "left", "Drift", ("True", "OrphanedBackends"))
        .await;
    let message = world.until_event("Bind", "OrphanedBackends").await;
    let expected = format!("left: no BackendRecord accounts for 1 registered backend: {BY_HAND}");
    assert_eq!(message, expected);
    audits(&proxy, 2).await;
    world.cloud.unbind(&endpoint(&world), BY_HAND).unwrap();
    world
        .until_entry(BIND, "left", "Drift", ("False", "Resolved"))
        .await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_a_driver_that_cannot_list_is_asked_again_and_nothing_is_concluded() {
    let (world, proxy) = setup().await;
    let running = json!({"status": "Running", "msg": "reading"});
    let failing = json!({"status": "Fail", "msg": "no permission"});
    let (controller, _) = start(&world);
    register_a_pod(&world).await;
    bind(&world, BY_HAND, None);
    let message = format!("no BackendRecord accounts for 1 registered backend: {BY_HAND}");
    until_drift(&world, &message).await;

    let begun = proxy.calls_of(LIST).len();
    proxy.rule(move |call| match &*call.webhook {
        LIST if call.nth < begun + 4 => ProxyAction::reply_json(&running),
        LIST => ProxyAction::reply_json(&failing),
        _ => ProxyAction::Forward,
    });
    let failed = world
        .until_event("LoadBalancer", "FailedListBackends")
        .await;
    assert!(failed.contains("no permission"), "{failed}");
    let calls = proxy.calls_of(LIST);
    // One listing is repeated until it is done, and the next one is another.
    let is_one = |one: usize, other: usize| calls[one].record_id() == calls[other].record_id();
    assert!(is_one(begun + 1, begun + 2) && is_one(begun + 2, begun + 3));
    audits(&proxy, 2).await;
    let calls = proxy.calls_of(LIST);
    let last = &calls[calls.len() - 1];
    assert_ne!(last.record_id(), calls[begun + 1].record_id());
    until_drift(&world, &message).await;
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d53_a_load_balancer_that_is_not_audited_any_more_claims_nothing() {
    let (world, _proxy) = setup().await;
    let (controller, _) = start(&world);
    register_a_pod(&world).await;
    bind(&world, BY_HAND, None);
    let message = format!("no BackendRecord accounts for 1 registered backend: {BY_HAND}");
    let until_not_audited = async || {
        let expected = (ConditionStatus::Unknown, "NotAudited".to_owned());
        until_is("Drift", Some(expected), async || {
            let drift = drift(&world).await?;
            Some((drift.status, drift.reason))
        })
        .await;
    };
    let list = async |webhooks: serde_json::Value| {
        let spec = json!({"spec": {"webhooks": webhooks}});
        world
            .patch::<LoadBalancerDriver>(manifests::SYSTEM, DRIVER, spec)
            .await;
    };
    until_drift(&world, &message).await;
    // The driver does not offer it any more.
    list(json!([])).await;
    until_not_audited().await;
    list(json!([{"name": LIST}])).await;
    until_drift(&world, &message).await;
    // Audits are turned off.
    controller.abort();
    let options = Options {
        audit_period: Duration::ZERO,
        ..World::quick()
    };
    let controller = world.start(options);
    until_not_audited().await;
    controller.abort();
}
