//! Deregistering a backend while something is open on it (d80).

use super::client::{Client, get};
use super::lab::{Lab, Server, connect, echo, http, http_that, is_alive, names, until};
use crate::support::Mock;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use mock_driver::{ClbDriver, Endpoint, ListenerProtocol, MockOptions};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

async fn deregister(lab: &Lab, endpoint: &Endpoint, addr: SocketAddr) -> Value {
    call(lab, "deregisterBackend", endpoint, addr).await
}

/// With another weight than the one that the tests bind with.
async fn ensure(lab: &Lab, endpoint: &Endpoint, addr: SocketAddr) -> Value {
    call(lab, "ensureBackend", endpoint, addr).await
}

async fn call(lab: &Lab, webhook: &str, endpoint: &Endpoint, addr: SocketAddr) -> Value {
    // A driver of its own for each call: it need not remember anything.
    let driver = ClbDriver::new(lab.cloud.clone(), MockOptions::default());
    let router: Router = mock_driver::router(driver);
    let body = json!({
        "recordID": format!("{webhook}(1)"), "retryID": "1", "lbInfo": endpoint.lb_info(),
        "backendAddr": addr.to_string(), "parameters": {"weight": "7"}, "injectedInfo": {},
    });
    let request = Request::post(format!("/{webhook}")).body(Body::from(body.to_string()));
    let response = router.oneshot(request.unwrap()).await.unwrap();
    let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// A request to the backend `a`, which responds when it is released.
struct OpenRequest {
    server: Server,
    release: Arc<Notify>,
    /// The client keeps its connection.
    request: JoinHandle<(Client, (StatusCode, Value))>,
}

impl OpenRequest {
    async fn send(lab: &Lab, endpoint: &Endpoint) -> Self {
        let release = Arc::new(Notify::new());
        let held = Arc::clone(&release);
        let server = http_that("a", move || {
            let held = Arc::clone(&held);
            async move { held.notified().await }
        })
        .await;
        lab.bind(endpoint, server.addr, 1);
        let mut client = Client::connect(lab.addr(endpoint)).await;
        let request = tokio::spawn(async move {
            let response = client.get("any", "/hold").await;
            (client, response)
        });
        until("the request is open", async || {
            lab.listener(endpoint).backends[0].counts.open == 1
        })
        .await;
        Self {
            server,
            release,
            request,
        }
    }
}

#[tokio::test]
async fn d80_open_connections_go_on_while_new_ones_go_elsewhere() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let (a, b) = (echo(b'a').await, echo(b'b').await);
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    let (mut open, _) = connect(addr).await;
    lab.bind(&endpoint, b.addr, 1);

    for _ in 0..2 {
        let reply = deregister(&lab, &endpoint, a.addr).await;
        assert_eq!(reply["status"], "Running", "{reply}");
        assert_eq!(reply["msg"], "1 connections are draining");
        assert_eq!(reply["minRetryDelayInSeconds"], 1);
    }
    assert_eq!(names(addr, 10).await, BTreeMap::from([('b', 10)]));
    assert!(is_alive(&mut open).await);
    let draining = lab.listener(&endpoint).backends;
    let draining = draining.iter().find(|it| it.weight.is_none()).unwrap();
    assert_eq!(draining.counts.open, 1);
    assert!(draining.draining_ms.is_some_and(|left| left > 3_000_000));

    drop(open);
    until("deregistered", async || {
        deregister(&lab, &endpoint, a.addr).await["status"] == "Succ"
    })
    .await;
    assert_eq!(lab.listener(&endpoint).backends.len(), 1);
}

#[tokio::test]
async fn d80_without_anything_open_it_succeeds_at_once() {
    let lab = Lab::new();
    for protocol in [ListenerProtocol::Tcp, ListenerProtocol::Http] {
        let endpoint = lab.create(protocol, 80);
        let a = http("a").await;
        lab.bind(&endpoint, a.addr, 1);
        // An idle connection to the backend is left over from this.
        assert_eq!(get(lab.addr(&endpoint), "any", "/").await.0, 200);
        lab.until_nothing_is_open(&endpoint).await;
        let reply = deregister(&lab, &endpoint, a.addr).await;
        assert_eq!(reply["status"], "Succ", "{protocol}: {reply}");
    }
}

