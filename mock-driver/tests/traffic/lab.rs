//! A cloud with a data plane, and backends to forward to.

use axum::Router;
use axum::extract::Request;
use axum::routing::any;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::{
    AddressMode, Cloud, Creation, Endpoint, ListenerProtocol, ListenerTraffic, LoadBalancerType,
    NewLoadBalancer, Rule, Target, Traffic, TrafficOptions,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How long a test waits for what must happen.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

pub(super) struct Lab {
    pub(super) cloud: Cloud,
    pub(super) traffic: Option<Traffic>,
    created: std::cell::Cell<usize>,
}

impl Lab {
    /// With a drain time that no test waits for.
    pub(super) fn new() -> Self {
        Self::with(TrafficOptions {
            drain_time: Duration::from_secs(3600),
            ..TrafficOptions::default()
        })
    }

    pub(super) fn with_drain_time(drain_time: Duration) -> Self {
        Self::with(TrafficOptions {
            drain_time,
            ..TrafficOptions::default()
        })
    }

    pub(super) fn shared() -> Self {
        Self::with(TrafficOptions {
            addresses: AddressMode::Shared,
            ..TrafficOptions::default()
        })
    }

    pub(super) fn with(options: TrafficOptions) -> Self {
        let cloud = Cloud::empty();
        Self {
            traffic: Some(Traffic::start(&cloud, options)),
            cloud,
            created: std::cell::Cell::new(0),
        }
    }

    pub(super) fn create(&self, protocol: ListenerProtocol, port: u16) -> Endpoint {
        let rule = protocol.has_rules().then(|| Rule::new(None, None));
        self.create_with(protocol, port, rule)
    }

    pub(super) fn create_with(
        &self,
        protocol: ListenerProtocol,
        port: u16,
        rule: Option<Rule>,
    ) -> Endpoint {
        let desired = NewLoadBalancer {
            vpc: "vpc-1".into(),
            kind: LoadBalancerType::Open,
            protocol,
            port,
            rule,
        };
        self.created.set(self.created.get() + 1);
        let token = format!("createLoadBalancer({})", self.created.get());
        let created = self
            .cloud
            .create(&token, desired, StringMap::new(), Duration::ZERO);
        let Creation::Done(endpoint) = created.unwrap() else {
            unreachable!("it takes no time");
        };
        endpoint
    }

    pub(super) fn bind(&self, endpoint: &Endpoint, address: impl ToString, weight: u8) {
        let target = Target {
            weight,
            parameters: StringMap::new(),
            record_id: None,
        };
        let address = address.to_string();
        self.cloud.bind(endpoint, &address, target).unwrap();
    }

    pub(super) fn unbind(&self, endpoint: &Endpoint, address: impl ToString) {
        assert!(self.cloud.unbind(endpoint, &address.to_string()).unwrap());
    }

    pub(super) fn listener(&self, endpoint: &Endpoint) -> ListenerTraffic {
        let traffic = self.cloud.traffic();
        let listeners = &traffic[&endpoint.load_balancer].listeners;
        let found = listeners.iter().find(|it| it.id == endpoint.listener);
        found.unwrap().clone()
    }

    pub(super) fn addr(&self, endpoint: &Endpoint) -> SocketAddr {
        let listener = self.listener(endpoint);
        assert_eq!(listener.error, None);
        listener.listens.unwrap()
    }

    /// What is still open on the listener and its backends.
    pub(super) async fn until_nothing_is_open(&self, endpoint: &Endpoint) {
        until("nothing is open", async || {
            let listener = self.listener(endpoint);
            let backends = listener.backends.iter().map(|it| it.counts.open);
            listener.counts.open + backends.sum::<u64>() == 0
        })
        .await;
    }
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !condition().await {
        assert!(started.elapsed() < DEADLINE, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A server that ends with the test.
pub(super) struct Server {
    pub(super) addr: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

/// Handles each connection in a task.
pub(super) async fn server<F>(handle: impl Fn(TcpStream) -> F + Send + 'static) -> Server
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let (listener, addr) = listener().await;
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(handle(stream));
        }
    });
    Server { addr, task }
}

/// Sends its name of one byte, then everything that it receives.
pub(super) async fn echo(name: u8) -> Server {
    server(move |mut stream| async move {
        stream.write_all(&[name]).await?;
        let (mut from, mut to) = stream.split();
        tokio::io::copy(&mut from, &mut to).await.map(drop)
    })
    .await
}

/// Responds with its name and what it was asked. `/hold` waits for `release`.
pub(super) async fn http(name: &'static str) -> Server {
    http_that(name, || async {}).await
}

pub(super) async fn http_that<F>(
    name: &'static str,
    release: impl Fn() -> F + Clone + Send + Sync + 'static,
) -> Server
where
    F: Future<Output = ()> + Send,
{
    let (listener, addr) = listener().await;
    let respond = async move |request: Request| {
        let (head, body) = request.into_parts();
        if head.uri.path() == "/hold" {
            release().await;
        }
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let headers = head.headers.iter();
        let headers: BTreeMap<_, _> = headers
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()))
            .collect();
        json!({
            "name": name, "method": head.method.as_str(), "uri": head.uri.to_string(),
            "headers": headers, "body": String::from_utf8_lossy(&body),
        })
        .to_string()
    };
    let router = Router::new().fallback(any(respond));
    let task = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    Server { addr, task }
}

/// An address that refuses connections.
pub(super) async fn refusing() -> SocketAddr {
    listener().await.1
}

/// Connects, and reads the name of the backend.
pub(super) async fn connect(addr: SocketAddr) -> (TcpStream, char) {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let name = stream.read_u8().await.unwrap();
    (stream, name.into())
}

/// The names of the backends of so many connections.
pub(super) async fn names(addr: SocketAddr, count: usize) -> BTreeMap<char, usize> {
    let mut names = BTreeMap::new();
    for _ in 0..count {
        *names.entry(connect(addr).await.1).or_default() += 1;
    }
    names
}

/// Whether bytes still go through.
pub(super) async fn is_alive(stream: &mut TcpStream) -> bool {
    if stream.write_all(b"x").await.is_err() {
        return false;
    }
    matches!(stream.read_u8().await, Ok(b'x'))
}
