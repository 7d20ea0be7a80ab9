//! Binds of a service: its node port, its endpoints, and the change between them and pods (d77, d78).

use super::{LEFT, RIGHT, bare_setup, delete_all, setup, setup_in, start, webhooks};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use lbcf_controller::api::{
    BackendRecord, Bind, ConditionStatus, Conditions, DeregisterPolicy, DeregisterWebhook,
    ServiceMode,
};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SERVICE};
use lbcf_e2e::{DriverProxy, World, until_is};
use mock_driver::KEEP_REGISTERED;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::task::JoinHandle;

/// The addresses of the cluster's initial nodes.
const NODES: [&str; 2] = ["192.168.100.11", "192.168.100.12"];

/// Like [`bare_setup`] without pods, with a controller that writes counts as soon as they change.
async fn quick_setup() -> (World, DriverProxy, JoinHandle<()>) {
    let (world, proxy, controller) = setup_in(World::bare().await, 0).await;
    controller.abort();
    let controller = world.start(World::quick());
    (world, proxy, controller)
}

async fn create_bind(world: &World, mode: ServiceMode, load_balancers: &[&str]) {
    let bind = manifests::service_bind(BIND, SERVICE, mode, load_balancers);
    world.create(&bind).await;
}

/// Waits until a load balancer has these addresses, all with this port.
async fn until_bound_to(world: &World, lb: &str, ips: &[&str], port: i32) {
    let expected: Vec<String> = ips.iter().map(|ip| format!("{ip}:{port}")).collect();
    until_is(&format!("addresses at {lb}"), expected, async || {
        world.bound_to(lb)
    })
    .await;
}

/// Waits until the Bind counts these backends and registered ones.
async fn until_counts(world: &World, expected: [i32; 2]) {
    until_is("counts of the Bind", expected, async || {
        let bind = world.get::<Bind>(BIND).await;
        let status = bind.status.unwrap_or_default();
        [status.backends, status.registered_backends]
    })
    .await;
}