#[tokio::test]
async fn d80_what_is_left_after_the_drain_time_is_broken_off() {
    let lab = Lab::with_drain_time(Duration::from_secs(2));
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let a = echo(b'a').await;
    lab.bind(&endpoint, a.addr, 1);
    let (mut open, _) = connect(lab.addr(&endpoint)).await;
    assert_eq!(
        deregister(&lab, &endpoint, a.addr).await["status"],
        "Running"
    );
    until("broken off", async || {
        deregister(&lab, &endpoint, a.addr).await["status"] == "Succ"
    })
    .await;
    assert!(!is_alive(&mut open).await);
    lab.until_nothing_is_open(&endpoint).await;
}

#[tokio::test]
async fn d80_requests_finish_and_the_client_keeps_its_connection() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let (open, b) = (OpenRequest::send(&lab, &endpoint).await, http("b").await);
    lab.bind(&endpoint, b.addr, 1);
    assert_eq!(
        deregister(&lab, &endpoint, open.server.addr).await["status"],
        "Running"
    );
    for _ in 0..5 {
        let response = get(lab.addr(&endpoint), "any", "/").await.1;
        assert_eq!(response["name"], "b");
    }
    open.release.notify_one();
    let (mut client, (status, response)) = open.request.await.unwrap();
    assert_eq!((status.as_u16(), &response["name"]), (200, &json!("a")));
    assert_eq!(client.get("any", "/").await.1["name"], "b");
    until("deregistered", async || {
        deregister(&lab, &endpoint, open.server.addr).await["status"] == "Succ"
    })
    .await;
}

#[tokio::test]
async fn d80_a_backend_that_returns_keeps_its_connections_until_it_is_deregistered_again() {
    let lab = Lab::with_drain_time(Duration::from_secs(2));
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let (a, b) = (echo(b'a').await, echo(b'b').await);
    lab.bind(&endpoint, a.addr, 1);
    lab.bind(&endpoint, b.addr, 1);
    let addr = lab.addr(&endpoint);
    let mut clients = [connect(addr).await, connect(addr).await];
    clients.sort_by_key(|(_, name)| *name);
    let [(mut old, _), (mut other, _)] = clients;
    assert_eq!(
        deregister(&lab, &endpoint, a.addr).await["status"],
        "Running"
    );
    assert_eq!(ensure(&lab, &endpoint, a.addr).await["status"], "Succ");
    // This drain ends after the first one would have.
    assert_eq!(
        deregister(&lab, &endpoint, b.addr).await["status"],
        "Running"
    );
    until("the other one's drain has ended", async || {
        deregister(&lab, &endpoint, b.addr).await["status"] == "Succ"
    })
    .await;
    assert!(!is_alive(&mut other).await);
    assert!(is_alive(&mut old).await);
    let backends = lab.listener(&endpoint).backends;
    let weights: Vec<_> = backends.iter().map(|it| it.weight).collect();
    assert_eq!(weights, [Some(7)]);
    assert_eq!(names(addr, 3).await, BTreeMap::from([('a', 3)]));

    until("deregistered", async || {
        deregister(&lab, &endpoint, a.addr).await["status"] == "Succ"
    })
    .await;
    assert!(!is_alive(&mut old).await);
}

#[tokio::test]
async fn d80_requests_go_to_a_backend_that_returned() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Http, 80);
    let open = OpenRequest::send(&lab, &endpoint).await;
    assert_eq!(
        deregister(&lab, &endpoint, open.server.addr).await["status"],
        "Running"
    );
    assert_eq!(
        ensure(&lab, &endpoint, open.server.addr).await["status"],
        "Succ"
    );
    open.release.notify_one();
    let (mut client, (status, _)) = open.request.await.unwrap();
    assert_eq!(status.as_u16(), 200);
    for _ in 0..3 {
        assert_eq!(client.get("any", "/").await.1["name"], "a");
    }
    let counts = lab.listener(&endpoint).backends[0].counts;
    assert_eq!((counts.requests, counts.connections), (4, 1));
}

#[tokio::test]
async fn without_traffic_deregistering_succeeds_at_once() {
    let mock = Mock::new();
    let lb_info = json!({"lbID": "lb-1234", "lblID": "lbl-2234"});
    let body = json!({
        "recordID": "deregisterBackend(1)", "retryID": "1", "lbInfo": lb_info,
        "backendAddr": "1.1.1.1:80", "parameters": {}, "injectedInfo": {},
    });
    mock.succ("deregisterBackend", body).await;
}
