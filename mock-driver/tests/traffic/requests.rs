//! HTTP and HTTPS listeners.

use super::client::{Client, get};
use super::lab::{Lab, echo, http, refusing, server, until};
use http_body_util::Full;
use hyper::Request;
use mock_driver::{Endpoint, ListenerProtocol, Rule};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

#[tokio::test]
async fn requests_of_one_connection_follow_the_weights() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let (a, b, c) = (http("a").await, http("b").await, http("c").await);
    lab.bind(&endpoint, a.addr, 1);
    lab.bind(&endpoint, b.addr, 3);
    lab.bind(&endpoint, c.addr, 0);
    let mut client = Client::connect(lab.addr(&endpoint)).await;
    let mut names = BTreeMap::new();
    for _ in 0..40 {
        let (status, response) = client.get("any", "/").await;
        assert_eq!(status, 200);
        *names
            .entry(response["name"].as_str().unwrap().to_owned())
            .or_insert(0) += 1;
    }
    assert_eq!(names, BTreeMap::from([("a".into(), 10), ("b".into(), 30)]));
    let listener = lab.listener(&endpoint);
    assert_eq!(
        (listener.counts.connections, listener.counts.requests),
        (1, 40)
    );
    // Each backend has one connection, which all of its requests use.
    let connections = listener.backends.iter().map(|it| it.counts.connections);
    assert_eq!(connections.sum::<u64>(), 2);
    drop(client);
    lab.until_nothing_is_open(&endpoint).await;
}

/// Bindings are applied one by one; together they have to make what the state declares.
#[tokio::test]
async fn any_order_of_bindings_leads_to_the_declared_backends() {
    let lab = Lab::new();
    let endpoints = [
        lab.create(ListenerProtocol::Tcp, 8080),
        lab.create(ListenerProtocol::Http, 80),
    ];
    let mut random = 0x5eed_u64;
    let mut below = |limit: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % limit
    };
    for _ in 0..500 {
        let endpoint = &endpoints[usize::try_from(below(2)).unwrap()];
        let addr = SocketAddr::from(([10, 0, 0, u8::try_from(below(8)).unwrap()], 80));
        match below(3) {
            0 => _ = lab.cloud.unbind(endpoint, &addr.to_string()).unwrap(),
            _ => lab.bind(endpoint, addr, u8::try_from(below(100)).unwrap()),
        }
        let declared = lab.cloud.targets(endpoint).unwrap().into_iter();
        let declared: BTreeMap<_, _> = declared
            .map(|(addr, it)| (addr, it.weight.into()))
            .collect();
        let applied = lab.listener(endpoint).backends.into_iter();
        let applied: BTreeMap<_, i64> = applied.map(|it| (it.addr, it.weight.unwrap())).collect();
        assert_eq!(applied, declared);
    }
}

#[tokio::test]
async fn domain_and_path_choose_the_rule() {
    let lab = Lab::new();
    let shop = lab.create_with(
        ListenerProtocol::Http,
        80,
        Some(Rule::new(Some("www.example.com"), Some("/shop"))),
    );
    let a = http("a").await;
    lab.bind(&shop, a.addr, 1);
    let addr = lab.addr(&shop);
    for (host, path, status) in [
        ("www.example.com", "/shop?x=1", 200),
        ("WWW.EXAMPLE.COM:80", "/shop/cart", 200),
        ("www.example.com", "/shopping", 404),
        ("www.example.com", "/", 404),
        ("example.com", "/shop", 404),
        ("", "/shop", 404),
    ] {
        let (found, response) = get(addr, host, path).await;
        assert_eq!(found, status, "{host}{path}: {response}");
    }
    let backend = lab.listener(&shop).backends.remove(0);
    assert_eq!(backend.domain.as_deref(), Some("www.example.com"));
    assert_eq!(
        (backend.url.as_deref(), backend.counts.requests),
        (Some("/shop"), 2)
    );
}

#[tokio::test]
async fn the_backend_gets_the_request_and_who_sent_it() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let a = http("a").await;
    lab.bind(&endpoint, a.addr, 1);
    let mut client = Client::connect(lab.addr(&endpoint)).await;
    let body = "x".repeat(200_000);
    let request = Request::put("/upload?name=1")
        .header("host", "shop.example")
        .header("connection", "x-private")
        .header("x-private", "1")
        .header("x-mine", "2")
        .body(Full::from(body.clone()));
    let (status, got) = client.send(request.unwrap()).await;
    assert_eq!(status, 200);
    let asked = [
        &got["method"],
        &got["uri"],
        &got["headers"]["host"],
        &got["headers"]["x-mine"],
    ];
    assert_eq!(asked, ["PUT", "/upload?name=1", "shop.example", "2"]);
    assert_eq!(got["headers"]["x-private"], json!(null));
    assert_eq!(got["headers"]["x-forwarded-for"], "127.0.0.1");
    assert_eq!(got["headers"]["x-forwarded-proto"], "http");
    assert_eq!(got["body"], body);
}

#[tokio::test]
async fn https_is_terminated_with_the_certificate_that_is_shown() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Https, 443);
    let a = http("a").await;
    lab.bind(&endpoint, a.addr, 1);
    let listener = lab.listener(&endpoint);
    let addr = listener.listens.unwrap();
    let pem = listener.certificate.unwrap();
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    roots.add(certificate).unwrap();
    let config = ClientConfig::builder().with_root_certificates(roots);
    let config = config.with_no_client_auth();
    let stream = TcpStream::connect(addr).await.unwrap();
    let name = ServerName::from(addr.ip());
    let tls = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let mut client = Client::over(tls.await.unwrap()).await;
    let (status, got) = client.get("any", "/").await;
    assert_eq!((status.as_u16(), &got["name"]), (200, &json!("a")));
    assert_eq!(got["headers"]["x-forwarded-proto"], "https");
    // A client that sends plain HTTP gets an error that says so.
    assert!(
        raw(addr, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .await
            .starts_with("HTTP/1.0 400 ")
    );
}

