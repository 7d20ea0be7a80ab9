//! Peers that are slow, silent, many, or no peers at all.

use super::fixture::{NAME, call, connect, eventually, request};
use crate::serving::certificates::tests::first;
use crate::serving::certificates::{Bundle, Found};
use crate::serving::https::{Limits, serve};
use crate::serving::reload::{self, CurrentCertificate};
use axum::Router;
use axum::routing::get;
use jiff::Timestamp;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(50);
/// Far longer than anything takes here that is not waited for.
const SOON: Duration = Duration::from_secs(5);

/// Limits that no test meets by accident.
const WIDE: Limits = Limits {
    connections: 64,
    handshake: LONG,
    head: LONG,
    request: LONG,
    age: LONG,
    finish: LONG,
};

struct Running {
    addr: SocketAddr,
    bundle: Bundle,
    /// How many requests to `/slow` have come.
    asked: Arc<Notify>,
    /// Lets one request to `/slow` go on.
    answer: Arc<Notify>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(limits: Limits) -> Self {
        let bundle = first(Timestamp::now());
        let current = CurrentCertificate::none();
        current.replace(Found::read(&bundle).server().unwrap());
        let tls = Arc::new(reload::tls(current).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, wait) = (Arc::clone(&asked), Arc::clone(&answer));
        let slow = || async move {
            tell.notify_one();
            wait.notified().await;
            "answer"
        };
        #[expect(unreachable_code)]
        let panics = || async {
            panic!("on purpose");
            "answer"
        };
        let router = Router::new()
            .route("/", get(|| async { "answer" }))
            .route("/slow", get(slow))
            .route("/panic", get(panics));
        let (stop, stopped) = oneshot::channel();
        let stopped = async { drop(stopped.await) };
        let task = tokio::spawn(serve(listener, tls, router, limits, stopped));
        Self {
            addr,
            bundle,
            asked,
            answer,
            stop,
            task,
        }
    }

    async fn call(&self) -> io::Result<String> {
        timeout(SOON, call(self.addr, &self.bundle.cas)).await?
    }

    async fn connect(&self) -> tokio_rustls::client::TlsStream<TcpStream> {
        connect(self.addr, &self.bundle.cas).await.unwrap()
    }
}

/// Whether the other side ends the connection in time, one way or another.
async fn ends(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> bool {
    let mut rest = Vec::new();
    timeout(SOON, stream.read_to_end(&mut rest)).await.is_ok()
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let server = Running::start(WIDE).await;
    let mut connection = server.connect().await;
    for _ in 0..10 {
        let answer = request(&mut connection, "/").await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test]
async fn tls_1_2_and_1_3_are_served() {
    let server = Running::start(WIDE).await;
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let mut roots = RootCertStore::empty();
        let ca = pem::parse(&server.bundle.cas).unwrap().into_contents();
        roots.add(ca.into()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(server.addr).await.unwrap();
        let mut stream = TlsConnector::from(Arc::new(config))
            .connect(super::fixture::name(), stream)
            .await
            .unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        request(&mut stream, "/").await.unwrap();
    }
}

#[tokio::test]
async fn garbage_harms_nobody() {
    let server = Running::start(WIDE).await;
    let mut open = server.connect().await;
    let huge_record = [&[22, 3, 1, 0xff, 0xff][..], &[0; 70_000]].concat();
    for garbage in [
        b"GET / HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        vec![0; 100_000],
        huge_record,
    ] {
        let mut peer = TcpStream::connect(server.addr).await.unwrap();
        let _ = peer.write_all(&garbage).await;
        assert!(ends(&mut peer).await);
        server.call().await.unwrap();
    }
    // The same inside TLS.
    for garbage in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        [b"GET / HTTP/1.1\r\nx: ", &[b'x'; 200_000][..]].concat(),
    ] {
        let mut peer = server.connect().await;
        let _ = peer.write_all(&garbage).await;
        assert!(ends(&mut peer).await);
    }
    // Whoever is gone in the middle of it all.
    for _ in 0..50 {
        drop(TcpStream::connect(server.addr).await.unwrap());
    }
    server.call().await.unwrap();
    request(&mut open, "/").await.unwrap();
}

#[tokio::test]
async fn a_handler_that_panics_ends_its_connection_only() {
    let server = Running::start(WIDE).await;
    let mut open = server.connect().await;
    let mut connection = server.connect().await;
    request(&mut connection, "/panic").await.unwrap_err();
    request(&mut open, "/").await.unwrap();
    server.call().await.unwrap();
}

#[tokio::test]
async fn a_slow_handshake_keeps_nobody_waiting() {
    let server = Running::start(WIDE).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(server.addr).await.unwrap());
    }
    // One has begun, and goes no further.
    silent[0].write_all(&[22, 3, 1]).await.unwrap();
    server.call().await.unwrap();
}

