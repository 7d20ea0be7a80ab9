//! Several slices of a service, made by hand.

use super::{create_slice, set_addresses, set_endpoints, setup_by_hand};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, BackendRecord};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{CONTROLLER, ProxyAction, World, until};
use local_cluster::{Fault, RequestFilter};
use serde_json::json;
use std::time::Duration;

/// Absent endpoints are waited for as long as a test may take.
fn patient() -> Options {
    Options {
        endpoint_grace_period: Duration::from_secs(3600),
        ..World::quick()
    }
}

fn addresses(numbers: std::ops::Range<u32>) -> Vec<String> {
    let address = |n: u32| format!("10.9.{}.{}", n / 100, n % 100 + 1);
    numbers.map(address).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_d60_250_endpoints_of_three_slices_at_their_cost_and_100_that_move_at_none() {
    let (world, _proxy, _controller) = setup_by_hand(patient()).await;
    world.until_event("BackendGroup", "NoEndpoints").await;
    let before = world.cost();
    create_slice(&world, "a", &addresses(0..100)).await;
    create_slice(&world, "b", &addresses(100..200)).await;
    create_slice(&world, "c", &addresses(200..250)).await;
    world.until_records(250).await;
    world.until_counts(GROUP, [250; 4]).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 250, "{cost:?}");
    cost.assert_calls([("generateBackendAddr", 250), ("ensureBackend", 250)]);

    // They move: first in neither slice, then back, in both for a moment. The last change of the group
    // is reconciled after all others.
    let before = world.cost();
    set_addresses(&world, "a", &[]).await;
    set_addresses(
        &world,
        "c",
        &[addresses(200..250), addresses(0..100)].concat(),
    )
    .await;
    set_addresses(&world, "a", &addresses(0..100)).await;
    set_addresses(&world, "c", &addresses(200..251)).await;
    world.until_records(251).await;
    world.until_counts(GROUP, [251; 4]).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2, "{cost:?}");
    cost.assert_calls([("generateBackendAddr", 1), ("ensureBackend", 1)]);

    // Fifty are terminating.
    let before = world.cost();
    let mut endpoints = manifests::endpoints(addresses(100..200).iter().map(String::as_str));
    for endpoint in &mut endpoints.as_array_mut().unwrap()[..50] {
        endpoint["conditions"] = json!({"ready": false, "serving": true, "terminating": true});
    }
    set_endpoints(&world, "b", endpoints).await;
    world.until_records(201).await;
    world.until_counts(GROUP, [201; 4]).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 50, "{cost:?}");
    cost.assert_calls([("deregisterBackend", 50)]);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d61_an_endpoint_that_is_in_no_slice_for_long_is_deregistered() {
    let (world, _proxy, _controller) = setup_by_hand(World::quick()).await;
    create_slice(&world, "a", &addresses(0..2)).await;
    world.until_counts(GROUP, [2; 4]).await;
    set_addresses(&world, "a", &addresses(1..2)).await;
    world.until_bound(&["10.9.0.2:8080"]).await;
    world.until_counts(GROUP, [1; 4]).await;
    world.until_records(1).await;
    world.delete_basics().await;
}

