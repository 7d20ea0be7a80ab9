//! A rollout under load, and what is left of it when processes are killed.

use crate::haproxy::{Haproxy, free_port};
use haproxy_driver::haproxy::master;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::StringMap;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

const PODS: usize = 10;
/// How long the rate is measured while nothing changes.
const AT_REST: Duration = Duration::from_secs(2);

fn serving_pod(name: &str) -> Pod {
    let mut pod = manifests::pod(name);
    let containers = &mut pod.spec.as_mut().unwrap().containers;
    let ports = serde_json::json!([{"containerPort": 80}]);
    containers[0].ports = serde_json::from_value(ports).unwrap();
    pod
}

/// One request on a connection of its own.
async fn request(addr: SocketAddr) -> Result<()> {
    let mut stream = TcpStream::connect(addr).await?;
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n")
        .await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    if response.starts_with("HTTP/1.1 200 ") && response.contains("\"pod\"") {
        return Ok(());
    }
    Err(Error::other(response))
}

#[derive(Default)]
struct Load {
    succeeded: Arc<AtomicUsize>,
    failures: Arc<Mutex<Vec<String>>>,
    clients: JoinSet<()>,
}

impl Load {
    fn start(addr: SocketAddr) -> Self {
        let mut load = Self::default();
        for _ in 0..4 {
            let (succeeded, failures) = (load.succeeded.clone(), load.failures.clone());
            load.clients.spawn(async move {
                loop {
                    match request(addr).await {
                        Ok(()) => drop(succeeded.fetch_add(1, Ordering::Relaxed)),
                        Err(error) => failures.lock().unwrap().push(error.to_string()),
                    }
                }
            });
        }
        load
    }

    /// Requests per second while something happens.
    async fn rate_during(&self, event: impl Future<Output = ()>) -> f64 {
        let (began, before) = (Instant::now(), self.succeeded.load(Ordering::Relaxed));
        event.await;
        let sent = self.succeeded.load(Ordering::Relaxed) - before;
        sent as f64 / began.elapsed().as_secs_f64()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollout_of_ten_pods_fails_no_request_and_killed_processes_come_back() {
    let Some(haproxy) = Haproxy::installed() else {
        return;
    };
    if lbcf_e2e::needs_embedded("pods that answer") {
        return;
    }
    let driver = haproxy.start_driver().await;
    let mut world = World::with_pod_traffic().await;
    world.stop_driver().await;
    world.driver_addr = driver.addr;
    let _controller = world.start_controller();
    world.create_driver().await;
    let port = free_port();
    let (addr, name) = (
        SocketAddr::from(([127, 0, 0, 1], port)),
        format!("lb-127.0.0.1-{port}"),
    );
    let mut load_balancer = manifests::load_balancer(LB);
    load_balancer.spec.lb_spec = StringMap::from([
        ("address", "127.0.0.1"),
        ("port", &port.to_string()),
        ("mode", "http"),
    ]);
    load_balancer.spec.attributes = StringMap::from([("balance", "leastconn")]);
    world.create(&load_balancer).await;
    for pod in 0..PODS {
        world.create(&serving_pod(&format!("old-{pod}"))).await;
    }
    world.create(&manifests::group(GROUP, &[LB])).await;
    haproxy.until_servers(&name, PODS).await;
    let reloads = master::processes(&haproxy.layout).await.unwrap().reloads;

    let mut load = Load::start(addr);
    let at_rest = load.rate_during(tokio::time::sleep(AT_REST)).await;
    let rollout = load
        .rate_during(async {
            for pod in 0..PODS {
                world.create(&serving_pod(&format!("new-{pod}"))).await;
                haproxy.until_servers(&name, PODS + 1).await;
                world.delete::<Pod>(NAMESPACE, &format!("old-{pod}")).await;
                haproxy.until_servers(&name, PODS).await;
            }
        })
        .await;
    println!(
        "requests per second: {at_rest:.0} at rest, {rollout:.0} during a rollout of {PODS} pods, ratio {:.2}; {} requests",
        rollout / at_rest,
        load.succeeded.load(Ordering::Relaxed),
    );
    load.clients.shutdown().await;
    assert_eq!(*load.failures.lock().unwrap(), Vec::<String>::new());
    // Servers come and go without a reload.
    let processes = master::processes(&haproxy.layout).await.unwrap();
    assert_eq!(processes.reloads, reloads);

    // HAProxy starts again with what the file has.
    let killed = haproxy.master_pid();
    haproxy.kill();
    until("another HAProxy serves", async || {
        let is_new = haproxy.layout.pid_file.exists() && haproxy.master_pid() != killed;
        (is_new && request(addr).await.is_ok()).then_some(())
    })
    .await;
    haproxy.until_servers(&name, PODS).await;

    // HAProxy outlives the driver, and the next driver adopts it.
    let adopted = haproxy.master_pid();
    drop(driver);
    request(addr).await.unwrap();
    let driver = haproxy.start_driver().await;
    assert_eq!(haproxy.master_pid(), adopted);
    world.driver_addr = driver.addr;
    haproxy.until_servers(&name, PODS).await;
    request(addr).await.unwrap();
}
