//! Drivers are asked whether they are healthy, and what failed during an outage is repeated when it ends.

use http::StatusCode;
use k8s_openapi::api::core::v1::Event;
use lbcf_controller::api::{
    BackendRecord, Condition, Conditions, LoadBalancerDriver, LoadBalancerDriverStatus,
};
use lbcf_controller::{Backoff, CallCounts, Controller, Health, Options};
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, SYSTEM};
use lbcf_e2e::{CONTROLLER, DriverProxy, ProxiedCall, ProxyAction, World, kill, until, until_is};
use serde_json::{Value, json};
use std::future::pending;
use std::time::Duration;

/// Longer than any deadline: what happens within a test is not due to a retry.
const NEVER: Duration = Duration::from_secs(24 * 3600);

/// Drivers are asked often, and failures are retried after the test.
fn options() -> Options {
    Options {
        backoff: Backoff {
            min: NEVER,
            step: NEVER,
            max: NEVER,
        },
        driver_health_period: Some(Duration::from_millis(20)),
        ..World::quick()
    }
}

fn start(world: &World, options: Options) -> Health {
    start_counting(world, options).0
}

fn start_counting(world: &World, options: Options) -> (Health, CallCounts) {
    let client = world.cluster.client_as(CONTROLLER);
    let controller = Controller::new(client, options);
    let (health, calls) = (controller.health(), controller.calls());
    tokio::spawn(controller.run(pending()));
    (health, calls)
}

/// What a proxy that reaches no driver responds.
fn down(_: &ProxiedCall) -> ProxyAction {
    ProxyAction::Reply(StatusCode::SERVICE_UNAVAILABLE, String::new())
}

fn healthz(body: Value) -> impl Fn(&ProxiedCall) -> ProxyAction + Send + Sync {
    move |call| match call.webhook.as_str() {
        "healthz" => ProxyAction::reply_json(&body),
        _ => ProxyAction::Forward,
    }
}

async fn healthy(world: &World) -> Option<Condition> {
    let driver = world.api::<LoadBalancerDriver>(SYSTEM).get(DRIVER).await;
    let status: LoadBalancerDriverStatus = driver.unwrap().status?;
    status.conditions.find("Healthy").cloned()
}

/// Waits until the driver's condition `Healthy` has this status and reason.
async fn until_healthy(world: &World, status: &str, reason: &str) {
    let expected = Some((status.to_owned(), reason.to_owned()));
    until_is("Healthy", expected, async || {
        let condition = healthy(world).await?;
        Some((format!("{:?}", condition.status), condition.reason))
    })
    .await;
}

/// Waits until the driver has been asked some more times.
async fn until_asked_again(proxy: &DriverProxy) {
    let before = proxy.calls_of("healthz").len();
    until("the driver is asked again", async || {
        (proxy.calls_of("healthz").len() >= before + 5).then_some(())
    })
    .await;
}

/// Waits until no record is queued or being reconciled, and so failed ones wait for their retry.
async fn until_waiting(health: &Health) {
    until("all requests wait", async || {
        let metrics = health.metrics().ok()?;
        let is_idle = |name: &str, kind: &str| {
            let idle = format!("{name}{{key_kind=\"{kind}\"}} 0");
            metrics.lines().any(|line| line == idle)
        };
        let kinds = ["BackendRecord", "BackendGroup", "Bind"];
        let is_idle = |kind: &&str| is_idle("pending_key", kind) && is_idle("working_key", kind);
        kinds.iter().all(is_idle).then_some(())
    })
    .await;
}

/// Waits until this many records failed, because the driver did not respond or with `Fail`.
async fn until_failed(world: &World, reason: &str, count: usize) {
    until_is("failed records", count, async || {
        let records: Vec<BackendRecord> = world.all().await;
        let has_failed = |record: &&BackendRecord| {
            let status = record.status.as_ref();
            let registered = status.and_then(|status| status.conditions.find("Registered"));
            registered.is_some_and(|condition| condition.reason == reason)
        };
        records.iter().filter(has_failed).count()
    })
    .await;
}

