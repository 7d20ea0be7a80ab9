//! The server over its socket.

use super::*;
use crate::controller::Controller;
use crate::process::leader::Leadership;
use crate::process::options::Options;
use lbcf_serving::listener::Limits;
use local_cluster::{LocalCluster, LocalClusterOptions};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const KINDS: [&str; 9] = [
    "LoadBalancerDriver",
    "LoadBalancer",
    "BackendGroup",
    "BackendRecord",
    "Bind",
    "Pod",
    "Service",
    "Node",
    "EndpointSlice",
];

struct Served {
    _cluster: LocalCluster,
    health: Health,
    addr: SocketAddr,
    server: JoinHandle<()>,
}

impl Served {
    /// A controller that does not run yet.
    async fn new() -> Self {
        Self::with(limits()).await
    }

    async fn with(limits: Limits) -> Self {
        let cluster = LocalCluster::start(LocalClusterOptions::default())
            .await
            .unwrap();
        let health = Controller::new(cluster.client(), Options::default()).health();
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut server = HealthServer::bind(anywhere).await.unwrap();
        server.limits = limits;
        let addr = server.addr();
        assert_ne!(addr.port(), 0);
        let server = tokio::spawn(server.serve(health.clone()));
        Self {
            _cluster: cluster,
            health,
            addr,
            server,
        }
    }

    async fn get(&self, path: &str) -> (u16, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .await
    }

    /// Waits until a request is served: on a busy machine it may miss a short limit, too.
    async fn is_healthy(&self) {
        let serving = async { while self.get("/healthz").await != (200, "ok".into()) {} };
        let served = timeout(Duration::from_secs(60), serving).await;
        served.expect("a healthy response");
    }

    /// Sends something and gives status and body of the answer; 0 where there is none.
    async fn send(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        // A server that has heard enough may hang up on what is still being sent.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = String::new();
        let _ = timeout(Duration::from_secs(30), stream.read_to_string(&mut answer))
            .await
            .expect("the connection ends");
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or_default();
        (
            status,
            answer
                .split_once("\r\n\r\n")
                .map(|(_, body)| body.to_owned())
                .unwrap_or_default(),
        )
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.abort();
    }
}

#[tokio::test]
async fn b146_healthz_is_ok_until_something_broke() {
    let served = Served::new().await;
    assert_eq!(served.get("/healthz").await, (200, "ok".into()));
    served.health.state.failed("watching broke off");
    assert_eq!(
        served.get("/healthz").await,
        (500, "watching broke off".into())
    );
}

