//! The limits of hooks that run and wait, and the responses beyond them.

use crate::support::{actor, ensure, ok, post, serve, spawn_ok, stage, takes_maps};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, StatusCode};
use http_body::Frame;
use lbcf_driver_sdk::request::{DeregisterBackend, EnsureBackend, GenerateBackendAddr};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt as _;

const ENSURE: &str = "/ensureBackend";

fn with(change: impl FnOnce(&mut Settings)) -> (Router, Arc<crate::support::HookGate>) {
    let (actor, stage) = actor();
    let mut settings = Settings::default();
    change(&mut settings);
    (DriverRouter::with(actor, settings).build(), stage)
}

/// A call for a backend of this name that waits for the test.
fn on(backend: &str) -> Value {
    let mut body = ensure("1", json!({"do": "wait"}));
    body["recordID"] = format!("ensureBackend({backend})").into();
    body["backendAddr"] = backend.into();
    body
}

fn weight(backend: &str, weight: &str) -> Value {
    let mut body = on(backend);
    body["parameters"]["weight"] = weight.into();
    body
}

fn decision() -> Value {
    json!({"operation": "Create", "parameters": {"do": "wait"}})
}

/// Runs all tasks until they wait.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_beyond_the_limit_waits_and_then_runs() {
    let (router, stage) = with(|settings| settings.max_running_hooks = 1);
    let first = spawn_ok(&router, ENSURE, on("a"));
    settle().await;
    let second = ok(&router, ENSURE, &on("b")).await;
    assert_eq!(second["status"], "Running");
    assert_eq!(
        second["msg"],
        "ensureBackend waits for other hooks to finish: the driver is busy"
    );
    assert_eq!(second["minRetryDelayInSeconds"], 1);
    assert_eq!(stage.log(), ["begin a"]);
    stage.go.add_permits(2);
    stage.lines(4).await;
    settle().await;
    assert_eq!(ok(&router, ENSURE, &on("b")).await["status"], "Succ");
    assert_eq!(stage.log(), ["begin a", "end a", "begin b", "end b"]);
    assert_eq!(first.await.unwrap()["status"], "Running");
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_waits_for_a_key_holds_no_permit() {
    let (router, stage) = with(|settings| settings.max_running_hooks = 2);
    // Three wait behind the first one, more than there are permits.
    let mut calls: Vec<_> = ["1", "2", "3", "4"]
        .map(|n| spawn_ok(&router, ENSURE, weight("a", n)))
        .into();
    settle().await;
    calls.push(spawn_ok(&router, ENSURE, on("b")));
    settle().await;
    assert_eq!(stage.log(), ["begin a 1", "begin b"]);
    stage.go.add_permits(5);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
    let log = stage.log();
    let begun = log.iter().filter(|line| line.starts_with("begin a"));
    let begun: Vec<_> = begun.collect();
    assert_eq!(begun, ["begin a 1", "begin a 2", "begin a 3", "begin a 4"]);
}