/// Waits until the condition `Ready` of the Bind has this reason, and returns its message.
async fn until_ready(world: &World, reason: &str) -> String {
    let ready = async || {
        let bind = world.get::<Bind>(BIND).await;
        bind.status
            .unwrap_or_default()
            .conditions
            .find("Ready")
            .cloned()
    };
    let what = format!("the Bind is {reason}");
    until_is(&what, Some(reason.to_owned()), async || {
        ready().await.map(|ready| ready.reason)
    })
    .await;
    ready().await.map(|ready| ready.message).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d77_a_node_port_is_registered_at_each_load_balancer_at_its_cost() {
    let (world, proxy, controller) = bare_setup(0).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let before = world.cost();
    create_bind(&world, ServiceMode::NodePort, &[LEFT, RIGHT]).await;
    world.until_records(4).await;
    for lb in [LEFT, RIGHT] {
        until_bound_to(&world, lb, &NODES, 30080).await;
    }
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 4);
    // As for pods: the finalizer, and two for each load balancer.
    assert_eq!(cost.writes("binds"), 1 + 2 * 2);
    let each = [("generateBackendAddr", 4), ("ensureBackend", 4)];
    cost.assert_calls([("createLoadBalancer", 2), each[0], each[1]]);
    let calls = proxy.calls_of("generateBackendAddr");
    for call in calls {
        let backend = &call.body["serviceBackend"];
        assert_eq!(backend["service"]["metadata"]["name"], SERVICE);
        assert_eq!(backend["port"]["port"], 80);
        assert!(backend["nodeAddresses"].is_array(), "{backend}");
        assert!(call.body.get("podBackend").is_none_or(Value::is_null));
    }

    // A process that starts finds everything done; another node costs what it costs.
    controller.abort();
    let before = world.cost();
    let _controller = start(&world);
    world.create_node("more", "192.168.101.1").await;
    world.until_records(6).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 2);
    // The counts, which the first process would have written later.
    assert!(cost.writes("binds") <= 1);
    assert_eq!(cost.calls.total(), 2 * 2);
    let before = world.cost();
    world.delete_node("more").await;
    world.until_records(4).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 2);
    cost.assert_calls([("deregisterBackend", 2)]);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d77_endpoints_are_registered_at_their_cost_and_move_between_slices_at_none() {
    let (world, proxy, _controller) = bare_setup(0).await;
    world
        .create(&manifests::service_without_selector(SERVICE))
        .await;
    create_bind(&world, ServiceMode::Endpoints, &[LEFT]).await;
    until_is("the load balancer exists", true, async || {
        world.cloud_load_balancer(LEFT).is_some()
    })
    .await;
    world.until_entry(BIND, LEFT, "Ready", ("True", "")).await;
    let addresses: Vec<String> = (1..=21).map(|n| format!("10.9.0.{n}")).collect();
    let slice = |count: usize| manifests::endpoints(addresses[..count].iter().map(String::as_str));
    let before = world.cost();
    let first = manifests::endpoint_slice("a", SERVICE, &slice(20));
    world.create(&first).await;
    world.until_records(20).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 20);
    assert_eq!(cost.writes("binds"), 0);
    cost.assert_calls([("generateBackendAddr", 20), ("ensureBackend", 20)]);
    for call in proxy.calls_of("generateBackendAddr") {
        let endpoint = &call.body["endpointBackend"];
        assert_eq!(endpoint["port"], 8080);
        assert_eq!(endpoint["service"]["name"], SERVICE);
        assert_eq!(endpoint["service"]["portName"], "http");
    }

    // All move to another slice, which has one more.
    let seen = proxy.count();
    let second = manifests::endpoint_slice("b", SERVICE, &slice(21));
    world.create(&second).await;
    world.delete::<EndpointSlice>(NAMESPACE, "a").await;
    world.until_records(21).await;
    assert_eq!(
        webhooks(&proxy, seen),
        ["generateBackendAddr", "ensureBackend"]
    );
    let before = world.cost();
    let mut terminating = slice(21);
    for endpoint in &mut terminating.as_array_mut().unwrap()[10..] {
        endpoint["conditions"] = json!({"ready": false, "serving": true, "terminating": true});
    }
    let patch = json!({ "endpoints": terminating });
    world.patch::<EndpointSlice>(NAMESPACE, "b", patch).await;
    world.until_records(10).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 11);
    cost.assert_calls([("deregisterBackend", 11)]);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d78_a_bind_changes_from_pods_to_a_service_and_back_and_leaves_nothing_behind() {
    if lbcf_e2e::needs_embedded("a Bind on all nodes") {
        return;
    }
    let (world, proxy, _controller) = setup(2).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    world.create(&manifests::bind(BIND, &[LEFT])).await;
    world.until_pods(2).await;
    world.until_records(2).await;
    let names = async || -> BTreeSet<String> {
        let records = world.all::<BackendRecord>().await.into_iter();
        records.filter_map(|record| record.metadata.name).collect()
    };
    let of_pods = names().await;
    let change = async |pods: Value, service: Value| {
        let patch = json!({"spec": {"pods": pods, "service": service}});
        world.patch::<Bind>(NAMESPACE, BIND, patch).await;
    };
    let service = |mode: &str| json!({"name": SERVICE, "mode": mode, "port": {"name": "http"}});
    let pods = serde_json::to_value(manifests::bind(BIND, &[]).spec.pods).unwrap();

    let seen = proxy.count();
    change(Value::Null, service("NodePort")).await;
    until_bound_to(&world, LEFT, &NODES, 30080).await;
    world.until_records(2).await;
    assert!(of_pods.is_disjoint(&names().await));
    let count = |webhook: &str| {
        let called = webhooks(&proxy, seen);
        called.iter().filter(|it| *it == webhook).count()
    };
    assert_eq!((count("deregisterBackend"), count("ensureBackend")), (2, 2));
    assert_eq!(count("createLoadBalancer") + count("deleteLoadBalancer"), 0);
    // Backends of another type are validated.
    let validated = proxy.calls_of("validateBackend");
    assert_eq!(validated.last().unwrap().body["backendType"], "Service");

    change(Value::Null, service("Endpoints")).await;
    world.until_pods(2).await;
    world.until_records(2).await;
    let of_endpoints = names().await;
    assert!(of_pods.is_disjoint(&of_endpoints));

    change(pods, Value::Null).await;
    until_is("the records", of_pods, async || names().await).await;
    world.until_records(2).await;
    world.until_pods(2).await;
    // Neither the service nor its slices or nodes concern it any more.
    let seen = proxy.count();
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.create_node("more", "192.168.101.1").await;
    world.create(&manifests::pod("web-2")).await;
    world.until_pods(3).await;
    world.until_records(3).await;
    assert_eq!(
        webhooks(&proxy, seen),
        ["generateBackendAddr", "ensureBackend"]
    );
    world.delete_node("more").await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d77_a_service_that_is_absent_appears_and_goes_again() {
    for mode in [ServiceMode::NodePort, ServiceMode::Endpoints] {
        let (world, _proxy, _controller) = quick_setup().await;
        create_bind(&world, mode, &[LEFT]).await;
        let message = until_ready(&world, "ServiceNotFound").await;
        let service = format!("Service {NAMESPACE}/{SERVICE} not found");
        assert!(message.contains(&service), "{mode:?}: {message}");
        world.until_event("Bind", "ServiceNotFound").await;
        assert_eq!(world.targets_count(), 0);
        world.create(&manifests::pod("web-0")).await;
        world.create(&manifests::service(SERVICE, 30080)).await;
        until_ready(&world, "AllRegistered").await;
        match mode {
            ServiceMode::NodePort => until_bound_to(&world, LEFT, &NODES, 30080).await,
            ServiceMode::Endpoints => world.until_targets(&["web-0"], "50").await,
        }
        until_counts(&world, [1, 1]).await;
        world.delete::<Service>(NAMESPACE, SERVICE).await;
        until_ready(&world, "ServiceNotFound").await;
        world.until_bound(&[]).await;
        world.until_records(0).await;
        delete_all(&world).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d77_a_bind_of_endpoints_counts_addresses_and_follows_their_pods() {
    let (world, _proxy, _controller) = quick_setup().await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    create_bind(&world, ServiceMode::Endpoints, &[LEFT, RIGHT]).await;
    let message = until_ready(&world, "NoEndpoints").await;
    assert!(message.ends_with("has no endpoints"), "{message}");
    world.create_pods(2).await;
    until_counts(&world, [2, 2]).await;
    until_ready(&world, "AllRegistered").await;
    world.until_records(4).await;
    let records: Vec<BackendRecord> = world.all().await;
    for record in &records {
        let pod = record.spec.pod_backend.as_ref().unwrap();
        let labels = record.metadata.labels.as_ref().unwrap();
        assert_eq!(labels["lbcf.tkestack.io/pod"], pod.name);
        assert_eq!(labels["lbcf.tkestack.io/backend-service"], SERVICE);
    }
    world.set_ready("web-0", false).await;
    until_ready(&world, "EndpointsNotReady").await;
    until_counts(&world, [2, 1]).await;
    world.until_records(2).await;
    // A pod that runs stays registered.
    let policy = json!({"spec": {"deregisterPolicy": "IfNotRunning"}});
    world.patch::<Bind>(NAMESPACE, BIND, policy).await;
    world.set_ready("web-0", true).await;
    until_counts(&world, [2, 2]).await;
    let calls = world.cloud.calls();
    world.set_ready("web-0", false).await;
    world.create(&manifests::pod("web-2")).await;
    until_counts(&world, [3, 3]).await;
    let called = world.cloud.calls().difference(&calls);
    assert_eq!(called.get("deregisterBackend"), 0);
    let bind = world.get::<Bind>(BIND).await;
    let status = bind.status.unwrap();
    let ready = status.conditions.find("Ready").unwrap();
    assert_eq!(ready.status, ConditionStatus::True);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d62_d77_a_driver_judges_the_pods_behind_the_endpoints_of_a_bind() {
    let (world, proxy, _controller) = quick_setup().await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    for name in ["web-0", "web-1"] {
        let mut pod = manifests::pod(name);
        if name == "web-0" {
            let keep = [(KEEP_REGISTERED.to_owned(), "true".to_owned())];
            pod.metadata.annotations = Some(keep.into());
        }
        world.create(&pod).await;
    }
    let mut bind = manifests::service_bind(BIND, SERVICE, ServiceMode::Endpoints, &[LEFT]);
    bind.spec.deregister_policy = Some(DeregisterPolicy::Webhook);
    bind.spec.deregister_webhook = Some(DeregisterWebhook {
        driver_name: DRIVER.into(),
        failure_policy: None,
    });
    world.create(&bind).await;
    world.until_pods(2).await;
    world.set_ready("web-0", false).await;
    world.set_ready("web-1", false).await;
    world.until_pods(1).await;
    assert!(!proxy.calls_of("judgePodDeregister").is_empty());
    until_counts(&world, [2, 1]).await;
    delete_all(&world).await;
}