#[tokio::test]
async fn readyz_waits_for_every_kind_and_names_them() {
    let served = Served::new().await;
    assert_eq!(KINDS.len(), crate::cluster::WATCHED_KINDS);
    assert_eq!(
        served.get("/readyz").await,
        (
            503,
            "the index is not complete: 0 of 9 kinds are listed (none)".into()
        )
    );
    for kind in &KINDS[1..] {
        served.health.state.listed(kind);
    }
    let (status, reason) = served.get("/readyz").await;
    assert_eq!(status, 503);
    assert!(
        reason
            .ends_with("8 of 9 kinds are listed (BackendGroup, BackendRecord, Bind, EndpointSlice, LoadBalancer, Node, Pod, Service)"),
        "{reason}"
    );
    served.health.state.listed(KINDS[0]);
    assert_eq!(
        served.get("/readyz").await,
        (200, "ok".into()),
        "whether it leads or not"
    );
    served.health.state.stopping();
    assert_eq!(served.get("/readyz").await.0, 503);
    assert_eq!(served.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn b143_b146_metrics_are_counted_when_they_are_asked_for() {
    let served = Served::new().await;
    let (status, text) = served.get("/metrics").await;
    assert_eq!(status, 200);
    assert!(text.contains("lbcf_leader 0\n"), "{text}");
    assert!(
        text.contains("pending_key{key_kind=\"BackendGroup\"} 0\n"),
        "{text}"
    );
    let (leadership, receiver) = watch::channel(Leadership::Leader);
    served.health.state.election_started(receiver);
    let group = crate::index::RequestKey::Group(crate::api::ObjectKey::new("ns", "g"));
    served
        .health
        .context
        .queue
        .add([crate::index::Request::normal(group)]);
    let (_, text) = served.get("/metrics").await;
    assert!(text.contains("lbcf_leader 1\n"), "{text}");
    assert!(
        text.contains("pending_key{key_kind=\"BackendGroup\"} 1\n"),
        "{text}"
    );
    leadership.send_replace(Leadership::Follower { holder: None });
    assert!(served.get("/metrics").await.1.contains("lbcf_leader 0\n"));
}

#[tokio::test]
async fn u49_nothing_else_is_served() {
    let served = Served::new().await;
    for path in ["/", "/debug/pprof/", "/debug/pprof/heap", "/metrics/x"] {
        assert_eq!(served.get(path).await.0, 404, "{path}");
    }
    let post = "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
    assert_eq!(served.send(post).await.0, 405);
}

#[tokio::test]
async fn d103_pages_of_other_sites_are_refused() {
    let served = Served::new().await;
    for (path, served_status) in [("/healthz", 200), ("/metrics", 200), ("/none", 404)] {
        for (headers, names) in [
            ("Host: evil.example", "Host: \"evil.example\": "),
            ("Host: a\r\nOrigin: null", "Host: \"a\": "),
            ("Host: localhost\r\nOrigin: null", "Origin: \"null\": "),
            (
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Site: \"cross-site\": ",
            ),
        ] {
            let request = format!("GET {path} HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n");
            let (status, why) = served.send(&request).await;
            assert_eq!(status, 403, "{path} {headers}");
            assert!(why.starts_with(names), "{why}");
        }
        assert_eq!(served.get(path).await.0, served_status, "{path}");
    }
}

#[tokio::test]
async fn what_is_no_request_does_no_harm() {
    let served = Served::new().await;
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(200_000));
    for nonsense in ["GET\r\n\r\n", "\u{16}\u{3}\u{1} not http\r\n\r\n", &long] {
        let (status, _) = served.send(nonsense).await;
        assert!(!(200..300).contains(&status), "{status}");
    }
    assert_eq!(served.get("/healthz").await.0, 200);
}

#[tokio::test]
async fn clients_that_say_nothing_make_room_for_others() {
    let served = Served::with(Limits {
        connections: 2,
        head: Duration::from_secs(600),
        idle: Duration::from_millis(50),
        lifetime: None,
        ..limits()
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..5 {
        idle.push(TcpStream::connect(served.addr).await.unwrap());
    }
    served.is_healthy().await;
}

#[tokio::test]
async fn d104_probes_are_answered_while_strangers_hold_connections() {
    let hour = Duration::from_secs(3600);
    let served = Served::with(Limits {
        head: hour,
        idle: hour,
        lifetime: None,
        ..limits()
    })
    .await;
    let mut strangers = Vec::new();
    for sent in [
        "",
        "GET /healthz HTTP/1.1\r\nHo",
        "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        for _ in 0..300 {
            let mut stranger = TcpStream::connect(served.addr).await.unwrap();
            // One of those before may have been closed for it.
            let _ = stranger.write_all(sent.as_bytes()).await;
            strangers.push(stranger);
        }
        served.is_healthy().await;
    }
}

#[tokio::test]
async fn clients_that_send_without_end_make_room_for_others() {
    let served = Served::with(Limits {
        connections: 1,
        head: Duration::from_secs(600),
        idle: Duration::from_secs(600),
        lifetime: Some(Duration::from_millis(100)),
        ..limits()
    })
    .await;
    let mut slow = TcpStream::connect(served.addr).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nX: ")
        .await
        .unwrap();
    let dripping = tokio::spawn(async move {
        while slow.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    served.is_healthy().await;
    dripping.abort();
}
