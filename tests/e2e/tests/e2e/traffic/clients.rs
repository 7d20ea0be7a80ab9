//! Clients that send requests, each on a connection of its own, and count what comes back.

use lbcf_e2e::{World, until};
use mock_driver::{Cloud, ListenerTraffic};
use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The result of the requests.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// The number of responses of each pod.
    by_pod: BTreeMap<String, usize>,
    pub(super) failures: Vec<String>,
    /// The longest time in which every client found a load balancer without targets.
    pub(super) longest_gap: Duration,
}

/// Clients that send one request after the other, until they are stopped.
pub(super) struct Clients {
    counted: Arc<Mutex<Counted>>,
    /// Requests that begin while this is set may fail.
    pub(super) excused: Arc<AtomicBool>,
    running: JoinSet<()>,
}

/// The load balancer that clients send requests to.
struct Entrance {
    cloud: Cloud,
    addr: SocketAddr,
    /// Clients move to a load balancer that has so many targets.
    all: usize,
    empty_since: Option<Instant>,
}

impl Clients {
    /// A client for each of these paths, with a pause between its requests. All move when another load
    /// balancer has as many targets as theirs has now.
    pub(super) fn start(world: &World, paths: &[&'static str], pause: Duration) -> Self {
        let entrance = Arc::new(Mutex::new(Entrance {
            cloud: world.cloud.clone(),
            addr: address(world),
            all: world.targets_count(),
            empty_since: None,
        }));
        let counted = Arc::new(Mutex::new(Counted::default()));
        let excused = Arc::<AtomicBool>::default();
        let mut running = JoinSet::new();
        for &path in paths {
            let (entrance, counted) = (Arc::clone(&entrance), Arc::clone(&counted));
            let excused = Arc::clone(&excused);
            running.spawn(async move {
                loop {
                    let (addr, gap) = entrance.lock().unwrap().enter();
                    let is_excused = excused.load(Relaxed);
                    let response = request(addr, path).await;
                    {
                        let mut counted = counted.lock().unwrap();
                        counted.longest_gap = counted.longest_gap.max(gap);
                        match response {
                            Ok(pod) => *counted.by_pod.entry(pod).or_default() += 1,
                            Err(_) if is_excused => {}
                            Err(error) => counted.failures.push(error.to_string()),
                        }
                    }
                    tokio::time::sleep(pause).await;
                }
            });
        }
        Self {
            counted,
            excused,
            running,
        }
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

    pub(super) async fn stop(mut self) -> Counted {
        self.running.shutdown().await;
        std::mem::take(&mut *self.counted.lock().unwrap())
    }
}

impl Counted {
    pub(super) fn requests(&self) -> usize {
        self.by_pod.values().sum::<usize>() + self.failures.len()
    }
}

impl Entrance {
    /// Where to send a request, and for how long there has been no target.
    fn enter(&mut self) -> (SocketAddr, Duration) {
        let traffic = self.cloud.traffic();
        let listeners = traffic.values().flat_map(|it| &it.listeners);
        let listeners: Vec<_> = listeners.filter(|it| it.listens.is_some()).collect();
        let newest = listeners.iter().rfind(|it| targets(it) >= self.all);
        self.addr = newest.and_then(|it| it.listens).unwrap_or(self.addr);
        let ours = listeners.iter().find(|it| it.listens == Some(self.addr));
        if ours.is_some_and(|it| targets(it) > 0) {
            self.empty_since = None;
        } else {
            self.empty_since.get_or_insert_with(Instant::now);
        }
        let gap = self.empty_since.map_or(Duration::ZERO, |it| it.elapsed());
        (self.addr, gap)
    }
}

/// The number of a listener's backends that are not draining.
fn targets(listener: &ListenerTraffic) -> usize {
    let backends = listener.backends.iter();
    backends.filter(|it| it.weight.is_some()).count()
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