fn metric(health: &Health) -> Option<String> {
    let text = health.metrics().unwrap();
    let mut lines = text.lines();
    let line = lines.find(|line| line.starts_with("lbcf_driver_healthy{"))?;
    Some(line.to_owned())
}

async fn events(world: &World) -> Vec<(String, String)> {
    let events: Vec<Event> = world.all().await;
    let of_driver = events
        .into_iter()
        .filter(|event| event.involved_object.kind.as_deref() == Some("LoadBalancerDriver"));
    let of_driver = of_driver.map(|event| {
        let reason = event.reason.unwrap_or_default();
        (event.type_.unwrap_or_default(), reason)
    });
    of_driver.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d50_a_drivers_health_is_a_condition_a_metric_and_an_event_and_at_rest_no_write() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let (health, calls) = start_counting(&world, options());
    world.create_driver().await;
    until_healthy(&world, "True", "").await;
    let labels = format!("driver_name=\"{SYSTEM}/{DRIVER}\"");
    let metric_is = |value: &str| format!("lbcf_driver_healthy{{{labels}}} {value}");
    assert_eq!(metric(&health), Some(metric_is("1")));
    assert_eq!(events(&world).await, []);

    proxy.rule(healthz(json!({"healthy": false})));
    until_healthy(&world, "False", "Unhealthy").await;
    assert_eq!(metric(&health), Some(metric_is("0")));
    proxy.rule(down);
    until_healthy(&world, "False", "WebhookError").await;
    let message = healthy(&world).await.unwrap().message;
    assert!(message.contains("HTTP status 503"), "{message}");
    let event = |type_: &str, reason: &str| (type_.to_owned(), reason.to_owned());
    let failed = event("Warning", "DriverUnhealthy");
    until_is("events", vec![failed.clone()], async || {
        events(&world).await
    })
    .await;

    // d24: a driver that does not serve it is neither healthy nor unhealthy.
    proxy.rule(|call| match call.webhook.as_str() {
        "healthz" => ProxyAction::Reply(StatusCode::NOT_FOUND, "no such page".to_owned()),
        _ => ProxyAction::Forward,
    });
    until_healthy(&world, "Unknown", "HealthzNotServed").await;
    assert_eq!(metric(&health), None);
    let recovered = event("Normal", "DriverRecovered");
    until_is("events", vec![failed, recovered], async || {
        let mut events = events(&world).await;
        events.sort_by_key(|(type_, _)| std::cmp::Reverse(type_.clone()));
        events
    })
    .await;
    let before = world.cost();
    until_asked_again(&proxy).await;
    proxy.forward_all();
    until_healthy(&world, "True", "").await;
    until_asked_again(&proxy).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.all_writes(), 1, "{cost:?}");
    // No object caused the calls.
    assert_eq!(calls.snapshot().get("healthz"), None);

    // A driver that is gone is not asked any more.
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world
        .until_deleted::<LoadBalancerDriver>(SYSTEM, DRIVER)
        .await;
    until_is("the metric", None, async || metric(&health)).await;
    until("a probe in flight is done", async || {
        let text = health.metrics().ok()?;
        let idle = "working_key{key_kind=\"LoadBalancerDriver\"} 0";
        text.lines().any(|line| line == idle).then_some(())
    })
    .await;
    assert_eq!(metric(&health), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d50_b141_at_rest_healthz_is_the_only_call_and_nothing_is_written() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _health = start(&world, options());
    world.settle_basics(3).await;
    until_healthy(&world, "True", "").await;
    world
        .until_event("BackendGroup", "SuccSyncedBackendGroup")
        .await;
    let (before, calls) = (world.cost(), proxy.count());
    for _ in 0..5 {
        until_asked_again(&proxy).await;
    }
    let cost = world.cost_since(&before);
    assert_eq!(cost.all_writes(), 0, "{cost:?}");
    let calls = proxy.calls().split_off(calls);
    assert!(calls.iter().all(|call| call.webhook == "healthz"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d51_what_failed_in_an_outage_is_repeated_as_soon_as_the_driver_is_back() {
    const MORE: usize = 20;
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let health = start(&world, options());
    world.settle_basics(1).await;

    proxy.rule(down);
    until_healthy(&world, "False", "WebhookError").await;
    let names: Vec<String> = (1..=MORE).map(|number| format!("web-{number}")).collect();
    for name in &names {
        world.create(&manifests::pod(name)).await;
    }
    world.create(&manifests::bind(BIND, &["left"])).await;
    until_failed(&world, "WebhookError", MORE).await;
    // The Bind's status says when it would be tried again.
    world
        .until_entry(BIND, "left", "Created", ("False", "WebhookError"))
        .await;
    until_waiting(&health).await;

    proxy.forward_all();
    until_healthy(&world, "True", "").await;
    // The Bind selects all pods of the group as well.
    until_is("targets", 2 * (1 + MORE), async || world.targets_count()).await;
    world.until_counts(GROUP, [21; 4]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d51_a_driver_without_healthz_is_back_when_it_responds() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let health = start(&world, options());
    let without_healthz = |call: &ProxiedCall| match call.webhook.as_str() {
        "healthz" => ProxyAction::Reply(StatusCode::METHOD_NOT_ALLOWED, String::new()),
        _ => ProxyAction::Forward,
    };
    proxy.rule(without_healthz);
    world.register_basics(1).await;
    until_healthy(&world, "Unknown", "HealthzNotServed").await;
    proxy.rule(down);
    until_healthy(&world, "False", "WebhookError").await;
    world.create(&manifests::pod("web-1")).await;
    until_failed(&world, "WebhookError", 1).await;
    until_waiting(&health).await;
    proxy.rule(without_healthz);
    world.until_pods(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d51_d22_a_delay_that_a_driver_named_is_kept_when_it_is_back() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let health = start(&world, options());
    world.apply_basics(0).await;
    let later = json!({
        "status": "Fail", "msg": "not now", "minRetryDelayInSeconds": NEVER.as_secs(),
    });
    proxy.rule(move |call| match call.webhook.as_str() {
        "generateBackendAddr" => ProxyAction::reply_json(&later),
        _ => ProxyAction::Forward,
    });
    world.create(&manifests::pod("web-0")).await;
    until_failed(&world, "OperationFailed", 1).await;
    proxy.rule(down);
    until_healthy(&world, "False", "WebhookError").await;
    world.create(&manifests::pod("web-1")).await;
    until_failed(&world, "WebhookError", 1).await;
    until_waiting(&health).await;
    proxy.forward_all();
    world.until_targets(&["web-1"], "50").await;
    until_asked_again(&proxy).await;
    until_failed(&world, "OperationFailed", 1).await;
    let calls = proxy.calls_of("generateBackendAddr");
    let of_first =
        |call: &&ProxiedCall| call.body["podBackend"]["pod"]["metadata"]["name"] == "web-0";
    assert_eq!(calls.iter().filter(of_first).count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d50_without_a_period_no_driver_is_asked_and_an_old_condition_goes() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    proxy.rule(down);
    let first = world.start(options());
    world.create_driver().await;
    until_healthy(&world, "False", "WebhookError").await;
    kill(first).await;
    proxy.forward_all();
    // The driver may still get a call of the first one.
    let next = start(&world, World::options());
    until("the condition is removed", async || {
        healthy(&world).await.is_none().then_some(())
    })
    .await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    // A call counts when its response is there, which is later than its target.
    world.until_records(1).await;
    let metrics = next.metrics().unwrap();
    assert!(metrics.contains("ensureBackend"), "{metrics}");
    assert!(!metrics.contains("healthz"), "{metrics}");
}