#[tokio::test(start_paused = true)]
async fn permits_are_granted_in_the_order_of_arrival() {
    let (router, stage) = with(|settings| settings.max_running_hooks = 1);
    let mut calls = Vec::new();
    for backend in ["a", "b", "c", "d"] {
        calls.push(spawn_ok(&router, ENSURE, on(backend)));
        settle().await;
    }
    stage.go.add_permits(4);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
    let log = stage.log();
    let begun: Vec<_> = log
        .iter()
        .filter(|line| line.starts_with("begin"))
        .collect();
    assert_eq!(begun, ["begin a", "begin b", "begin c", "begin d"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_beyond_the_limit_waits_for_its_deadline_and_is_a_no_that_never_runs() {
    let (router, stage) = with(|settings| settings.max_running_hooks = 1);
    let first = spawn_ok(&router, "/validateBackend", decision());
    settle().await;
    let started = Instant::now();
    let second = ok(&router, "/validateBackend", &decision()).await;
    assert_eq!(started.elapsed().as_secs(), 8);
    assert_eq!(
        second,
        json!({"succ": false, "msg": "validateBackend: the driver is busy, please try again"})
    );
    assert_eq!(first.await.unwrap()["succ"], false);
    stage.go.add_permits(2);
    stage.lines(2).await;
    settle().await;
    assert_eq!(stage.log(), ["begin validate", "end validate"]);

    // One that gets a permit in time is made.
    let first = spawn_ok(&router, "/validateBackend", decision());
    settle().await;
    let second = spawn_ok(&router, "/validateBackend", decision());
    settle().await;
    stage.go.add_permits(2);
    assert_eq!(first.await.unwrap()["succ"], true);
    assert_eq!(second.await.unwrap()["succ"], true);
}

#[tokio::test(start_paused = true)]
async fn healthz_is_never_held_up() {
    let (router, _stage) = with(|settings| {
        settings.max_running_hooks = 1;
        settings.max_waiting_hooks = 0;
    });
    let _running = spawn_ok(&router, ENSURE, on("a"));
    settle().await;
    let started = Instant::now();
    assert_eq!(ok(&router, "/healthz", &json!({})).await["healthy"], true);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

/// Its `healthz` never ends.
struct Hangs;

impl Driver for Hangs {
    takes_maps!(creates nothing);

    async fn healthz(&self) -> bool {
        std::future::pending().await
    }
    fn cancels_deregistrations(&self) -> bool {
        true
    }
    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok("a".into())
    }
    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }
    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn probes_of_a_healthz_that_hangs_are_limited() {
    let driver = DriverRouter::new(Hangs);
    let hooks = driver.running_hooks();
    let router = driver.build();
    for _ in 0..100 {
        let answer = ok(&router, "/healthz", &json!({})).await;
        let known = json!({"healthy": false, "specification": "1", "features": ["cancel", "pages", "reasons"]});
        assert_eq!(answer, known);
    }
    assert_eq!(hooks.count(), 64);
    assert_eq!(
        ok(&router, ENSURE, &ensure("1", json!({}))).await["status"],
        "Succ"
    );
}

#[tokio::test(start_paused = true)]
async fn beyond_the_limit_of_waiting_hooks_a_call_is_answered_at_once_and_not_started() {
    let (router, stage) = with(|settings| {
        settings.max_running_hooks = 1;
        settings.max_waiting_hooks = 2;
    });
    let mut calls = Vec::new();
    for backend in ["a", "b", "c"] {
        calls.push(spawn_ok(&router, ENSURE, on(backend)));
        settle().await;
    }
    let started = Instant::now();
    let full = ok(&router, ENSURE, &on("d")).await;
    assert_eq!(
        full,
        json!({
            "status": "Running", "minRetryDelayInSeconds": 10,
            "msg": "ensureBackend was not started: too many operations wait",
        })
    );
    let refused = ok(&router, "/validateBackend", &decision()).await;
    assert_eq!(refused["succ"], false);
    let why = refused["msg"].as_str().unwrap();
    assert!(why.contains("overloaded"), "{why}");
    // A call that joins needs no permit.
    calls.push(spawn_ok(&router, ENSURE, on("c")));
    settle().await;
    assert_eq!(started.elapsed(), Duration::ZERO);
    stage.go.add_permits(9);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
    let d_or_decision = |line: &String| line.contains("begin d") || line.contains("validate");
    assert!(!stage.log().iter().any(d_or_decision));
    // The queue accepts hooks again.
    assert_eq!(ok(&router, ENSURE, &on("d")).await["status"], "Succ");
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_of_one_record_does_not_block_others() {
    let (router, stage) = with(|settings| settings.max_waiting_hooks = 0);
    let first = spawn_ok(&router, ENSURE, weight("a", "1"));
    settle().await;
    let second = ok(&router, ENSURE, &weight("a", "2")).await;
    assert!(second["msg"].as_str().unwrap().contains("not started"));
    stage.go.add_permits(2);
    assert_eq!(ok(&router, ENSURE, &on("b")).await["status"], "Succ");
    assert_eq!(first.await.unwrap()["status"], "Succ");
    // Calls that were refused do not hold permits.
    stage.go.add_permits(1);
    let second = ok(&router, ENSURE, &weight("a", "2")).await;
    assert_eq!(second["status"], "Succ");
}

#[tokio::test(start_paused = true)]
async fn a_decision_whose_caller_left_before_it_had_a_permit_is_not_made() {
    let (router, stage) = with(|settings| settings.max_running_hooks = 1);
    let first = spawn_ok(&router, ENSURE, on("a"));
    settle().await;
    let decision = spawn_ok(&router, "/validateBackend", decision());
    settle().await;
    decision.abort();
    settle().await;
    stage.go.add_permits(2);
    assert_eq!(first.await.unwrap()["status"], "Succ");
    assert_eq!(ok(&router, ENSURE, &on("b")).await["status"], "Succ");
    assert!(!stage.log().iter().any(|line| line.contains("validate")));
}

#[tokio::test(start_paused = true)]
async fn no_permits_are_one_permit() {
    let (router, stage) = with(|settings| settings.max_running_hooks = 0);
    stage.go.add_permits(1);
    assert_eq!(ok(&router, ENSURE, &on("a")).await["status"], "Succ");
}

#[tokio::test(start_paused = true)]
async fn the_greatest_limits_are_accepted() {
    let (router, stage) = with(|settings| {
        settings.answer_within = Duration::MAX;
        settings.keep_results = Duration::MAX;
        settings.body_limit = usize::MAX;
        settings.max_running_hooks = usize::MAX;
        settings.max_waiting_hooks = usize::MAX;
    });
    stage.go.add_permits(1);
    assert_eq!(ok(&router, ENSURE, &on("a")).await["status"], "Succ");
    assert_eq!(ok(&router, "/healthz", &json!({})).await["healthy"], true);
}

#[tokio::test(start_paused = true)]
async fn results_are_not_retained_with_a_time_of_zero() {
    let (router, stage) = with(|settings| settings.keep_results = Duration::ZERO);
    assert_eq!(ok(&router, ENSURE, &on("a")).await["status"], "Running");
    stage.go.add_permits(2);
    stage.lines(2).await;
    settle().await;
    assert_eq!(ok(&router, ENSURE, &on("a")).await["status"], "Succ");
    assert_eq!(stage.log(), ["begin a", "end a", "begin a", "end a"]);
}

#[tokio::test(start_paused = true)]
async fn a_body_limit_of_zero_leaves_healthz() {
    let (router, _) = with(|settings| settings.body_limit = 0);
    let (status, _) = post(&router, ENSURE, "{}").await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let (status, _) = post(&router, "/healthz", "").await;
    assert_eq!(status, StatusCode::OK);
}

/// The beginning of a body, of which nothing more comes.
struct Unfinished(Bytes);

impl HttpBody for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match std::mem::take(&mut self.0) {
            nothing if nothing.is_empty() => Poll::Pending,
            begun => Poll::Ready(Some(Ok(Frame::data(begun)))),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d101_bodies_that_do_not_end_share_their_memory_and_small_ones_are_answered() {
    let (router, stage) = stage();
    let unfinished = (0..200).map(|_| {
        let begun = Unfinished(vec![b' '; 1 << 20].into());
        let request = Request::post(ENSURE).body(Body::new(begun)).unwrap();
        tokio::spawn(router.clone().oneshot(request))
    });
    let unfinished: Vec<_> = unfinished.collect();
    stage.go.add_permits(1);
    assert_eq!(ok(&router, ENSURE, &on("a")).await["status"], "Succ");
    let mut waited = 0;
    for response in unfinished {
        match response.await.unwrap().unwrap().status() {
            StatusCode::REQUEST_TIMEOUT => waited += 1,
            other => assert_eq!(other, StatusCode::SERVICE_UNAVAILABLE),
        }
    }
    // The old half of a buffer that grows counts, too.
    assert_eq!(waited, 64 * 2 / 3, "MiB");
}

#[tokio::test]
async fn a_deadline_of_zero_leaves_the_body_time_to_arrive() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (router, stage) = with(|settings| settings.answer_within = Duration::ZERO);
    let address = serve(router).await;
    let body = on("a").to_string();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /ensureBackend HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("\"Running\""), "{answer}");
    stage.lines(1).await;
    stage.go.add_permits(1);
}

#[tokio::test(start_paused = true)]
async fn the_default_limits_are_high() {
    let (router, stage) = stage();
    let calls: Vec<_> = (0..200)
        .map(|n| spawn_ok(&router, ENSURE, on(&n.to_string())))
        .collect();
    settle().await;
    assert_eq!(stage.log().len(), 200);
    stage.go.add_permits(200);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
}
