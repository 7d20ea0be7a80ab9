//! The program in the containers of a pod.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use serde_json::{Map, Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::controllers::pods::node_name;
use crate::object::{self, Object};

/// The longest delay of `/slow`.
const LONGEST: Duration = Duration::from_secs(600);
/// Names the pod, for clients that count.
const POD_HEADER: &str = "x-pod-name";

#[derive(Debug)]
pub(super) struct PodProgram {
    namespace: String,
    name: String,
    node: String,
    header: Option<HeaderValue>,
    is_ready: AtomicBool,
}

impl PodProgram {
    pub(super) fn new(pod: &Object) -> Self {
        let name = object::name(pod);
        Self {
            namespace: object::namespace(pod).to_owned(),
            name: name.to_owned(),
            node: node_name(pod).unwrap_or_default().to_owned(),
            header: HeaderValue::from_str(name).ok(),
            is_ready: AtomicBool::new(true),
        }
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
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
