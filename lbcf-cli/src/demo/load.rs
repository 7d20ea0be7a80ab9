//! Clients that send requests through the load balancer while the tour changes everything behind it.

use mock_driver::Cloud;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The paths of clients: most requests take no time, and some are always being answered, so that
/// a backend is never removed while nothing is open on it.
const PATHS: [&str; 2] = ["/", "/slow?ms=100"];
/// The number of clients for each path.
const CLIENTS: usize = 4;
/// The pause of a client after a request.
const PAUSE: Duration = Duration::from_millis(5);
/// The limit of a response, in turns: 20 s, but longer where the machine is too busy to run this process.
const TURNS: u32 = 200;
/// The least time of a turn.
const TURN: Duration = Duration::from_millis(100);
/// The largest response, in bytes.
const LIMIT: u64 = 64 << 10;
/// The most failures that are reported in words.
const ERRORS: usize = 5;

/// The requests of the clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrafficReport {
    /// The number of requests.
    pub requests: u64,
    /// The requests that got no response with the status 200.
    pub failed: u64,
    /// The number of responses of each pod, by name.
    pub by_backend: BTreeMap<String, u64>,
    /// The messages of the first five failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// Clients that send requests until [`stop`](Self::stop).
#[derive(Debug)]
pub(super) struct LoadGenerator {
    counted: Arc<Mutex<TrafficReport>>,
    stop: CancellationToken,
    clients: JoinSet<()>,
}

impl LoadGenerator {
    /// Sends requests to the load balancer that has backends, if there is one.
    pub(super) fn start(cloud: &Cloud) -> Option<Self> {
        let traffic = cloud.traffic().into_values();
        let mut listeners = traffic.flat_map(|load_balancer| load_balancer.listeners);
        let addr = listeners.find(|it| !it.backends.is_empty())?.listens?;
        let counted = Arc::default();
        let stop = CancellationToken::new();
        let mut clients = JoinSet::new();
        for path in PATHS.repeat(CLIENTS) {
            clients.spawn(client(addr, path, Arc::clone(&counted), stop.clone()));
        }
        Some(Self {
            counted,
            stop,
            clients,
        })
    }

    /// The requests so far.
    pub(super) fn report(&self) -> TrafficReport {
        lock(&self.counted).clone()
    }

    /// Waits for what was sent last.
    pub(super) async fn stop(mut self) -> TrafficReport {
        self.stop.cancel();
        while self.clients.join_next().await.is_some() {}
        self.report()
    }
}

impl TrafficReport {
    /// The requests since `earlier`.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let by_backend = self.by_backend.iter().filter_map(|(pod, count)| {
            let count = count - earlier.by_backend.get(pod).unwrap_or(&0);
            (count > 0).then(|| (pod.clone(), count))
        });
        Self {
            requests: self.requests - earlier.requests,
            failed: self.failed - earlier.failed,
            by_backend: by_backend.collect(),
            errors: self.errors[earlier.errors.len()..].to_vec(),
        }
    }

    fn count(&mut self, response: Result<String>) {
        self.requests += 1;
        match response {
            Ok(pod) => *self.by_backend.entry(pod).or_default() += 1,
            Err(error) => {
                self.failed += 1;
                if self.errors.len() < ERRORS {
                    self.errors.push(error.to_string());
                }
            }
        }
    }
}

async fn client(
    addr: SocketAddr,
    path: &str,
    counted: Arc<Mutex<TrafficReport>>,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        let response = within(TURNS, TURN, request(addr, path)).await;
        lock(&counted).count(response.unwrap_or_else(|| Err(ErrorKind::TimedOut.into())));
        sleep(PAUSE).await;
    }
}

/// The output, unless it takes more turns of this runtime. What waits for others that share the runtime
/// gets no fewer turns than this does.
async fn within<T>(turns: u32, turn: Duration, future: impl Future<Output = T>) -> Option<T> {
    let limit = async {
        for _ in 0..turns {
            sleep(turn).await;
        }
    };
    tokio::select! {
        biased;
        output = future => Some(output),
        () = limit => None,
    }
}

/// Sends a request on a connection of its own, as the load balancer chooses a backend for each
/// connection. Returns the name of the pod that has responded.
async fn request(addr: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(addr).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    stream.take(LIMIT).read_to_string(&mut response).await?;
    pod_of(&response).map_err(|why| Error::other(format!("GET {path}: {why}")))
}

/// The pod in the head of a complete response with the status 200.
fn pod_of(response: &str) -> std::result::Result<String, String> {
    let Some((head, body)) = response.split_once("\r\n\r\n") else {
        return Err(format!("{} bytes of a response", response.len()));
    };
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(status.to_owned());
    }
    let headers: BTreeMap<String, &str> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    if headers.get("content-length").and_then(|it| it.parse().ok()) != Some(body.len()) {
        return Err(format!("{} bytes of a body", body.len()));
    }
    let pod = headers.get("x-pod-name");
    pod.map(|pod| (*pod).to_owned())
        .ok_or_else(|| "no pod has responded".to_owned())
}

fn lock(counted: &Mutex<TrafficReport>) -> MutexGuard<'_, TrafficReport> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_responses_of_pods_count() {
        let response = |head: &str| format!("{head}\r\n\r\nhello");
        let good = "HTTP/1.1 200 OK\r\nX-Pod-Name: my-pod-0\r\nContent-Length: 5";
        assert_eq!(pod_of(&response(good)).unwrap(), "my-pod-0");
        for (bad, why) in [
            (String::new(), "0 bytes of a response"),
            (
                response("HTTP/1.1 503 Unavailable"),
                "HTTP/1.1 503 Unavailable",
            ),
            (
                response("HTTP/1.1 200 OK\r\ncontent-length: 6"),
                "5 bytes of a body",
            ),
            (response("HTTP/1.1 200 OK"), "5 bytes of a body"),
            (
                response("HTTP/1.1 200 OK\r\ncontent-length: 5"),
                "no pod has responded",
            ),
        ] {
            assert_eq!(pod_of(&bad).unwrap_err(), why);
        }
    }

    /// On a busy machine each step of a request may take longer than its limit.
    #[tokio::test]
    async fn a_request_has_its_turns_however_long_they_take() {
        let (turns, turn) = (20, Duration::from_millis(1));
        let starved = async {
            for _ in 0..5 {
                std::thread::sleep(turn * 2 * turns);
                tokio::task::yield_now().await;
            }
        };
        assert_eq!(within(turns, turn, starved).await, Some(()));
        assert_eq!(
            within(turns, turn, std::future::pending::<()>()).await,
            None
        );
    }

    #[test]
    fn the_difference_is_what_was_counted_since() {
        let mut counted = TrafficReport::default();
        counted.count(Ok("a".into()));
        counted.count(Err(Error::other("first")));
        let before = counted.clone();
        counted.count(Ok("b".into()));
        counted.count(Err(Error::other("second")));
        let since = counted.since(&before);
        assert_eq!((since.requests, since.failed), (2, 1));
        assert_eq!(since.by_backend, BTreeMap::from([("b".into(), 1)]));
        assert_eq!(since.errors, ["second"]);
    }
}
