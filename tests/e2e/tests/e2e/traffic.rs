//! Requests from clients through the mock's data plane to the pods of the local cluster, while the
//! controller registers and deregisters these.

mod changes;
mod clients;

use self::clients::{Clients, address, request};
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, LoadBalancer, StringMap};
use lbcf_e2e::World;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use mock_driver::{Traffic, TrafficOptions};
use serde_json::json;
use std::time::Duration;

fn serving_pod(name: &str) -> Pod {
    let mut pod = manifests::pod(name);
    let containers = &mut pod.spec.as_mut().unwrap().containers;
    let ports = json!([{"containerPort": 80}]);
    containers[0].ports = serde_json::from_value(ports).unwrap();
    pod
}

fn http_load_balancer(name: &str, port: &str) -> LoadBalancer {
    let mut load_balancer = manifests::load_balancer(name);
    load_balancer.spec.lb_spec = StringMap::from([
        ("lbVpcID", "vpc-12345678"),
        ("lbListenerPort", port),
        ("lbListenerProtocol", "HTTP"),
    ]);
    load_balancer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d79_d80_no_request_fails_while_pods_come_and_go() {
    if lbcf_e2e::needs_embedded("pods that answer") {
        return;
    }
    let world = World::with_pod_traffic().await;
    let _traffic = Traffic::start(&world.cloud, TrafficOptions::default());
    let _controller = world.start_controller();
    world.create_driver().await;
    world.create(&http_load_balancer(LB, "80")).await;
    for name in ["web-0", "web-1"] {
        world.create(&serving_pod(name)).await;
    }
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_pods(2).await;

    let addr = address(&world);
    let slow = "/slow?ms=50";
    let clients = Clients::start(&world, &["/", "/", slow, slow, slow], Duration::ZERO);
    clients.until_served_by(&["web-0", "web-1"], 10).await;
    world.create(&serving_pod("web-2")).await;
    clients.until_served_by(&["web-2"], 10).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-1", "web-2"], "50").await;
    world.set_ready("web-1", false).await;
    world.until_targets(&["web-2"], "50").await;
    world.set_ready("web-1", true).await;
    world.until_targets(&["web-1", "web-2"], "50").await;
    let counted = clients.stop().await;
    assert_eq!(counted.failures, Vec::<String>::new());
    // A weight of 0 gets nothing new.
    world.set_weight::<BackendGroup>(GROUP, "0").await;
    world.until_targets(&["web-1", "web-2"], "0").await;
    assert!(
        request(addr, "/")
            .await
            .unwrap_err()
            .to_string()
            .contains(" 503 ")
    );
}
