//! What is named in a condition and an event, and registers nothing.

use super::{create_slice, set_endpoints, setup, setup_by_hand};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{World, until};
use serde_json::json;

/// Waits until the group's condition `Ready` has this reason and message, and for an event with both.
async fn until_waits(world: &World, reason: &str, message: &str) {
    until(&format!("{reason}: {message}"), async || {
        let group = world
            .api::<BackendGroup>(NAMESPACE)
            .get(GROUP)
            .await
            .unwrap();
        let conditions = group.status?.conditions.into_iter();
        let is_ready = conditions.into_iter().find(|it| it.type_ == "Ready")?;
        (is_ready.reason == reason && is_ready.message.starts_with(message)).then_some(())
    })
    .await;
    until(&format!("an event {reason}: {message}"), async || {
        let events: Vec<k8s_openapi::api::core::v1::Event> = world.all().await;
        let mut events = events
            .iter()
            .filter(|it| it.reason.as_deref() == Some(reason));
        let is_it = |text: &str| text.starts_with(message);
        events
            .any(|it| it.message.as_deref().is_some_and(is_it))
            .then_some(())
    })
    .await;
    assert_eq!(world.targets_count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d63_a_service_that_is_absent_has_another_type_or_not_the_port() {
    let (world, _proxy, _controller) = setup(World::quick()).await;
    let group = manifests::endpoint_group(GROUP, SERVICE, &[LB]);
    world.create(&group).await;
    let service = format!("Service {NAMESPACE}/{SERVICE}");
    until_waits(
        &world,
        "ServiceNotFound",
        &format!("spec.service.name: {service} not found"),
    )
    .await;
    create_slice(&world, "a", &["10.9.0.1".to_owned()]).await;
    let service_of = |spec: serde_json::Value| -> Service {
        let metadata = json!({"name": SERVICE, "namespace": NAMESPACE});
        serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap()
    };
    let external = json!({"type": "ExternalName", "externalName": "db.example.com"});
    world.create(&service_of(external)).await;
    let says = format!("spec.service.name: {service} has the type ExternalName");
    until_waits(&world, "NoEndpoints", &says).await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world
        .create(&service_of(json!({"ports": [{"name": "web", "port": 80}]})))
        .await;
    let says =
        format!("spec.service.port: {service} has no port \"http\"; it has \"web\" (80/TCP)");
    until_waits(&world, "NoServicePort", &says).await;
    // The node port is selected by name as well.
    let mode = json!({"spec": {"service": {"mode": "NodePort"}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, mode).await;
    until_waits(
        &world,
        "NoNodePort",
        &format!("{service} has no node ports"),
    )
    .await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e14_e16_slices_whose_ports_are_empty_or_have_no_number() {
    let (world, _proxy, _controller) = setup_by_hand(World::quick()).await;
    let service = format!("Service {NAMESPACE}/{SERVICE}");
    let says = format!("spec.service.name: {service} has neither a selector nor an EndpointSlice");
    until_waits(&world, "NoEndpoints", &says).await;
    create_slice(&world, "a", &["10.9.0.1".to_owned()]).await;
    world.until_counts(GROUP, [1; 4]).await;
    let ports = async |ports: serde_json::Value| {
        let ports = json!({ "ports": ports });
        world.patch::<EndpointSlice>(NAMESPACE, "a", ports).await;
    };
    ports(json!([])).await;
    world.until_bound(&[]).await;
    let slice = format!("EndpointSlice {NAMESPACE}/a: ports: ");
    until_waits(&world, "NoServicePort", &format!("{slice}empty")).await;
    // The targetPort of the service is 8080.
    ports(json!([{"name": "http"}])).await;
    world.until_bound(&["10.9.0.1:8080"]).await;
    world.until_counts(GROUP, [1; 4]).await;
    let named = json!({"spec": {"ports": [
        {"name": "http", "port": 80, "protocol": "TCP", "targetPort": "web"},
    ]}});
    world.patch::<Service>(NAMESPACE, SERVICE, named).await;
    world.until_bound(&[]).await;
    until_waits(
        &world,
        "NoServicePort",
        &format!("{slice}\"http\" has no number"),
    )
    .await;
    set_endpoints(&world, "a", json!([])).await;
    until_waits(
        &world,
        "NoEndpoints",
        &format!("{service} has no endpoints"),
    )
    .await;
    world.delete_basics().await;
}