#[tokio::test]
async fn a_slow_handshake_ends() {
    let server = Running::start(Limits {
        handshake: SHORT,
        ..WIDE
    })
    .await;
    let mut silent = TcpStream::connect(server.addr).await.unwrap();
    assert!(ends(&mut silent).await);
}

#[tokio::test]
async fn a_slow_head_ends() {
    let server = Running::start(Limits {
        head: SHORT,
        ..WIDE
    })
    .await;
    for begun in ["", "GET / HTTP/1.1\r\nho"] {
        let mut connection = server.connect().await;
        connection.write_all(begun.as_bytes()).await.unwrap();
        assert!(ends(&mut connection).await);
    }
}

#[tokio::test]
async fn a_slow_request_is_answered_with_an_error() {
    let server = Running::start(Limits {
        request: SHORT,
        ..WIDE
    })
    .await;
    let mut connection = server.connect().await;
    let head = format!("GET /slow HTTP/1.1\r\nhost: {NAME}\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, connection.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
}

#[tokio::test]
async fn silent_peers_keep_nobody_out() {
    let server = Running::start(Limits {
        connections: 4,
        ..WIDE
    })
    .await;
    let mut silent = Vec::new();
    for number in 0..20 {
        silent.push(TcpStream::connect(server.addr).await.unwrap());
        if number % 5 == 0 {
            server.call().await.unwrap();
        }
    }
    server.call().await.unwrap();
}

#[tokio::test]
async fn idle_peers_keep_nobody_out_and_the_one_that_came_first_goes_first() {
    let server = Running::start(Limits {
        connections: 3,
        ..WIDE
    })
    .await;
    let mut idle = Vec::new();
    for path in ["/", "/", "/"] {
        let mut connection = server.connect().await;
        request(&mut connection, path).await.unwrap();
        idle.push(connection);
    }
    let mut fourth = server.connect().await;
    request(&mut fourth, "/").await.unwrap();
    assert!(ends(&mut idle[0]).await);
    request(&mut idle[1], "/").await.unwrap();
    request(&mut idle[2], "/").await.unwrap();
}

#[tokio::test]
async fn a_request_under_way_is_answered_even_when_places_are_short() {
    let server = Running::start(Limits {
        connections: 1,
        ..WIDE
    })
    .await;
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    let waiting = tokio::spawn(call(server.addr, server.bundle.cas.clone().leak()));
    server.answer.notify_one();
    calling.await.unwrap().unwrap();
    timeout(SOON, waiting).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn an_old_connection_is_told_to_end_with_an_answer() {
    let age = Duration::from_millis(300);
    let server = Running::start(Limits { age, ..WIDE }).await;
    let mut connection = server.connect().await;
    let start = Instant::now();
    while !request(&mut connection, "/")
        .await
        .unwrap()
        .contains("connection: close")
    {
        assert!(start.elapsed() < SOON);
    }
    assert!(start.elapsed() >= age);
    assert!(ends(&mut connection).await);
}

#[tokio::test]
async fn an_old_connection_without_requests_ends() {
    let age = SHORT;
    let server = Running::start(Limits { age, ..WIDE }).await;
    assert!(ends(&mut server.connect().await).await);
}

#[tokio::test]
async fn stopping_finishes_what_is_being_answered() {
    let server = Running::start(WIDE).await;
    let mut idle = server.connect().await;
    request(&mut idle, "/").await.unwrap();
    let mut silent = TcpStream::connect(server.addr).await.unwrap();
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    server.stop.send(()).unwrap();
    assert!(ends(&mut idle).await && ends(&mut silent).await);
    eventually("the port is closed", || async {
        TcpStream::connect(server.addr).await.is_err().then_some(())
    })
    .await;
    assert!(!server.task.is_finished());
    server.answer.notify_one();
    calling.await.unwrap().unwrap();
    timeout(SOON, server.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn stopping_waits_no_longer_than_it_may() {
    let server = Running::start(Limits {
        finish: SHORT,
        ..WIDE
    })
    .await;
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    let start = Instant::now();
    server.stop.send(()).unwrap();
    timeout(SOON, server.task).await.unwrap().unwrap();
    assert!(start.elapsed() >= SHORT);
    calling.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn without_a_certificate_no_handshake_succeeds() {
    let bundle = first(Timestamp::now());
    let current = CurrentCertificate::none();
    let now = Timestamp::now();
    super::fixture::handshake(&current, &bundle.cas, now)
        .await
        .unwrap_err();
    current.replace(Found::read(&bundle).server().unwrap());
    super::fixture::handshake(&current, &bundle.cas, now)
        .await
        .unwrap();
}
