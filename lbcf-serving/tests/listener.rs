//! Clients that are slow, silent, many, or do not speak the protocol.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests unwrap, too"
)]

mod wide;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response};
use lbcf_serving::listener::{Connection, Limits, Listener, RequestBody};
use lbcf_serving::tls::{ServerTls, certified_key};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use wide::{DEADLINE, WIDE};

const NAME: &str = "server.test";
const SHORT: Duration = Duration::from_millis(50);

struct Running {
    addr: SocketAddr,
    ca: rustls::pki_types::CertificateDer<'static>,
    /// Notified by each request to `/slow`.
    asked: Arc<Notify>,
    /// Releases one request to `/slow`.
    answer: Arc<Notify>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    async fn start(limits: Limits) -> Self {
        Self::start_with(limits, DEADLINE).await
    }

    async fn start_with(limits: Limits, shutdown: Duration) -> Self {
        let pair = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
        let (cert, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
        let tls = ServerTls::new(None).unwrap();
        tls.set_certificate(Arc::new(
            certified_key(cert.as_bytes(), key.as_bytes()).unwrap(),
        ));
        let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let listener = listener.limits(limits).tls(Arc::new(tls));
        let addr = listener.addr();
        let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, wait) = (Arc::clone(&asked), Arc::clone(&answer));
        let service = move |_: &Connection| {
            let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
            service_fn(move |request: Request<_>| {
                let _: &RequestBody = request.body();
                let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
                async move {
                    match request.uri().path() {
                        "/slow" => {
                            tell.notify_one();
                            wait.notified().await;
                        }
                        "/panic" => panic!("on purpose"),
                        _ => {}
                    }
                    let body = Full::new(Bytes::from_static(b"answer"));
                    Ok::<_, Infallible>(Response::new(body))
                }
            })
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let connections = listener
                .serve(service, None, async { drop(stopped.await) })
                .await;
            connections.finish_within(shutdown).await;
        });
        Self {
            addr,
            ca: pair.cert.der().clone(),
            asked,
            answer,
            stop,
            task,
        }
    }

    async fn call(&self) -> io::Result<String> {
        request(&mut self.connect().await, "/").await
    }

    async fn connect(&self) -> TlsStream<TcpStream> {
        self.try_connect(&rustls::version::TLS13).await.unwrap()
    }

    async fn try_connect(
        &self,
        version: &'static SupportedProtocolVersion,
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.ca.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connecting = async {
            let stream = TcpStream::connect(self.addr).await?;
            let connector = TlsConnector::from(Arc::new(config));
            connector.connect(NAME.try_into().unwrap(), stream).await
        };
        timeout(DEADLINE, connecting).await?
    }
}

/// One request; its response up to the end of the body.
async fn request(stream: &mut TlsStream<TcpStream>, path: &str) -> io::Result<String> {
    let exchange = async {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {NAME}\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        let mut response = String::new();
        while !response.ends_with("answer") {
            let mut buffer = [0; 1024];
            match stream.read(&mut buffer).await? {
                0 => return Err(io::Error::other(format!("cut off after {response:?}"))),
                length => response.push_str(std::str::from_utf8(&buffer[..length]).unwrap()),
            }
        }
        Ok(response)
    };
    timeout(DEADLINE, exchange).await?
}

/// Waits until the server closes the connection, one way or another.
async fn closes(stream: &mut (impl tokio::io::AsyncRead + Unpin)) {
    let mut rest = Vec::new();
    let closed = timeout(DEADLINE, stream.read_to_end(&mut rest)).await;
    drop(closed.expect("the server closes the connection"));
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
        let mut stream = server.try_connect(version).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        request(&mut stream, "/").await.unwrap();
    }
}

#[tokio::test]
async fn garbage_harms_no_other_client() {
    let server = Running::start(WIDE).await;
    let mut open = server.connect().await;
    let huge_record = [&[22, 3, 1, 0xff, 0xff][..], &[0; 70_000]].concat();
    for garbage in [
        b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        vec![0; 100_000],
        huge_record,
    ] {
        let mut peer = TcpStream::connect(server.addr).await.unwrap();
        let _ = peer.write_all(&garbage).await;
        closes(&mut peer).await;
        server.call().await.unwrap();
    }
    // The same inside TLS.
    for garbage in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        [b"GET / HTTP/1.1\r\nx: ", &[b'x'; 200_000][..]].concat(),
    ] {
        let mut peer = server.connect().await;
        let _ = peer.write_all(&garbage).await;
        closes(&mut peer).await;
    }
    // Clients that close in the middle of it all.
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
async fn a_slow_handshake_delays_no_other_client() {
    let server = Running::start(WIDE).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(server.addr).await.unwrap());
    }
    // One begins a handshake and does not continue.
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
    closes(&mut silent).await;
}

