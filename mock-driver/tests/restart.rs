//! The driver is killed and started again, while the cloud stays.

use crate::support::{Mock, backend, create, delete, order, poll_once};
use axum::body::Body;
use axum::http::StatusCode;
use mock_driver::{Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(10);

async fn restart(mock: &Mock, times: u64) {
    let (status, reply) = mock.post("restart", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(reply, json!({"restarts": times, "hooksKilled": 0}));
}

#[tokio::test]
async fn asyn_07_a_creation_survives_restarts() {
    let mock = Mock::with_stages_of(Duration::from_secs(1));
    let calls = mock.cloud.calls();
    for times in 1..=2 {
        let reply = mock.call("createLoadBalancer", create("1", order())).await;
        assert_eq!(reply["status"], "Running");
        restart(&mock, times).await;
        mock.clock.advance(Duration::from_secs(1));
    }
    let reply = mock.succ("createLoadBalancer", create("1", order())).await;
    assert_eq!(reply["lbInfo"]["lbID"], "lb-00000001");
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
    // Counters and journal survive the restart.
    assert_eq!(mock.cloud.calls().difference(&calls).total(), 3);
    let (_, journal) = mock.send("GET", "/_mock/requests", Body::empty()).await;
    assert_eq!(journal["requests"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn life_05_restarts_between_all_steps() {
    let mock = Mock::new();
    let start = mock.cloud.state();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = &created["lbInfo"];
    let ensure = json!({"recordID": "e", "lbInfo": lb_info, "attributes": {"bandwidth": "2"}});
    let steps = [
        ("createLoadBalancer", create("1", order())),
        ("ensureLoadBalancer", ensure),
        (
            "ensureBackend",
            backend(lb_info, "a:1", json!({"weight": "1"})),
        ),
        (
            "ensureBackend",
            backend(lb_info, "a:1", json!({"weight": "2"})),
        ),
        ("deregisterBackend", backend(lb_info, "a:1", Value::Null)),
        ("deleteLoadBalancer", delete("1", lb_info.clone())),
    ];
    for (times, (webhook, call)) in (1..).zip(steps) {
        restart(&mock, times).await;
        mock.succ(webhook, call).await;
    }
    assert_eq!(mock.cloud.state(), start);
}

#[tokio::test]
async fn an_outage_is_the_clouds_and_outlives_the_driver() {
    let mock = Mock::new();
    mock.cloud.set_outage(true);
    restart(&mock, 1).await;
    mock.rejected("createLoadBalancer", create("1", order()))
        .await;
}

#[tokio::test]
async fn a_restart_completes_even_if_the_client_disconnects() {
    let mock = Mock::new();
    {
        let asked = mock.post("restart", Value::Null);
        tokio::pin!(asked);
        assert!(poll_once(asked).await.is_none());
    }
    let (_, reply) = mock.post("restart", Value::Null).await;
    assert_eq!(reply["restarts"], 2);
}

/// A request over a connection that stays open.
fn http(path: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// Reads until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    timeout(LIMIT, stream.read_to_string(&mut text))
        .await
        .unwrap()
        .unwrap();
    text
}

#[tokio::test]
async fn connections_of_the_killed_driver_break_and_the_port_stays() {
    let options = MockOptions::default();
    let any = "127.0.0.1:0".parse().unwrap();
    let server = MockServer::start(Cloud::with_samples(), any, options)
        .await
        .unwrap();
    let connect = async || TcpStream::connect(server.addr()).await.unwrap();

    // One that is idle after a call, one in the middle of a call.
    let mut idle = connect().await;
    idle.write_all(http("/healthz", "").as_bytes())
        .await
        .unwrap();
    let mut first = [0; 12];
    timeout(LIMIT, idle.read_exact(&mut first))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut busy = connect().await;
    busy.write_all(b"POST /ensureBackend HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n")
        .await
        .unwrap();
    busy.write_all(b"expect: 100-continue\r\n\r\n")
        .await
        .unwrap();
    // The server sends 100 once it reads the body.
    let mut go_on = [0; 12];
    timeout(LIMIT, busy.read_exact(&mut go_on))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100");

    let mut control = connect().await;
    control
        .write_all(http("/_mock/restart", "").as_bytes())
        .await
        .unwrap();
    let reply = rest(&mut control).await;
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains(r#""restarts": 1"#), "{reply}");

    let broken = rest(&mut busy).await;
    assert!(!broken.contains("HTTP/1.1"), "no answer: {broken:?}");
    let over = rest(&mut idle).await;
    let healthy =
        r#"{"healthy":true,"specification":"1","features":["batches","cancel","pages","reasons"]}"#;
    assert!(over.ends_with(healthy), "{over}");

    let mut new = connect().await;
    new.write_all(http("/healthz", "").as_bytes())
        .await
        .unwrap();
    timeout(LIMIT, new.read_exact(&mut first))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(new);
    server.stop().await;
}
