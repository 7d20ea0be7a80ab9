//! What a pod's program responds.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use serde_json::{Map, Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The longest delay of `/slow`.
const LONGEST: Duration = Duration::from_secs(600);
/// Names the pod, for clients that count.
const POD_HEADER: &str = "x-pod-name";

/// The program in the containers of a pod.
#[derive(Debug)]
pub(super) struct PodProgram {
    namespace: String,
    name: String,
    node: String,
    ip: Ipv4Addr,
    header: Option<HeaderValue>,
    is_ready: AtomicBool,
    exits: Mutex<Exits>,
}

/// How a client ends the program.
#[derive(Debug, Clone, Default)]
pub(super) struct Exits {
    code: Arc<OnceLock<i64>>,
    exit: CancellationToken,
}

impl Exits {
    pub(super) fn code(&self) -> Option<i64> {
        self.code.get().copied()
    }
}

impl PodProgram {
    pub(super) fn new(namespace: &str, name: &str, node: &str, ip: Ipv4Addr) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            node: node.to_owned(),
            ip,
            header: HeaderValue::from_str(name).ok(),
            is_ready: AtomicBool::new(true),
            exits: Mutex::default(),
        }
    }

    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    /// The next run of the program, which ends when this is cancelled.
    pub(super) fn exits(&self, exit: CancellationToken) -> Exits {
        let exits = Exits {
            code: Arc::default(),
            exit,
        };
        self.lock().clone_from(&exits);
        exits
    }

    /// Responds to a request, at the latest when the connection `closes`.
    pub(super) async fn respond<B>(
        &self,
        request: Request<B>,
        local: SocketAddr,
        closes: &CancellationToken,
    ) -> Response<Full<Bytes>> {
        let query = request.uri().query().unwrap_or_default();
        let (status, body) = match request.uri().path() {
            "/healthz" => match self.is_ready.load(Ordering::Relaxed) {
                true => (StatusCode::OK, json!({"ready": true})),
                false => (StatusCode::SERVICE_UNAVAILABLE, json!({"ready": false})),
            },
            "/slow" => match number(query, "ms", 1000) {
                Ok(ms) => {
                    let delay = Duration::from_millis(ms).min(LONGEST);
                    tokio::select! {
                        () = sleep(delay) => {}
                        () = closes.cancelled() => {}
                    }
                    (StatusCode::OK, self.describe(&request, local))
                }
                Err(error) => (StatusCode::BAD_REQUEST, json!({"error": error})),
            },
            "/exit" => match number(query, "code", 1) {
                Ok(code @ 0..=255) => {
                    let exits = self.lock().clone();
                    _ = exits.code.set(i64::try_from(code).unwrap_or(1));
                    exits.exit.cancel();
                    (StatusCode::OK, json!({"pod": self.name, "exitCode": code}))
                }
                Ok(code) => {
                    let error = format!("code: {code}: not a number from 0 to 255");
                    (StatusCode::BAD_REQUEST, json!({"error": error}))
                }
                Err(error) => (StatusCode::BAD_REQUEST, json!({"error": error})),
            },
            _ => (StatusCode::OK, self.describe(&request, local)),
        };
        let mut response = Response::new(Full::from(format!("{body}\n")));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(header::CONTENT_TYPE, json);
        if let Some(name) = &self.header {
            headers.insert(POD_HEADER, name.clone());
        }
        response
    }

    fn describe<B>(&self, request: &Request<B>, local: SocketAddr) -> Value {
        json!({
            "pod": self.name, "namespace": self.namespace, "node": self.node,
            "address": local.to_string(), "method": request.method().as_str(),
            "uri": request.uri().to_string(), "headers": headers(request.headers()),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Exits> {
        self.exits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .keys()
        .map(|name| {
            let values: Vec<_> = headers.get_all(name).iter().map(text).collect();
            (name.as_str().to_owned(), values.join(", ").into())
        })
        .collect()
}

/// A number in a query.
fn number(query: &str, key: &str, default: u64) -> Result<u64, String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    match pairs.find(|(name, _)| *name == key) {
        None => Ok(default),
        Some((_, value)) => value
            .parse()
            .map_err(|_| format!("{key}: {value:?}: not a whole number")),
    }
}
