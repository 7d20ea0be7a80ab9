//! Clients that send requests, each on a connection of its own, and count what comes back.

use lbcf_e2e::{World, until};
use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Responses by pod, and failures.
#[derive(Debug, Default)]
struct Counted {
    by_pod: BTreeMap<String, usize>,
    failures: Vec<String>,
}

/// Clients that send one request after the other, until they are stopped.
pub(super) struct Clients {
    counted: Arc<Mutex<Counted>>,
    running: JoinSet<()>,
}

impl Clients {
    /// A client for each of these paths, with a pause between its requests.
    pub(super) fn start(addr: SocketAddr, paths: &[&'static str], pause: Duration) -> Self {
        let counted = Arc::new(Mutex::new(Counted::default()));
        let mut running = JoinSet::new();
        for &path in paths {
            let counted = Arc::clone(&counted);
            running.spawn(async move {
                loop {
                    let response = request(addr, path).await;
                    match (&mut *counted.lock().unwrap(), response) {
                        (counted, Ok(pod)) => *counted.by_pod.entry(pod).or_default() += 1,
                        (counted, Err(error)) => counted.failures.push(error.to_string()),
                    }
                    tokio::time::sleep(pause).await;
                }
            });
        }
        Self { counted, running }
    }

    /// Waits until each of these pods has responded to so many requests.
    pub(super) async fn until_served_by(&self, pods: &[&str], requests: usize) {
        until(&format!("{pods:?} respond"), async || {
            let counted = self.counted.lock().unwrap();
            let served = |pod: &&str| counted.by_pod.get(*pod).is_some_and(|it| *it >= requests);
            pods.iter().all(served).then_some(())
        })
        .await;
    }

    /// The number of responses, and what failed.
    pub(super) async fn stop(mut self) -> (usize, Vec<String>) {
        self.running.shutdown().await;
        let counted = std::mem::take(&mut *self.counted.lock().unwrap());
        (counted.by_pod.values().sum(), counted.failures)
    }
}

/// The pod that has responded to a request.
pub(super) async fn request(addr: SocketAddr, path: &str) -> Result<String> {
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

/// Where the load balancer with backends listens.
pub(super) fn address(world: &World) -> SocketAddr {
    let traffic = world.cloud.traffic();
    let mut listeners = traffic.values().flat_map(|it| &it.listeners);
    let listener = listeners.find(|it| !it.backends.is_empty()).unwrap();
    listener.listens.unwrap()
}
