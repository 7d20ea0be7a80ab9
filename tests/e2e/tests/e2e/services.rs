//! Node ports of a service as backends.

use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::api::{BackendGroup, BackendRecord, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{DriverProxy, ProxiedCall, World, kill, tampered, until, until_is};
use serde_json::json;
use tokio::task::JoinHandle;

/// The addresses of the cluster's initial nodes.
const NODE_1: &str = "192.168.100.11";
const NODE_2: &str = "192.168.100.12";

/// A world with a group on a service with node port 30080, and a controller.
async fn setup() -> (World, DriverProxy, JoinHandle<()>) {
    let mut world = World::new().await;
    let proxy = world.start_proxy().await;
    let controller = world.start(World::quick());
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let group = manifests::service_group(GROUP, SERVICE, &[LB]);
    world.create(&group).await;
    (world, proxy, controller)
}

async fn both_nodes(world: &World, port: i32) {
    let both = [format!("{NODE_1}:{port}"), format!("{NODE_2}:{port}")];
    world.until_bound(&[&both[0], &both[1]]).await;
}

async fn patch_service(world: &World, patch: serde_json::Value) {
    world.patch::<Service>(NAMESPACE, SERVICE, patch).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b112_d8_every_node_is_registered_at_every_load_balancer_at_its_cost() {
    let (world, _proxy, _controller) = setup().await;
    world.create(&manifests::load_balancer("second-lb")).await;
    let group = manifests::service_group("both", SERVICE, &[LB, "second-lb"]);
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_deleted::<BackendGroup>(NAMESPACE, GROUP).await;
    world.until_records(0).await;
    world.create(&group).await;
    world.until_records(4).await;
    // The service counts as one backend.
    world.until_counts("both", [1, 1, 4, 4]).await;

    const MORE: u64 = 6;
    let records = 2 * MORE;
    let names: Vec<String> = (0..MORE).map(|n| format!("more-{n}")).collect();
    let before = world.cost();
    for (number, name) in names.iter().enumerate() {
        let ip = format!("192.168.101.{number}");
        world.create_node(name, &ip).await;
    }
    world.until_records(4 + 2 * names.len()).await;
    let all = 4 + i32::try_from(records).unwrap();
    world.until_counts("both", [1, 1, all, all]).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * records, "{cost:?}");
    let of_groups = cost.writes("backendgroups");
    assert_eq!(cost.all_writes(), 2 * records + of_groups);
    cost.assert_calls([("generateBackendAddr", records), ("ensureBackend", records)]);

    let before = world.cost();
    for name in &names {
        world.delete_node(name).await;
    }
    world.until_records(4).await;
    world.until_counts("both", [1, 1, 4, 4]).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * records, "{cost:?}");
    cost.assert_calls([("deregisterBackend", records)]);
    world.delete::<BackendGroup>(NAMESPACE, "both").await;
    world.delete::<LoadBalancer>(NAMESPACE, "second-lb").await;
    world.delete_basics().await;
}

