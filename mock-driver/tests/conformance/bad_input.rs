//! BAD: what is no proper call.

use crate::support::{Mock, backend, create, delete, order, sample};
use axum::body::Body;
use axum::http::StatusCode;
use mock_driver::{Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn bad_02_wrong_types_never_succeed() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    let wrong = [json!(5), json!(1.5), json!("text"), json!(true), json!([1])];
    let in_a_map = [
        json!({"a": 5}),
        json!({"a": null, "b": {}}),
        json!({"a": []}),
    ];
    let maps = |call: &Value, field: &str| {
        let wrong = wrong.iter().chain(&in_a_map).cloned();
        wrong
            .map(|value| {
                let mut call = call.clone();
                call[field] = value;
                call
            })
            .collect::<Vec<_>>()
    };
    let ensure = json!({"recordID": "e", "lbInfo": sample(), "attributes": {}});
    let mut calls = Vec::new();
    for (webhook, call, fields) in [
        (
            "validateLoadBalancer",
            json!({"lbSpec": order()}),
            &["lbSpec", "attributes", "oldAttributes"][..],
        ),
        (
            "createLoadBalancer",
            create("1", order()),
            &["lbSpec", "attributes"],
        ),
        ("ensureLoadBalancer", ensure, &["lbInfo", "attributes"]),
        ("deleteLoadBalancer", delete("1", sample()), &["lbInfo"]),
        (
            "validateBackend",
            json!({"backendType": "Pod"}),
            &["lbInfo", "parameters", "OldParameters"],
        ),
        (
            "generateBackendAddr",
            json!({"recordID": "g"}),
            &["podBackend", "serviceBackend"],
        ),
        (
            "ensureBackend",
            backend(&sample(), "a", Value::Null),
            &["lbInfo", "parameters", "injectedInfo"],
        ),
        (
            "deregisterBackend",
            backend(&sample(), "a", Value::Null),
            &["lbInfo", "parameters"],
        ),
        ("judgePodDeregister", json!({}), &["notReadyPods"]),
        ("listBackends", json!({"recordID": "l"}), &["lbInfo"]),
    ] {
        for field in fields {
            calls.extend(
                maps(&call, field)
                    .into_iter()
                    .map(|call| (webhook, *field, call)),
            );
        }
    }
    let mut number = backend(&sample(), "a", Value::Null);
    number["backendAddr"] = json!(5);
    calls.push(("ensureBackend", "backendAddr", number));
    let mut number = create("1", order());
    number["recordID"] = json!({"a": 5});
    calls.push(("createLoadBalancer", "recordID", number));
    let mut text = create("1", order());
    text["dryRun"] = json!("false");
    calls.push(("createLoadBalancer", "dryRun", text));
    let mut succeeded = Vec::new();
    for (webhook, field, call) in calls {
        let body = Body::from(call.to_string());
        let (status, reply) = mock.send("POST", &format!("/{webhook}"), body).await;
        assert!(!status.is_server_error(), "{webhook} {call}: {status}");
        if status == StatusCode::OK && (reply["status"] == "Succ" || reply["succ"] == true) {
            succeeded.push((webhook, field, call[field].clone()));
        }
    }
    assert_eq!(succeeded, []);
    assert_eq!(mock.cloud.state(), before);
}

#[tokio::test]
async fn bad_01_to_05_a_server_keeps_serving_after_malformed_requests() {
    let limit = Duration::from_secs(10);
    let cloud = Cloud::with_samples();
    let any = "127.0.0.1:0".parse().unwrap();
    let server = MockServer::start(cloud.clone(), any, MockOptions::default())
        .await
        .unwrap();
    let send = async |head: &str, body: &[u8]| {
        let mut stream = TcpStream::connect(server.addr()).await.unwrap();
        let length = body.len();
        let head = format!(
            "{head} HTTP/1.1\r\nhost: mock\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut reply = String::new();
        timeout(limit, stream.read_to_string(&mut reply))
            .await
            .unwrap()
            .unwrap();
        reply
    };
    let large = vec![b' '; 10 << 20];
    for (head, body, status) in [
        ("POST /ensureBackend", &b"{"[..], "400"),
        ("POST /ensureBackend", b"", "400"),
        ("POST /ensureBackend", br#"{"lbInfo": 5}"#, "400"),
        ("GET /ensureBackend", b"", "405"),
        ("PUT /createLoadBalancer", b"{}", "405"),
        ("POST /nothing", b"{}", "404"),
        ("POST /ensureBackend", &large, "413"),
        ("POST /healthz", b"{}", "200"),
    ] {
        let reply = send(head, body).await;
        assert!(
            reply.starts_with(&format!("HTTP/1.1 {status}")),
            "{head}: {reply}"
        );
    }
    assert_eq!(cloud.state(), Cloud::with_samples().state());
    server.stop().await;
}
