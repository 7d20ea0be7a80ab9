//! Requests from clients through the mock's data plane to the pods of the local cluster, while the
//! controller registers and deregisters these.

use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, StringMap};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use mock_driver::{Traffic, TrafficOptions};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Responses by pod, and failures.
#[derive(Debug, Default)]
struct Counted {
    by_pod: BTreeMap<String, usize>,
    failures: Vec<String>,
}

fn serving_pod(name: &str) -> Pod {
    let mut pod = manifests::pod(name);
    let containers = &mut pod.spec.as_mut().unwrap().containers;
    let ports = json!([{"containerPort": 80}]);
    containers[0].ports = serde_json::from_value(ports).unwrap();
    pod
}

/// The pod that has responded to a request.
async fn request(addr: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(addr).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    let body = response.split_once("\r\n\r\n").map(|(_, body)| body);
    let body: serde_json::Value = serde_json::from_str(body.unwrap_or_default())
        .map_err(|_| Error::other(response.clone()))?;
    let pod = body["pod"].as_str();
    pod.map(str::to_owned).ok_or_else(|| Error::other(response))
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
    let mut load_balancer = manifests::load_balancer(LB);
    load_balancer.spec.lb_spec = StringMap::from([
        ("lbVpcID", "vpc-12345678"),
        ("lbListenerPort", "80"),
        ("lbListenerProtocol", "HTTP"),
    ]);
    world.create(&load_balancer).await;
    for name in ["web-0", "web-1"] {
        world.create(&serving_pod(name)).await;
    }
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_pods(2).await;

    let traffic = world.cloud.traffic();
    let mut listeners = traffic.values().flat_map(|it| &it.listeners);
    let listener = listeners.find(|it| !it.backends.is_empty()).unwrap();
    let addr = listener.listens.unwrap();
    let counted = Arc::new(Mutex::new(Counted::default()));
    let mut clients = JoinSet::new();
    for path in ["/", "/", "/slow?ms=50", "/slow?ms=50", "/slow?ms=50"] {
        let counted = Arc::clone(&counted);
        clients.spawn(async move {
            loop {
                let response = request(addr, path).await;
                let mut counted = counted.lock().unwrap();
                match response {
                    Ok(pod) => *counted.by_pod.entry(pod).or_default() += 1,
                    Err(error) => counted.failures.push(error.to_string()),
                }
            }
        });
    }
    let until_served_by = async |pods: &[&str]| {
        until(&format!("{pods:?} respond"), async || {
            let counted = counted.lock().unwrap();
            let has_served = |pod: &&str| counted.by_pod.get(*pod).is_some_and(|it| *it > 10);
            pods.iter().all(has_served).then_some(())
        })
        .await;
    };
    until_served_by(&["web-0", "web-1"]).await;
    world.create(&serving_pod("web-2")).await;
    until_served_by(&["web-2"]).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-1", "web-2"], "50").await;
    world.set_ready("web-1", false).await;
    world.until_targets(&["web-2"], "50").await;
    world.set_ready("web-1", true).await;
    world.until_targets(&["web-1", "web-2"], "50").await;
    clients.shutdown().await;
    assert_eq!(counted.lock().unwrap().failures, Vec::<String>::new());
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