#[tokio::test]
async fn backends_that_refuse_are_passed_over() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let addr = lab.addr(&endpoint);
    let (status, why) = get(addr, "any", "/").await;
    assert_eq!(status, 503);
    assert_eq!(why, "no backend with a weight above 0 is registered\n");
    lab.bind(&endpoint, refusing().await, 100);
    let (status, why) = get(addr, "any", "/").await;
    assert_eq!(
        (status.as_u16(), &why),
        (502, &json!("no backend accepted a connection\n"))
    );
    let a = http("a").await;
    lab.bind(&endpoint, a.addr, 1);
    let mut client = Client::connect(addr).await;
    for _ in 0..20 {
        assert_eq!(client.get("any", "/").await.0, 200);
    }
    assert_eq!(lab.listener(&endpoint).counts.failed, 2);
}

/// A backend that closes the connection after each response, without saying so.
async fn forgetful(served: Arc<AtomicUsize>) -> super::lab::Server {
    server(move |mut stream| {
        let served = Arc::clone(&served);
        async move {
            let mut request = [0; 1024];
            if stream.read(&mut request).await? > 0 {
                served.fetch_add(1, Ordering::SeqCst);
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
                    .await?;
            }
            Ok(())
        }
    })
    .await
}

#[tokio::test]
async fn requests_survive_idle_connections_that_are_closed() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let served = Arc::new(AtomicUsize::new(0));
    let a = forgetful(Arc::clone(&served)).await;
    lab.bind(&endpoint, a.addr, 1);
    let mut client = Client::connect(lab.addr(&endpoint)).await;
    for _ in 0..200 {
        assert_eq!(client.get("any", "/").await.0, 200);
    }
    assert_eq!(served.load(Ordering::SeqCst), 200);
    assert_eq!(lab.listener(&endpoint).counts.failed, 0);
}

#[tokio::test]
async fn a_backend_that_ends_in_the_middle_fails_only_what_it_may_have_done() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let received = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&received);
    let dying = server(move |mut stream| {
        let count = Arc::clone(&count);
        async move {
            stream.read_u8().await?;
            count.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    });
    let dying = dying.await;
    lab.bind(&endpoint, dying.addr, 1);
    let mut client = Client::connect(lab.addr(&endpoint)).await;
    let post = || {
        Request::post("/")
            .header("host", "any")
            .body(Full::from("x"))
    };
    let (status, why) = client.send(post().unwrap()).await;
    assert_eq!(status, 502);
    assert_eq!(
        why,
        "the backend closed the connection before it responded\n"
    );
    assert_eq!(received.load(Ordering::SeqCst), 1);
    // A request that changes nothing is sent to another backend.
    let a = http("a").await;
    lab.bind(&endpoint, a.addr, 1);
    for _ in 0..4 {
        assert_eq!(client.get("any", "/").await.1["name"], "a");
    }
}

async fn raw(addr: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut response = [0; 512];
    let length = stream.read(&mut response).await.unwrap_or(0);
    String::from_utf8_lossy(&response[..length]).into_owned()
}

fn head(first: &str, rest: &str) -> Vec<u8> {
    format!("{first} HTTP/1.1\r\nhost: a\r\n{rest}\r\n").into_bytes()
}

#[tokio::test]
async fn bad_requests_are_refused_and_the_listener_goes_on() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let a = http("a").await;
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    let long = format!("x: {}\r\n", "y".repeat(100_000));
    for (request, expected) in [
        (b"\x16\x03\x01 not HTTP\r\n\r\n".to_vec(), "HTTP/1.1 400 "),
        (head("CONNECT a:80", ""), "HTTP/1.1 405 "),
        (head("GET /", &long), "HTTP/1.1 431 "),
        (head("POST /", "content-length: -1\r\n"), "HTTP/1.1 400 "),
        (
            head("GET http://a/x", "connection: close\r\n"),
            "HTTP/1.1 200 ",
        ),
    ] {
        let response = raw(addr, &request).await;
        let shown = String::from_utf8_lossy(&request[..request.len().min(80)]);
        assert!(response.starts_with(expected), "{shown}: {response}");
    }
    assert_eq!(get(addr, "any", "/").await.0, 200);
}

#[tokio::test]
async fn a_backend_that_is_no_http_server_is_a_bad_gateway() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let a = echo(b'a').await;
    lab.bind(&endpoint, a.addr, 1);
    assert_eq!(get(lab.addr(&endpoint), "any", "/").await.0, 502);
    lab.until_nothing_is_open(&endpoint).await;
}

#[tokio::test]
async fn rules_that_are_deleted_with_the_load_balancer_end_requests() {
    let lab = Lab::new();
    let endpoint: Endpoint = lab.create(ListenerProtocol::Http, 80);
    let a = http("a").await;
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    assert_eq!(get(addr, "any", "/").await.0, 200);
    lab.cloud
        .release("createLoadBalancer(1)", &endpoint)
        .unwrap();
    until("the port is closed", async || {
        TcpStream::connect(addr).await.is_err()
    })
    .await;
    a.stop().await;
}
