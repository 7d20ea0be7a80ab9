//! The server of a port of a pod, and the program in its containers.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::controllers::pods::node_name;
use crate::object::{self, Object};

/// Added to ports below 1024, where binding them needs privileges.
const PORT_OFFSET: u16 = 8000;
/// The largest number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// The largest number of connections of a port; further ones wait.
const CONNECTIONS: usize = 1024;
/// The time for a request's head, and for a connection without a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// The least time of a turn.
const TURN: Duration = Duration::from_millis(10);
/// The turns for requests that were begun when the pod ends: 1 s, but longer where the machine is too busy to run this process.
const LAST_REQUESTS: u32 = 100;
/// Those of them in which a client that has connected may send its first request.
const FIRST_REQUEST: u32 = 50;
/// The pause of accepting when the operating system refuses.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The bytes of a head that are kept in memory.
const HEAD_BUFFER: usize = 16 << 10;

/// Listens on a port of a pod.
pub(super) fn bind(ip: Ipv4Addr, port: u16) -> io::Result<TcpListener> {
    let bind = |port| {
        let socket = TcpSocket::new_v4()?;
        // A pod of an earlier process has the same address.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from((ip, port)))?;
        socket.listen(BACKLOG)
    };
    match bind(port) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && port < 1024 => {
            bind(port + PORT_OFFSET)
        }
        result => result,
    }
}

/// Serves until `stop`. A client that has connected before the port is closed is answered.
pub(super) async fn serve(
    listener: TcpListener,
    program: Arc<PodProgram>,
    stop: CancellationToken,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = connections.join_next(), if connections.len() >= CONNECTIONS => continue,
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(serve_connection(stream, Arc::clone(&program), stop.clone()));
            }
            Err(error) => {
                tracing::debug!(%error, "a pod cannot accept connections");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    for stream in last_connections(listener) {
        connections.spawn(serve_connection(stream, Arc::clone(&program), stop.clone()));
    }
    let all = async { while connections.join_next().await.is_some() {} };
    tokio::select! {
        () = all => {}
        () = turns(LAST_REQUESTS) => {}
    }
}

/// Closes the port. The operating system resets connections that were not accepted, so all that wait are
/// accepted first: with its own call, because the runtime learns of a new connection only later.
fn last_connections(listener: TcpListener) -> Vec<TcpStream> {
    let Ok(listener) = listener.into_std() else {
        return Vec::new();
    };
    let waiting = std::iter::from_fn(|| listener.accept().ok());
    let streams = waiting.take(BACKLOG as usize).filter_map(|(stream, _)| {
        stream.set_nonblocking(true).ok()?;
        TcpStream::from_std(stream).ok()
    });
    streams.collect()
}

async fn serve_connection(stream: TcpStream, program: Arc<PodProgram>, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let (program, closes, begun) = (&program, &stop, &Notify::new());
    let service = service_fn(move |request| async move {
        begun.notify_one();
        Ok::<_, Infallible>(program.respond(request, local, closes).await)
    });
    let closing = async {
        stop.cancelled().await;
        // The first request of a client that has just connected is on its way.
        tokio::select! {
            () = begun.notified() => {}
            () = turns(FIRST_REQUEST) => {}
        }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to a pod ended early");
    }
}

/// Waits for so many turns of this runtime. Clients that share it get no fewer.
async fn turns(count: u32) {
    for _ in 0..count {
        sleep(TURN).await;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A busy machine runs something else for longer than all turns last.
    #[tokio::test]
    async fn a_client_that_has_connected_has_its_turns_for_the_first_request() {
        let listener = bind(Ipv4Addr::LOCALHOST, 0).unwrap();
        let addr = listener.local_addr().unwrap();
        let pod = json!({"metadata": {"namespace": "ns", "name": "web-0"}});
        let program = Arc::new(PodProgram::new(pod.as_object().unwrap()));
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, program, stop.clone()));
        let mut client = TcpStream::connect(addr).await.unwrap();
        stop.cancel();
        turns(2).await;
        std::thread::sleep(TURN * 2 * LAST_REQUESTS);
        turns(2).await;
        let request = b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n";
        client.write_all(request).await.unwrap();
        let mut response = String::new();
        client.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        serving.await.unwrap();
    }
}
