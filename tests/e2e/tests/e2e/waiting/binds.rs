//! What Binds wait for.

use super::{impatient, respond, setup, until_condition, until_event, until_waits};
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{Bind, ServiceMode};
use lbcf_e2e::manifests::{self, BIND, NAMESPACE, SERVICE};
use lbcf_e2e::{World, until_is};
use serde_json::json;

async fn until_bind(world: &World, reason: &str) -> String {
    until_waits::<Bind>(world, BIND, "Ready", "False", reason).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_bind_says_what_it_waits_for() {
    let (world, proxy, _controller) = setup(impatient()).await;
    respond(&proxy, "createLoadBalancer", "Fail");
    world.create(&manifests::bind(BIND, &["left"])).await;
    let waiting = ("False", "LoadBalancersNotReady");
    let expected = "left: made so by the test";
    until_is("the message", expected.to_owned(), async || {
        until_condition::<Bind>(&world, BIND, "Ready", waiting).await
    })
    .await;
    until_event(&world, "Bind", BIND, "FailedCreateLoadBalancer").await;
    proxy.forward_all();
    let message = until_bind(&world, "NoPodsSelected").await;
    assert!(message.contains("app=web"), "{message}");
    world.create(&manifests::pod("web-0")).await;
    until_condition::<Bind>(&world, BIND, "Ready", ("True", "AllRegistered")).await;
    world.set_ready("web-0", false).await;
    until_bind(&world, "PodsNotReady").await;
    world.set_ready("web-0", true).await;
    until_condition::<Bind>(&world, BIND, "Ready", ("True", "AllRegistered")).await;
    // Its deletion waits for its records.
    respond(&proxy, "deregisterBackend", "Fail");
    world.delete::<Bind>(NAMESPACE, BIND).await;
    let remaining = ("False", "RecordsRemaining");
    world.until_entry(BIND, "left", "Ready", remaining).await;
    let event = until_event(&world, "Bind", BIND, "RecordsRemaining").await;
    let message = event.message.unwrap_or_default();
    assert!(message.starts_with("left: "), "{message}");
    proxy.forward_all();
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_d77_a_bind_says_what_its_service_lacks() {
    if lbcf_e2e::needs_embedded("a Bind on all nodes") {
        return;
    }
    let (world, _proxy, _controller) = setup(impatient()).await;
    // It has no node ports, no endpoints and no selector.
    let service = manifests::service_without_selector(SERVICE);
    world.create(&service).await;
    let bind = manifests::service_bind(BIND, SERVICE, ServiceMode::NodePort, &["left"]);
    world.create(&bind).await;
    let service = format!("Service {NAMESPACE}/{SERVICE}");
    let message = until_bind(&world, "NoNodePort").await;
    assert!(
        message.starts_with(&format!("{service} has no node ports: its type must be")),
        "{message}"
    );
    let patch = async |spec: serde_json::Value| {
        let patch = json!({"spec": {"service": spec}});
        world.patch::<Bind>(NAMESPACE, BIND, patch).await;
    };
    patch(json!({"mode": "Endpoints"})).await;
    let message = until_bind(&world, "NoEndpoints").await;
    assert!(
        message.starts_with(&format!(
            "spec.service.name: {service} has neither a selector nor"
        )),
        "{message}"
    );
    patch(json!({"port": {"name": "https"}})).await;
    let message = until_bind(&world, "NoServicePort").await;
    assert_eq!(
        message,
        format!("spec.service.port: {service} has no port \"https\"; it has \"http\" (80/TCP)")
    );
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    until_bind(&world, "ServiceNotFound").await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let selector =
        json!({"mode": "NodePort", "port": {"name": "http"}, "nodeSelector": {"pool": "db"}});
    patch(selector).await;
    let message = until_bind(&world, "NoNodesSelected").await;
    assert!(message.contains("with the labels pool=db"), "{message}");
    assert_eq!(world.targets_count(), 0);
    patch(json!({"nodeSelector": null})).await;
    until_condition::<Bind>(&world, BIND, "Ready", ("True", "AllRegistered")).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
}