#[tokio::test]
async fn connections_without_requests_and_with_half_a_head_end() {
    for (limits, begun) in [
        (
            Limits {
                idle: SHORT,
                ..WIDE
            },
            "",
        ),
        (
            Limits {
                head: SHORT,
                ..WIDE
            },
            "GET / HTTP/1.1\r\nho",
        ),
    ] {
        let server = Running::start(limits).await;
        let mut connection = server.connect().await;
        connection.write_all(begun.as_bytes()).await.unwrap();
        closes(&mut connection).await;
    }
}

#[tokio::test]
async fn silent_clients_keep_no_other_out() {
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
async fn the_oldest_idle_connection_closes_for_a_new_one() {
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
    closes(&mut idle[0]).await;
    request(&mut idle[1], "/").await.unwrap();
    request(&mut idle[2], "/").await.unwrap();
}

#[tokio::test]
async fn a_request_is_answered_even_when_its_connection_is_to_close() {
    let server = Running::start(Limits {
        connections: 1,
        ..WIDE
    })
    .await;
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    let mut newcomer = Box::pin(server.call());
    // It waits for the permit of the connection with a request.
    assert!(timeout(SHORT, &mut newcomer).await.is_err());
    server.answer.notify_one();
    calling.await.unwrap().unwrap();
    newcomer.await.unwrap();
}

#[tokio::test]
async fn responses_on_an_old_connection_close_it() {
    let server = Running::start(Limits {
        lifetime: Some(Duration::from_secs(600)),
        ..WIDE
    })
    .await;
    let mut connection = server.connect().await;
    let response = request(&mut connection, "/").await.unwrap();
    assert!(!response.contains("connection: close"), "{response}");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(301)).await;
    tokio::time::resume();
    let response = request(&mut connection, "/").await.unwrap();
    assert!(response.contains("connection: close"), "{response}");
    closes(&mut connection).await;
}

#[tokio::test]
async fn an_old_connection_without_requests_ends() {
    let lifetime = Some(SHORT);
    let server = Running::start(Limits { lifetime, ..WIDE }).await;
    closes(&mut server.connect().await).await;
}

#[tokio::test]
async fn the_shutdown_finishes_requests() {
    let server = Running::start(WIDE).await;
    let mut idle = server.connect().await;
    request(&mut idle, "/").await.unwrap();
    let mut silent = TcpStream::connect(server.addr).await.unwrap();
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    server.stop.send(()).unwrap();
    closes(&mut idle).await;
    closes(&mut silent).await;
    assert!(TcpStream::connect(server.addr).await.is_err());
    assert!(!server.task.is_finished());
    server.answer.notify_one();
    calling.await.unwrap().unwrap();
    timeout(DEADLINE, server.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_shutdown_has_a_limit() {
    let server = Running::start_with(WIDE, SHORT).await;
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    let start = Instant::now();
    server.stop.send(()).unwrap();
    timeout(DEADLINE, server.task).await.unwrap().unwrap();
    assert!(start.elapsed() >= SHORT);
    calling.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_connection_that_is_to_close_has_a_limit() {
    let drain = Some(SHORT);
    let server = Running::start(Limits { drain, ..WIDE }).await;
    let mut busy = server.connect().await;
    let calling = tokio::spawn(async move { request(&mut busy, "/slow").await });
    server.asked.notified().await;
    server.stop.send(()).unwrap();
    timeout(DEADLINE, server.task).await.unwrap().unwrap();
    calling.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn without_a_certificate_no_handshake_succeeds() {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let listener = listener.tls(Arc::new(ServerTls::new(None).unwrap()));
    let mut client = TcpStream::connect(listener.addr()).await.unwrap();
    let empty = |_: Request<RequestBody>| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
    };
    let serving = listener.serve(move |_| service_fn(empty), None, std::future::pending());
    let serving = tokio::spawn(async move { drop(serving.await) });
    client.write_all(&[22, 3, 1, 0, 0]).await.unwrap();
    closes(&mut client).await;
    serving.abort();
}
