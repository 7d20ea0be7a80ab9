//! The shutdown of a server.

use crate::captured_log::CapturedLog;
use crate::running::{Client, FREE_PORT, LONG, Running, SHORT, SOON, eventually};
use axum::http::StatusCode;
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn an_idle_server_ends_at_once_despite_open_connections() {
    let server = Running::start(|settings| {
        settings.shutdown_within = LONG;
        settings.head_within = LONG;
    })
    .await;
    let mut idle = server.connect().await;
    idle.get("/livez").await;
    let silent = TcpStream::connect(server.addr).await.unwrap();
    let mut half = TcpStream::connect(server.addr).await.unwrap();
    half.write_all(b"POST /ensureBackend HT").await.unwrap();
    // Connections are accepted in order, so all of them are open by now.
    server.connect().await.get("/livez").await;
    let ending = timeout(SOON, server.stop()).await.unwrap().unwrap();
    assert_eq!(ending.hooks_left, 0);
    idle.closed().await;
    drop((silent, half));
}

#[tokio::test]
async fn calls_in_progress_are_answered_and_later_ones_are_not() {
    let server = Running::start(|settings| {
        settings.shutdown_within = LONG;
        settings.probes_on = Some(FREE_PORT);
    })
    .await;
    let (addr, probes) = (server.addr, server.probes.unwrap());
    let stage = std::sync::Arc::clone(&server.stage);
    let mut client = server.connect().await;
    let call = tokio::spawn(async move {
        let answer = client.ensure(json!({"do": "wait"})).await.unwrap();
        // The second request on the same connection is too late.
        let second = client.ensure(json!({})).await;
        (answer, second.is_err())
    });
    stage.lines(1).await;
    let mut probe = Client::connect(probes, None).await.unwrap();
    assert_eq!(probe.get("/readyz").await.0, StatusCode::OK);

    let ending = server.stop();
    eventually("it is not ready", || async {
        let mut probe = Client::connect(probes, None).await.unwrap();
        let (status, answer) = probe.get("/readyz").await;
        if status == StatusCode::OK {
            return false;
        }
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer, json!({"error": "shutting down"}));
        true
    })
    .await;
    assert_eq!(probe.get("/livez").await.0, StatusCode::OK);
    assert!(
        Client::connect(addr, None).await.is_err(),
        "the port is open"
    );
    assert!(!ending.is_finished());
    stage.go.add_permits(1);
    let ((status, answer), second_is_refused) = call.await.unwrap();
    assert_eq!(
        (status, &answer["status"]),
        (StatusCode::OK, &json!("Succ"))
    );
    assert!(second_is_refused);
    assert_eq!(timeout(SOON, ending).await.unwrap().unwrap().hooks_left, 0);
    assert_eq!(stage.log(), ["begin a", "end a"]);
    assert!(
        Client::connect(probes, None).await.is_err(),
        "the port is open"
    );
}

#[tokio::test]
async fn it_waits_for_hooks_without_waiting_calls() {
    let server = Running::start(|settings| {
        settings.answer_within = Duration::ZERO;
        settings.shutdown_within = LONG;
    })
    .await;
    let stage = std::sync::Arc::clone(&server.stage);
    let (_, answer) = server
        .connect()
        .await
        .ensure(json!({"do": "wait"}))
        .await
        .unwrap();
    assert_eq!(answer["status"], "Running");
    stage.lines(1).await;
    let mut ending = server.stop();
    timeout(SHORT, &mut ending)
        .await
        .expect_err("a hook still runs");
    stage.go.add_permits(1);
    assert_eq!(timeout(SOON, ending).await.unwrap().unwrap().hooks_left, 0);
    assert_eq!(stage.log(), ["begin a", "end a"]);
}

#[tokio::test]
async fn it_waits_up_to_its_limit_and_reports_the_hooks_that_are_left() {
    let log = CapturedLog::new();
    let server = Running::start(|settings| settings.shutdown_within = SHORT).await;
    let stage = std::sync::Arc::clone(&server.stage);
    let mut client = server.connect().await;
    let call = tokio::spawn(async move { client.ensure(json!({"do": "wait"})).await });
    stage.lines(1).await;
    let ending = timeout(SOON, server.stop()).await.unwrap().unwrap();
    assert_eq!(ending.hooks_left, 1);
    assert!(call.await.unwrap().is_err());
    assert!(log.has("hooks_left=1"), "{}", log.text());
    // It continues until the process ends.
    stage.go.add_permits(1);
    stage.lines(2).await;
}
