//! Make before break: backends that are no longer wanted stay registered until those that replace them are.

use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind, NamespacedKind, StringMap};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{DriverProxy, Latch, ProxyAction, World, kill, until, until_is};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinHandle;

const ENSURE: &str = "ensureBackend";
const DEREGISTER: &str = "deregisterBackend";
const BLUE: [&str; 2] = ["web-0", "web-1"];
const GREEN: [&str; 2] = ["green-0", "green-1"];

/// A world whose blue pods will be registered, with green ones beside them.
async fn setup(options: Options) -> (World, DriverProxy, JoinHandle<()>) {
    let (world, proxy, controller) = World::behind_proxy(options).await;
    world.create_pods(BLUE.len()).await;
    for name in GREEN {
        let mut pod = manifests::pod(name);
        pod.metadata
            .labels
            .get_or_insert_default()
            .insert("app".into(), "green".into());
        world.create(&pod).await;
    }
    (world, proxy, controller)
}

/// The same with a group that has registered the blue ones.
async fn setup_group(options: Options) -> (World, DriverProxy, JoinHandle<()>) {
    let (world, proxy, controller) = setup(options).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_targets(&BLUE, "50").await;
    world.until_registered(BLUE.len()).await;
    (world, proxy, controller)
}

/// Holds every call of a webhook from now on.
fn hold(proxy: &DriverProxy, webhook: &'static str) -> Latch {
    let latch = Latch::default();
    let opens = latch.clone();
    proxy.rule(move |call| match call.webhook == webhook {
        true => ProxyAction::Hold(opens.clone()),
        false => ProxyAction::Forward,
    });
    latch
}

/// Waits until a webhook has been called so often.
async fn until_requested(proxy: &DriverProxy, webhook: &str, calls: usize) {
    until(&format!("{calls} calls of {webhook}"), async || {
        (proxy.calls_of(webhook).len() >= calls).then_some(())
    })
    .await;
}

/// A replacement that has begun: the green pods are being registered until the latch opens.
async fn begun() -> (World, DriverProxy, JoinHandle<()>, Latch) {
    let (world, proxy, controller) = setup_group(World::quick()).await;
    let latch = hold(&proxy, ENSURE);
    let registered = proxy.calls_of(ENSURE).len();
    select::<BackendGroup>(&world, GROUP, "green").await;
    until_requested(&proxy, ENSURE, registered + GREEN.len()).await;
    until_replacing::<BackendGroup>(&world, GROUP, "True").await;
    (world, proxy, controller, latch)
}

async fn select<K: NamespacedKind>(world: &World, name: &str, app: &str) {
    let selector = json!({"app": app});
    let spec = match &*K::kind(&()) {
        "Service" => json!({ "selector": selector }),
        _ => json!({"pods": {"byLabel": {"selector": selector}}}),
    };
    world
        .patch::<K>(NAMESPACE, name, json!({ "spec": spec }))
        .await;
}

/// The names of the pods whose records are being deleted.
async fn leaving(world: &World) -> Vec<String> {
    let records = world.all::<BackendRecord>().await.into_iter();
    let leaving = records.filter(|it| it.metadata.deletion_timestamp.is_some());
    let mut pods: Vec<String> = leaving
        .map(|it| it.spec.pod_backend.unwrap().name)
        .collect();
    pods.sort();
    pods
}

/// The status of an object's condition Replacing, and when it began.
async fn replacing<K: NamespacedKind>(world: &World, name: &str) -> Option<(String, String)> {
    let object = serde_json::to_value(world.get::<K>(name).await).unwrap();
    let conditions = object["status"]["conditions"].as_array()?.iter();
    let mut conditions = conditions.filter(|it| it["type"] == "Replacing");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let condition = conditions.next()?;
    Some((
        text(&condition["status"]),
        text(&condition["lastTransitionTime"]),
    ))
}

async fn until_replacing<K: NamespacedKind>(world: &World, name: &str, status: &str) {
    until(&format!("Replacing is {status}"), async || {
        let (found, _) = replacing::<K>(world, name).await?;
        (found == status).then_some(())
    })
    .await;
}