/// An endpoint that is waited for is decided on before the status is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d61_a_grace_period_may_end_while_the_status_is_written() {
    if lbcf_e2e::needs_embedded("a write that is held") {
        return;
    }
    let options = Options {
        endpoint_grace_period: Duration::from_millis(200),
        ..World::quick()
    };
    let (world, _proxy, _controller) = setup_by_hand(options.clone()).await;
    create_slice(&world, "a", &addresses(0..2)).await;
    world.until_counts(GROUP, [2; 4]).await;
    let of_status = RequestFilter::default().user_agent(CONTROLLER);
    let of_status = of_status
        .resource("lbcf.tkestack.io/backendgroups")
        .subresource("status");
    let held = world.cluster.faults().inject(Fault::hold().of(of_status));
    set_addresses(&world, "a", &addresses(1..2)).await;
    until("the status is written", async || {
        (held.hits() > 0).then_some(())
    })
    .await;
    tokio::time::sleep(2 * options.endpoint_grace_period).await;
    drop(held);
    world.until_bound(&["10.9.0.2:8080"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d93_a_port_that_is_renamed_keeps_its_targets() {
    let (world, proxy, _controller) = setup_by_hand(patient()).await;
    let by_number = json!({"name": null, "port": 80, "protocol": "TCP"});
    let spec = json!({"spec": {"service": {"port": by_number}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, spec).await;
    create_slice(&world, "a", &addresses(0..2)).await;
    world.until_counts(GROUP, [2; 4]).await;
    let ports = json!([{"name": "web", "port": 80, "protocol": "TCP", "targetPort": 8080}]);
    let spec = json!({"spec": {"ports": ports}});
    world.patch::<Service>(NAMESPACE, SERVICE, spec).await;
    world.until_event("BackendGroup", "NoServicePort").await;
    assert_eq!(world.targets_count(), 2, "the slice has the old name");
    let ports = json!({"ports": [{"name": "web", "port": 8080, "protocol": "TCP"}]});
    world.patch::<EndpointSlice>(NAMESPACE, "a", ports).await;
    world.until_counts(GROUP, [2; 4]).await;
    assert_eq!(proxy.calls_of("deregisterBackend").len(), 0);
    assert_eq!(proxy.calls_of("ensureBackend").len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e9_a_terminating_endpoint_is_deregistered_at_once_and_running_means_that_it_drains() {
    let (world, proxy, _controller) = setup_by_hand(patient()).await;
    create_slice(&world, "a", &addresses(0..2)).await;
    world.until_counts(GROUP, [2; 4]).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "deregisterBackend" => {
            ProxyAction::reply_json(&json!({"status": "Running", "msg": "it drains"}))
        }
        _ => ProxyAction::Forward,
    });
    let mut endpoints = manifests::endpoints(addresses(0..2).iter().map(String::as_str));
    endpoints[0]["conditions"] = json!({"ready": false, "serving": true, "terminating": true});
    set_endpoints(&world, "a", endpoints.clone()).await;
    let deregistering = async |calls: usize| {
        until("the driver is called to deregister it", async || {
            (proxy.calls_of("deregisterBackend").len() >= calls).then_some(())
        })
        .await;
    };
    deregistering(1).await;
    let ensured = proxy.calls_of("ensureBackend").len();
    // The record stays until the driver is done, also after the endpoint has left, and nothing asks
    // to ensure it.
    set_addresses(&world, "a", &addresses(1..2)).await;
    let calls = proxy.calls_of("deregisterBackend").len();
    deregistering(calls + 3).await;
    let records: Vec<BackendRecord> = world.all().await;
    let deleting = records
        .iter()
        .filter(|it| it.metadata.deletion_timestamp.is_some());
    assert_eq!((records.len(), deleting.count()), (2, 1));
    assert_eq!(world.counts(GROUP).await, [1; 4]);
    proxy.forward_all();
    world.until_bound(&["10.9.0.2:8080"]).await;
    world.until_records(1).await;
    assert_eq!(proxy.calls_of("ensureBackend").len(), ensured);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e14_e16_d63_slices_whose_ports_are_empty_or_have_no_number() {
    let (world, _proxy, _controller) = setup_by_hand(World::quick()).await;
    world.until_event("BackendGroup", "NoEndpoints").await;
    create_slice(&world, "a", &["10.9.0.1".to_owned()]).await;
    world.until_counts(GROUP, [1; 4]).await;
    let ports = async |ports: serde_json::Value| {
        let ports = json!({ "ports": ports });
        world.patch::<EndpointSlice>(NAMESPACE, "a", ports).await;
    };
    ports(json!([])).await;
    world.until_bound(&[]).await;
    let message = world.until_event("BackendGroup", "NoServicePort").await;
    let slice = format!("EndpointSlice {NAMESPACE}/a: ports: empty");
    assert!(message.starts_with(&slice), "{message}");
    // The targetPort of the service is 8080.
    ports(json!([{"name": "http"}])).await;
    world.until_bound(&["10.9.0.1:8080"]).await;
    let named = json!({"spec": {"ports": [
        {"name": "http", "port": 80, "protocol": "TCP", "targetPort": "web"},
    ]}});
    world.patch::<Service>(NAMESPACE, SERVICE, named).await;
    world.until_bound(&[]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_e17_dual_stack_domain_names_and_sctp() {
    let (world, _proxy, _controller) = setup_by_hand(World::quick()).await;
    create_slice(&world, "four", &["10.9.0.1".to_owned()]).await;
    for (family, address) in [("IPv6", "fd00::9"), ("FQDN", "db.example.com")] {
        let name = family.to_lowercase();
        let endpoints = manifests::endpoints([address]);
        let mut slice = manifests::endpoint_slice(&name, SERVICE, &endpoints);
        family.clone_into(&mut slice.address_type);
        world.create(&slice).await;
    }
    let patch_group = async |service: serde_json::Value| {
        let patch = json!({"spec": {"service": service}});
        world.patch::<BackendGroup>(NAMESPACE, GROUP, patch).await;
    };
    world.until_bound(&["10.9.0.1:8080", "fd00::9:8080"]).await;
    world.until_counts(GROUP, [2; 4]).await;
    patch_group(json!({"addressFamilies": ["IPv4", "FQDN"]})).await;
    world
        .until_bound(&["10.9.0.1:8080", "db.example.com:8080"])
        .await;
    patch_group(json!({"addressFamilies": ["IPv4"]})).await;
    world.until_bound(&["10.9.0.1:8080"]).await;
    // Another protocol is another port of the service.
    let ports = json!({"spec": {"ports": [
        {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080},
        {"name": "signals", "port": 80, "protocol": "SCTP", "targetPort": 9},
    ]}});
    world.patch::<Service>(NAMESPACE, SERVICE, ports).await;
    let ports = json!({"ports": [
        {"name": "http", "port": 8080, "protocol": "TCP"},
        {"name": "signals", "port": 9090, "protocol": "SCTP"},
    ]});
    world.patch::<EndpointSlice>(NAMESPACE, "four", ports).await;
    patch_group(json!({"port": {"name": null, "port": 80, "protocol": "SCTP"}})).await;
    world.until_bound(&["10.9.0.1:9090"]).await;
    world.until_counts(GROUP, [1; 4]).await;
    let records: Vec<BackendRecord> = world.all().await;
    let endpoint = records[0].spec.endpoint_backend.clone().unwrap();
    assert_eq!(endpoint.port.protocol.as_deref(), Some("SCTP"));
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e11_d65_a_group_takes_the_endpoints_for_its_zones() {
    let (world, _proxy, _controller) = setup_by_hand(World::quick()).await;
    let endpoint = |address: &str, zone: &str, hint: Option<&str>| {
        let hints = hint.map(|zone| json!({"forZones": [{"name": zone}]}));
        json!({"addresses": [address], "zone": zone, "hints": hints})
    };
    let endpoints = json!([
        endpoint("10.9.0.1", "a", None),
        endpoint("10.9.0.2", "b", None),
        endpoint("10.9.0.3", "b", Some("a")),
    ]);
    let slice = manifests::endpoint_slice("a", SERVICE, &endpoints);
    world.create(&slice).await;
    world.until_counts(GROUP, [3; 4]).await;
    let zones = |zones: &[&str]| json!({"spec": {"service": {"zones": zones}}});
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, zones(&["a"]))
        .await;
    world.until_bound(&["10.9.0.1:8080", "10.9.0.3:8080"]).await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, zones(&["c"]))
        .await;
    world.until_bound(&[]).await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, zones(&[]))
        .await;
    world.until_counts(GROUP, [3; 4]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d60_a_group_changes_between_node_ports_and_endpoints() {
    if lbcf_e2e::needs_embedded("a group on all nodes") {
        return;
    }
    let (world, _proxy, _controller) = World::behind_proxy(World::quick()).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    create_slice(&world, "by-hand", &addresses(0..1)).await;
    world
        .create(&manifests::service_group(GROUP, SERVICE, &[LB]))
        .await;
    let nodes = ["192.168.100.11:30080", "192.168.100.12:30080"];
    world.until_bound(&nodes).await;
    let mode = |mode: &str| json!({"spec": {"service": {"mode": mode}}});
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, mode("Endpoints"))
        .await;
    world.until_bound(&["10.9.0.1:8080"]).await;
    world.until_counts(GROUP, [1; 4]).await;
    world
        .patch::<BackendGroup>(NAMESPACE, GROUP, mode("NodePort"))
        .await;
    world.until_bound(&nodes).await;
    world.until_counts(GROUP, [1, 1, 2, 2]).await;
    world.delete_basics().await;
}
