//! Clients that send HTTP requests through load balancers: those of the demo, and those that the page switches on.

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

/// The number of clients, each of which sends one request at a time.
const CLIENTS: u32 = 8;
/// The limit of a response, in turns: 20 s, but longer where the machine is too busy to run this process.
const TURNS: u32 = 200;
/// The least time of a turn.
const TURN: Duration = Duration::from_millis(100);
/// The largest response, in bytes.
const LIMIT: u64 = 1 << 20;
/// The most failures that are reported in words.
const ERRORS: usize = 5;
/// The most characters that are kept of a failure or a name.
const LENGTH: usize = 200;
/// The most names of backends whose responses are counted apart.
const NAMES: usize = 2000;

/// The requests of the clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrafficReport {
    /// The number of requests.
    pub requests: u64,
    /// The requests that got no response with the status 200, or not all of its body.
    pub failed: u64,
    /// The number of responses by the name of the pod, of those that have the header `X-Pod-Name`.
    pub by_backend: BTreeMap<String, u64>,
    /// The messages of the first five failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// Clients that send requests until [`stop`](Self::stop), or until this is dropped.
#[derive(Debug)]
pub struct LoadGenerator {
    /// The most requests in a second.
    pub(crate) rate: u32,
    counted: Arc<Mutex<TrafficReport>>,
    stop: CancellationToken,
    clients: JoinSet<()>,
}

impl LoadGenerator {
    /// Sends at most `rate` requests in a second. Each of eight clients asks `next`, with its number, for the address
    /// and path of its request, if there is one.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(
        rate: u32,
        next: impl Fn(usize) -> Option<(SocketAddr, String)> + Send + Sync + 'static,
    ) -> Self {
        let (counted, next) = (Arc::<Mutex<TrafficReport>>::default(), Arc::new(next));
        let stop = CancellationToken::new();
        let pause = Duration::from_secs(1) / rate.max(1);
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let (counted, next) = (Arc::clone(&counted), Arc::clone(&next));
            let stop = stop.clone();
            clients.spawn(async move {
                // Not all at once.
                sleep(pause * number).await;
                while !stop.is_cancelled() {
                    if let Some((addr, path)) = next(number as usize) {
                        let response = within(TURNS, TURN, request(addr, &path)).await;
                        let late = || Err(ErrorKind::TimedOut.into());
                        lock(&counted).count(response.unwrap_or_else(late));
                    }
                    sleep(pause * CLIENTS).await;
                }
            });
        }
        Self {
            rate,
            counted,
            stop,
            clients,
        }
    }

    /// The requests so far.
    #[must_use]
    pub fn report(&self) -> TrafficReport {
        lock(&self.counted).clone()
    }

    /// Waits for what was sent last.
    pub async fn stop(mut self) -> TrafficReport {
        self.stop.cancel();
        while self.clients.join_next().await.is_some() {}
        self.report()
    }
}

impl TrafficReport {
    /// The requests since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
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

    fn count(&mut self, response: Result<Option<String>>) {
        self.requests += 1;
        match response {
            Ok(Some(pod)) if self.by_backend.len() < NAMES => {
                *self.by_backend.entry(pod).or_default() += 1;
            }
            Ok(_) => {}
            Err(error) => {
                self.failed += 1;
                if self.errors.len() < ERRORS {
                    self.errors.push(cut(&error.to_string()));
                }
            }
        }
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
/// connection. Returns the name of the pod that has responded, if it says so.
async fn request(addr: SocketAddr, path: &str) -> Result<Option<String>> {
    let mut stream = TcpStream::connect(addr).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.take(LIMIT).read_to_end(&mut response).await?;
    pod_of(&response).map_err(|why| Error::other(format!("GET {path}: {why}")))
}

/// The pod in the head of a complete response with the status 200.
fn pod_of(response: &[u8]) -> std::result::Result<Option<String>, String> {
    let end = response.windows(4).position(|it| it == b"\r\n\r\n");
    let Some((head, body)) = end.map(|end| response.split_at(end)) else {
        return Err(format!("{} bytes of a response", response.len()));
    };
    let (head, body) = (String::from_utf8_lossy(head), &body[4..]);
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(status.to_owned());
    }
    let headers: BTreeMap<String, &str> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    let length = headers.get("content-length").map(|it| it.parse());
    if length.is_some_and(|length| length != Ok(body.len())) {
        return Err(format!("{} bytes of a body", body.len()));
    }
    Ok(headers.get("x-pod-name").map(|pod| cut(pod)))
}

fn cut(text: &str) -> String {
    text.chars().take(LENGTH).collect()
}

fn lock(counted: &Mutex<TrafficReport>) -> MutexGuard<'_, TrafficReport> {
    counted.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_responses_of_pods_count() {
        let response = |head: &str| format!("{head}\r\n\r\nhello").into_bytes();
        let good = "HTTP/1.1 200 OK\r\nX-Pod-Name: my-pod-0\r\nContent-Length: 5";
        assert_eq!(pod_of(&response(good)).unwrap().unwrap(), "my-pod-0");
        assert_eq!(pod_of(&response("HTTP/1.1 200 OK")), Ok(None));
        for (bad, why) in [
            (Vec::new(), "0 bytes of a response"),
            (
                response("HTTP/1.1 503 Unavailable"),
                "HTTP/1.1 503 Unavailable",
            ),
            (
                response("HTTP/1.1 200 OK\r\ncontent-length: 6"),
                "5 bytes of a body",
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
        counted.count(Ok(Some("a".into())));
        counted.count(Err(Error::other("first")));
        let before = counted.clone();
        counted.count(Ok(Some("b".into())));
        counted.count(Err(Error::other("second")));
        let since = counted.since(&before);
        assert_eq!((since.requests, since.failed), (2, 1));
        assert_eq!(since.by_backend, BTreeMap::from([("b".into(), 1)]));
        assert_eq!(since.errors, ["second"]);
    }
}