/// The webhooks called about a node's address, each with the port of that address.
fn calls_about(calls: &[ProxiedCall], ip: &str) -> Vec<(String, i64)> {
    let addr = |call: &ProxiedCall| {
        let text = match call.webhook.as_str() {
            "generateBackendAddr" => call.response["backendAddr"].as_str(),
            _ => call.body["backendAddr"].as_str(),
        };
        serde_json::from_str::<serde_json::Value>(text?).ok()
    };
    let about = |call: &ProxiedCall| {
        let addr = addr(call)?;
        (addr["ip"] == ip).then(|| (call.webhook.clone(), addr["port"].as_i64().unwrap()))
    };
    calls.iter().filter_map(about).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u13_a_changed_node_port_replaces_the_address() {
    let (world, proxy, _controller) = setup().await;
    both_nodes(&world, 30080).await;
    world.until_records(2).await;
    let seen = proxy.count();
    let before = world.cost();
    patch_service(
        &world,
        json!({"spec": {"ports": [
            {"name": "http", "port": 80, "protocol": "TCP", "nodePort": 30081},
        ]}}),
    )
    .await;
    both_nodes(&world, 30081).await;
    world.until_records(2).await;
    for node in [NODE_1, NODE_2] {
        let sequence = calls_about(&proxy.calls()[seen..], node);
        let expected = [
            ("deregisterBackend", 30080),
            ("generateBackendAddr", 30081),
            ("ensureBackend", 30081),
        ];
        assert_eq!(
            sequence,
            expected.map(|(name, port)| (name.to_owned(), port))
        );
    }
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * (2 + 2), "{cost:?}");
    assert_eq!(cost.calls.total(), 2 * (1 + 2));
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u13_a_nodes_new_address_replaces_the_old_one() {
    let (world, proxy, _controller) = setup().await;
    both_nodes(&world, 30080).await;
    world.until_records(2).await;
    let seen = proxy.count();
    world.set_node("lbcf-e2e-2", "192.168.100.99", true).await;
    world
        .until_bound(&[&format!("{NODE_1}:30080"), "192.168.100.99:30080"])
        .await;
    world.until_records(2).await;
    let calls = proxy.calls();
    assert_eq!(
        calls_about(&calls[seen..], NODE_1),
        [],
        "lbcf-e2e-1 is not affected"
    );
    // A change of other fields has no effect.
    let seen = proxy.count();
    world
        .patch_node(
            "lbcf-e2e-1",
            json!({"metadata": {"annotations": {"note": "1"}}}),
        )
        .await;
    world.set_node("lbcf-e2e-2", "192.168.100.98", true).await;
    world
        .until_bound(&[&format!("{NODE_1}:30080"), "192.168.100.98:30080"])
        .await;
    world.until_records(2).await;
    assert_eq!(proxy.count() - seen, 3, "one deregistered, one registered");
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d40_u15_nodes_that_are_excluded_about_to_be_removed_or_deleted_are_not_registered() {
    let (world, _proxy, _controller) = setup().await;
    both_nodes(&world, 30080).await;
    let one = format!("{NODE_1}:30080");

    // The label counts whatever its value.
    world.label_node_excluded("lbcf-e2e-2", Some("false")).await;
    world.until_bound(&[&one]).await;
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    world.label_node_excluded("lbcf-e2e-2", None).await;
    both_nodes(&world, 30080).await;

    // The cluster autoscaler taints a node that it is about to remove.
    let tainted = |taints: serde_json::Value| json!({"spec": {"taints": taints}});
    let taint = |key| json!([{"key": key, "value": "1", "effect": "NoSchedule"}]);
    let removing = taint("ToBeDeletedByClusterAutoscaler");
    world.patch_node("lbcf-e2e-2", tainted(removing)).await;
    world.until_bound(&[&one]).await;
    let other = taint("example.com/dedicated");
    world.patch_node("lbcf-e2e-2", tainted(other)).await;
    both_nodes(&world, 30080).await;

    world.delete_node("lbcf-e2e-2").await;
    world.until_bound(&[&one]).await;
    world.create_node("lbcf-e2e-2", NODE_2).await;
    both_nodes(&world, 30080).await;
    world.until_counts(GROUP, [1, 1, 2, 2]).await;

    // Without nodes the service is still one backend, which is not registered.
    world.delete_node("lbcf-e2e-2").await;
    world.delete_node("lbcf-e2e-1").await;
    world.until_bound(&[]).await;
    world.until_counts(GROUP, [1, 0, 0, 0]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d40_a_node_is_registered_when_it_has_an_address() {
    let (world, proxy, _controller) = setup().await;
    both_nodes(&world, 30080).await;
    world.create_node_bare("starting").await;
    world.create_node("later", "192.168.101.2").await;
    let mut all = vec![
        format!("{NODE_1}:30080"),
        format!("{NODE_2}:30080"),
        "192.168.101.2:30080".to_owned(),
    ];
    let bound = |all: &[String]| {
        let mut all = all.to_vec();
        all.sort();
        all
    };
    until_is("bound", bound(&all), async || world.bound()).await;
    world.until_counts(GROUP, [1, 1, 3, 3]).await;
    assert_eq!(proxy.calls_of("generateBackendAddr").len(), 3);
    world.set_node("starting", "192.168.101.3", false).await;
    all.push("192.168.101.3:30080".to_owned());
    until_is("bound", bound(&all), async || world.bound()).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u14_u16_b112_changes_of_the_service_are_applied_at_once() {
    let (world, _proxy, _controller) = setup().await;
    both_nodes(&world, 30080).await;
    // The API server removes the node ports of a service of type ClusterIP.
    let inside = json!({"spec": {"type": "ClusterIP", "ports": [
        {"name": "http", "port": 80, "protocol": "TCP", "nodePort": null},
    ]}});
    patch_service(&world, inside).await;
    world.until_bound(&[]).await;
    world.until_counts(GROUP, [1, 0, 0, 0]).await;
    let outside = |kind: &str, port: i32, protocol: &str, node_port: i32| {
        // No cloud's controller implements the class.
        let class = (kind == "LoadBalancer").then_some("lbcf.tkestack.io/none");
        json!({"spec": {"type": kind, "loadBalancerClass": class, "ports": [
            {"name": "http", "port": port, "protocol": protocol, "nodePort": node_port},
        ]}})
    };
    patch_service(&world, outside("LoadBalancer", 80, "TCP", 30090)).await;
    both_nodes(&world, 30090).await;
    // The group selects port 80 with protocol TCP.
    patch_service(&world, outside("NodePort", 81, "TCP", 30090)).await;
    world.until_bound(&[]).await;
    patch_service(&world, outside("NodePort", 80, "TCP", 30091)).await;
    both_nodes(&world, 30091).await;
    patch_service(&world, outside("NodePort", 80, "UDP", 30091)).await;
    world.until_bound(&[]).await;
    patch_service(&world, outside("NodePort", 80, "TCP", 30092)).await;
    both_nodes(&world, 30092).await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_bound(&[]).await;
    world.until_counts(GROUP, [1, 0, 0, 0]).await;
    world.create(&manifests::service(SERVICE, 30093)).await;
    both_nodes(&world, 30093).await;
    world.until_counts(GROUP, [1, 1, 2, 2]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u16_with_the_local_traffic_policy_only_nodes_with_ready_pods_are_registered() {
    let (world, _proxy, _controller) = setup().await;
    both_nodes(&world, 30080).await;
    let on = |name: &str, node: &str| {
        let mut pod = manifests::pod(name);
        pod.spec.as_mut().unwrap().node_name = Some(node.to_owned());
        pod
    };
    world.create(&on("on-1", "lbcf-e2e-1")).await;
    let policy = |value: &str| json!({"spec": {"externalTrafficPolicy": value}});
    patch_service(&world, policy("Local")).await;
    let (one, two) = (format!("{NODE_1}:30080"), format!("{NODE_2}:30080"));
    world.until_bound(&[&one]).await;
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    world.create(&on("on-2", "lbcf-e2e-2")).await;
    world.until_bound(&[&one, &two]).await;
    world.create(&on("also-on-2", "lbcf-e2e-2")).await;
    world.set_ready("on-1", false).await;
    world.until_bound(&[&two]).await;
    world.set_ready("on-1", true).await;
    world.until_bound(&[&one, &two]).await;
    // The second node has another pod, the first node has not.
    world.delete::<Pod>(NAMESPACE, "on-2").await;
    world.delete::<Pod>(NAMESPACE, "on-1").await;
    world.until_bound(&[&two]).await;
    world.delete::<Pod>(NAMESPACE, "also-on-2").await;
    world.until_bound(&[]).await;
    // Pods of other services do not count.
    let mut other = on("other", "lbcf-e2e-1");
    other.metadata.labels = Some([("app".to_owned(), "other".to_owned())].into());
    world.create(&other).await;
    world.create(&on("on-2", "lbcf-e2e-2")).await;
    world.until_bound(&[&two]).await;
    // The service's selector changes.
    patch_service(&world, json!({"spec": {"selector": {"app": "other"}}})).await;
    world.until_bound(&[&one]).await;
    patch_service(&world, policy("Cluster")).await;
    both_nodes(&world, 30080).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d27_what_the_original_registered_of_a_service_is_not_registered_again() {
    let (world, proxy, controller) = setup().await;
    both_nodes(&world, 30080).await;
    world.until_records(2).await;
    world.until_counts(GROUP, [1, 1, 2, 2]).await;
    kill(controller).await;
    // The original controller stores neither the address's inputs nor the observed generation.
    for record in world.all::<BackendRecord>().await {
        let name = record.metadata.name.unwrap();
        let mut status = serde_json::to_value(record.status).unwrap();
        status["conditions"][0]["observedGeneration"] = json!(null);
        world
            .patch::<BackendRecord>(NAMESPACE, &name, json!({"metadata": {"annotations": null}}))
            .await;
        let api = world.api::<BackendRecord>(NAMESPACE);
        let patch = kube::api::Patch::Merge(json!({ "status": status }));
        api.patch_status(&name, &Default::default(), &patch)
            .await
            .unwrap();
    }
    world.forget_record_key().await;
    let seen = proxy.count();
    let before = world.cost();
    let _controller = world.start(World::quick());
    // A later change that has arrived shows that the controller has started.
    world.create_node("more", "192.168.101.1").await;
    let more = "192.168.101.1:30080";
    world
        .until_bound(&[&format!("{NODE_1}:30080"), &format!("{NODE_2}:30080"), more])
        .await;
    until("the third is registered", async || {
        (world.counts(GROUP).await == [1, 1, 3, 3]).then_some(())
    })
    .await;
    assert_eq!(proxy.count() - seen, 2, "the third node only");
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2, "{cost:?}");
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b120_a_pod_that_was_read_during_a_change_is_read_again() {
    if lbcf_e2e::needs_embedded("responses that are changed") {
        return;
    }
    let world = World::new().await;
    let client = tampered(&world.cluster, "/pods/web-0", 2, |pod| {
        pod["status"]["conditions"] = json!([]);
    });
    let _controller = world.start_controller_with(client, World::quick());
    world.register_basics(1).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b120_a_service_that_was_read_during_a_change_is_read_again() {
    if lbcf_e2e::needs_embedded("responses that are changed") {
        return;
    }
    let world = World::new().await;
    let client = tampered(&world.cluster, "/services/web-service", 2, |service| {
        service["spec"]["ports"][0]["nodePort"] = json!(30079);
    });
    let _controller = world.start_controller_with(client, World::quick());
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let group = manifests::service_group(GROUP, SERVICE, &[LB]);
    world.create(&group).await;
    both_nodes(&world, 30080).await;
    world.delete_basics().await;
}