/// The selector moves from the blue pods to the green ones, whose registration takes time.
async fn moves<K: NamespacedKind, S: NamespacedKind>(
    world: &World,
    proxy: &DriverProxy,
    owner: &str,
    selects: &str,
) {
    world.until_targets(&BLUE, "50").await;
    world.until_registered(BLUE.len()).await;
    let registered = proxy.calls_of(ENSURE).len();
    let latch = hold(proxy, ENSURE);
    select::<S>(world, selects, "green").await;
    until_requested(proxy, ENSURE, registered + GREEN.len()).await;
    until_replacing::<K>(world, owner, "True").await;
    assert_eq!(leaving(world).await, Vec::<String>::new(), "{owner}");
    assert_eq!(proxy.calls_of(DEREGISTER).len(), 0, "{owner}");
    latch.open();
    world.until_targets(&GREEN, "50").await;
    until_replacing::<K>(world, owner, "False").await;
    assert_eq!(proxy.calls_of(DEREGISTER).len(), BLUE.len(), "{owner}");
    assert_eq!(proxy.calls_of(ENSURE).len(), registered + GREEN.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_groups_selector_moves_and_the_old_pods_leave_last() {
    let (world, proxy, _controller) = setup_group(World::quick()).await;
    moves::<BackendGroup, BackendGroup>(&world, &proxy, GROUP, GROUP).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_binds_selector_moves_and_the_old_pods_leave_last() {
    let (world, proxy, _controller) = setup(World::quick()).await;
    world.create(&manifests::bind(BIND, &["lb"])).await;
    moves::<Bind, Bind>(&world, &proxy, BIND, BIND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_services_selector_moves_and_the_old_pods_leave_last() {
    let options = Options {
        endpoint_grace_period: Duration::from_millis(100),
        ..World::quick()
    };
    let (world, proxy, _controller) = setup(options).await;
    world.create(&manifests::service(SERVICE, 30_080)).await;
    world
        .create(&manifests::endpoint_group(GROUP, SERVICE, &[LB]))
        .await;
    moves::<BackendGroup, Service>(&world, &proxy, GROUP, SERVICE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_the_next_controller_goes_on_with_a_replacement() {
    let (world, proxy, controller, latch) = begun().await;
    let began = replacing::<BackendGroup>(&world, GROUP).await;
    kill(controller).await;
    let registered = proxy.calls_of(ENSURE).len();
    let _controller = world.start(World::quick());
    until_requested(&proxy, ENSURE, registered + GREEN.len()).await;
    assert_eq!(replacing::<BackendGroup>(&world, GROUP).await, began);
    assert_eq!(proxy.calls_of(DEREGISTER).len(), 0);
    latch.open();
    world.until_targets(&GREEN, "50").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_replacement_that_the_cloud_refuses_is_waited_for_no_longer_than_the_bound() {
    let options = Options {
        replacement_timeout: Duration::from_millis(300),
        ..World::quick()
    };
    let (world, proxy, _controller) = setup_group(options).await;
    proxy.rule(|call| match call.webhook == ENSURE {
        true => ProxyAction::reply_json(&json!({"status": "Fail", "msg": "no such target"})),
        false => ProxyAction::Forward,
    });
    select::<BackendGroup>(&world, GROUP, "green").await;
    let message = world
        .until_event("BackendGroup", "ReplacementTimedOut")
        .await;
    assert!(message.starts_with("2 backends"), "{message}");
    world.until_targets(&[], "50").await;
    until_replacing::<BackendGroup>(&world, GROUP, "False").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_pod_that_cannot_serve_does_not_wait() {
    let (world, _proxy, _controller, latch) = begun().await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-1"], "50").await;
    world.set_ready("web-1", false).await;
    world.until_targets(&[], "50").await;
    latch.open();
    world.until_targets(&GREEN, "50").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_selector_that_moves_back_deregisters_nothing_that_served() {
    let (world, proxy, _controller, latch) = begun().await;
    select::<BackendGroup>(&world, GROUP, "web").await;
    until_is("leaving", GREEN.map(str::to_owned).to_vec(), async || {
        leaving(&world).await
    })
    .await;
    latch.open();
    world.until_records(BLUE.len()).await;
    world.until_targets(&BLUE, "50").await;
    assert_eq!(proxy.calls_of(DEREGISTER).len(), GREEN.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_group_moves_to_another_load_balancer() {
    let (world, proxy, _controller) = setup_group(World::quick()).await;
    let mut other = manifests::load_balancer("other-lb");
    other.spec.lb_spec = StringMap::from([
        ("lbVpcID", "vpc-12345678"),
        ("lbListenerPort", "81"),
        ("lbListenerProtocol", "TCP"),
    ]);
    world.create(&other).await;
    let latch = hold(&proxy, ENSURE);
    let moved = json!({"spec": {"loadBalancers": ["other-lb"]}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, moved).await;
    until_replacing::<BackendGroup>(&world, GROUP, "True").await;
    until_requested(&proxy, ENSURE, 2 * BLUE.len()).await;
    assert_eq!(leaving(&world).await, Vec::<String>::new());
    latch.open();
    until_replacing::<BackendGroup>(&world, GROUP, "False").await;
    world.until_records(BLUE.len()).await;
    world.until_targets(&BLUE, "50").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d91_an_address_changes_hands_without_being_deregistered() {
    let (world, proxy, _controller) = setup_group(World::quick()).await;
    let latch = hold(&proxy, "generateBackendAddr");
    world.create(&manifests::group("renamed", &[LB])).await;
    until_requested(&proxy, "generateBackendAddr", 2 * BLUE.len()).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    let old = BLUE.map(str::to_owned).to_vec();
    until_is("leaving", old, async || leaving(&world).await).await;
    latch.open();
    world.until_records(BLUE.len()).await;
    world.until_targets(&BLUE, "50").await;
    assert_eq!(proxy.calls_of(DEREGISTER).len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d92_a_pod_that_has_ended_is_deregistered_under_every_policy() {
    let (world, proxy, _controller) = setup_group(World::quick()).await;
    let webhook = json!({"driverName": manifests::DRIVER, "failurePolicy": "DoNothing"});
    let policy = json!({"deregisterPolicy": "Webhook", "deregisterWebhook": webhook});
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, json!({ "spec": policy }))
        .await;
    proxy.rule(|call| match call.webhook == "judgePodDeregister" {
        true => ProxyAction::Hang,
        false => ProxyAction::Forward,
    });
    // Its condition Ready stays True.
    world
        .patch_status::<Pod>(NAMESPACE, "web-0", json!({"phase": "Failed"}))
        .await;
    world.until_targets(&["web-1"], "50").await;
}
