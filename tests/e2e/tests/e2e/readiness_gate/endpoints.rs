//! The readiness gate of pods that are endpoints of a service.

use super::{set_containers, status, until_gate, until_ready};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::ListParams;
use lbcf_controller::api::{BackendGroup, Bind, ServiceMode};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{DriverProxy, Latch, ProxyAction, World, until, until_is};
use serde_json::json;
use tokio::task::JoinHandle;

/// A world with a group on the endpoints of the service of the test's pods.
async fn setup() -> (World, DriverProxy, JoinHandle<()>) {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let controller = world.start(World::quick());
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let group = manifests::endpoint_group(GROUP, SERVICE, &[LB]);
    world.create(&group).await;
    world.until_counts(GROUP, [0; 4]).await;
    (world, proxy, controller)
}

/// What the slices of the service say about a pod's readiness.
async fn is_ready_in_slices(world: &World, pod: &str) -> Option<bool> {
    let of_service = ListParams::default().labels("kubernetes.io/service-name=web-service");
    let slices = world.api::<EndpointSlice>(NAMESPACE);
    let slices = slices.list(&of_service).await.expect("slices can be read");
    let slices = slices.items.into_iter();
    let mut endpoints = slices.flat_map(|slice| slice.endpoints.unwrap_or_default());
    let endpoint = endpoints.find(|endpoint| {
        let target = endpoint.target_ref.as_ref();
        target.and_then(|target| target.name.as_deref()) == Some(pod)
    })?;
    endpoint.conditions?.ready
}

async fn until_ready_in_slices(world: &World, pod: &str, expected: bool) {
    until_is("the slice has the pod", Some(expected), async || {
        is_ready_in_slices(world, pod).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_a_pod_is_registered_though_its_slice_waits_for_the_gate_and_the_gate_for_that() {
    let (world, proxy, controller) = setup().await;
    let latch = Latch::default();
    let held = latch.clone();
    proxy.rule(move |call| match call.webhook.as_str() {
        "ensureBackend" => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_gate(&world, "web-0", "False", "NotRegistered").await;
    until("the driver is called", async || {
        (proxy.calls_of("ensureBackend").len() == 1).then_some(())
    })
    .await;
    assert_eq!(status(&world, "web-0", "Ready").await, "False");
    until_ready_in_slices(&world, "web-0", false).await;
    // The driver learns that the pod serves, which the slice does not say.
    let generate = proxy.calls_of("generateBackendAddr").remove(0);
    assert_eq!(generate.body["endpointBackend"]["serving"], true);
    assert_eq!(
        generate.body["podBackend"]["pod"]["metadata"]["name"],
        "web-0"
    );
    // The process ends while the call runs; the next one repeats it.
    controller.abort();
    let _controller = world.start(World::quick());
    latch.open();
    until_gate(&world, "web-0", "True", "Registered").await;
    until_ready(&world, "web-0", "True").await;
    until_ready_in_slices(&world, "web-0", true).await;
    world.until_counts(GROUP, [1; 4]).await;
    assert_eq!(world.targets_count(), 1);
    world.until_settled().await;
    assert_eq!(proxy.calls_of("generateBackendAddr").len(), 1);
    // One more where a kubelet writes the pod at the same time.
    assert!(world.cost().writes("pods") <= 3);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_an_endpoint_whose_containers_recover_waits_for_its_registration_again() {
    if lbcf_e2e::needs_embedded("containers become unready by an annotation") {
        return;
    }
    let (world, _proxy, _controller) = setup().await;
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_ready(&world, "web-0", "True").await;
    world.until_pods(1).await;
    set_containers(&world, "web-0", false).await;
    world.until_targets(&[], "50").await;
    until_gate(&world, "web-0", "False", "NotRegistered").await;
    set_containers(&world, "web-0", true).await;
    until_ready(&world, "web-0", "True").await;
    world.until_pods(1).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_pods_without_the_gate_follow_the_slices_and_are_not_written() {
    let (world, proxy, _controller) = setup().await;
    world.create(&manifests::pod("web-0")).await;
    world.until_pods(1).await;
    world.set_ready("web-0", false).await;
    world.until_targets(&[], "50").await;
    world.set_ready("web-0", true).await;
    world.until_pods(1).await;
    world.until_counts(GROUP, [1; 4]).await;
    assert_eq!(world.cost().writes("pods"), 0);
    assert_eq!(proxy.calls_of("ensureBackend").len(), 2);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_a_pod_does_not_wait_for_a_service_that_registers_nothing_until_a_user_acts() {
    let (world, _proxy, _controller) = setup().await;
    // A port that the service does not have, then a service that does not exist.
    let no_port = json!({"spec": {"service": {"port": {"name": "none"}}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, no_port).await;
    world.until_settled().await;
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_gate(&world, "web-0", "True", "NotSelected").await;
    until_ready(&world, "web-0", "True").await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world
        .create(&manifests::gated(manifests::pod("web-1")))
        .await;
    until_gate(&world, "web-1", "True", "NotSelected").await;
    world.delete::<Pod>(NAMESPACE, "web-1").await;
    assert_eq!(world.targets_count(), 0);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_d77_the_gate_of_an_endpoint_of_a_bind_waits_for_each_load_balancer() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let _controller = world.start(World::quick());
    world.create_driver().await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let bind = manifests::service_bind(BIND, SERVICE, ServiceMode::Endpoints, &["left", "right"]);
    world.create(&bind).await;
    let latch = Latch::default();
    let held = latch.clone();
    proxy.rule(move |call| match call.webhook.as_str() {
        "ensureBackend" => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    until_gate(&world, "web-0", "False", "NotRegistered").await;
    until("the driver is called for both", async || {
        (proxy.calls_of("ensureBackend").len() == 2).then_some(())
    })
    .await;
    until_ready_in_slices(&world, "web-0", false).await;
    latch.open();
    until_gate(&world, "web-0", "True", "Registered").await;
    until_ready_in_slices(&world, "web-0", true).await;
    world.until_records(2).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
}
