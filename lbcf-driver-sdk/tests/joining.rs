//! Repeated calls join, collect once, and never swallow a change (d28).

use crate::support::{actor, ensure, ok, spawn_ok, stage, takes_maps};
use axum::Router;
use lbcf_driver_sdk::request::{DeregisterBackend, EnsureBackend, GenerateBackendAddr};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Waker};
use std::time::Duration;

const PATH: &str = "/ensureBackend";

fn wait(retry_id: &str) -> Value {
    ensure(retry_id, json!({"do": "wait"}))
}

fn weight(retry_id: &str, weight: &str) -> Value {
    ensure(retry_id, json!({"do": "wait", "weight": weight}))
}

/// Runs all tasks until they wait.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn d28_ten_equal_calls_share_one_run_and_all_get_its_answer() {
    let (router, stage) = stage();
    let calls: Vec<_> = (0..10)
        .map(|n| spawn_ok(&router, PATH, wait(&n.to_string())))
        .collect();
    settle().await;
    stage.go.add_permits(1);
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    assert_eq!(stage.log(), ["begin a", "end a"]);
    assert_eq!(answers[0]["status"], "Succ");
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}

#[tokio::test(start_paused = true)]
async fn d28_a_slow_operation_is_running_and_its_result_is_collected_once() {
    let (router, stage) = stage();
    let started = tokio::time::Instant::now();
    let answer = ok(&router, PATH, &wait("1")).await;
    assert_eq!(answer["status"], "Running");
    assert_eq!(answer["minRetryDelayInSeconds"], 1);
    assert_eq!(answer["msg"], "ensureBackend still runs");
    assert_eq!(started.elapsed().as_secs(), 8);

    // A call while it runs joins it.
    assert_eq!(ok(&router, PATH, &wait("2")).await["status"], "Running");
    stage.go.add_permits(1);
    stage.lines(2).await;
    settle().await;
    // The result is that of the first call.
    let collected = ok(&router, PATH, &wait("3")).await;
    assert_eq!(collected["injectedInfo"]["seen"], "1");

    // Nothing is remembered: the next call is work again.
    stage.go.add_permits(1);
    let again = ok(&router, PATH, &wait("4")).await;
    assert_eq!(again["injectedInfo"]["seen"], "4");
    assert_eq!(stage.log(), ["begin a", "end a", "begin a", "end a"]);
}

#[tokio::test(start_paused = true)]
async fn d28_a_call_after_the_result_was_delivered_runs_again() {
    let (router, stage) = stage();
    for retry in ["1", "2"] {
        let answer = ok(&router, PATH, &ensure(retry, json!({}))).await;
        assert_eq!(answer["injectedInfo"]["seen"], retry);
    }
    assert_eq!(stage.log().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn d28_changed_content_runs_after_the_earlier_in_order() {
    let (router, stage) = stage();
    let calls: Vec<_> = ["10", "20", "10"]
        .into_iter()
        .map(|n| spawn_ok(&router, PATH, weight(n, n)))
        .collect();
    settle().await;
    assert_eq!(stage.log(), ["begin a 10"]);
    stage.go.add_permits(3);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
    // The last word is that of the last call, although an equal one had begun already.
    assert_eq!(
        stage.log(),
        [
            "begin a 10",
            "end a 10",
            "begin a 20",
            "end a 20",
            "begin a 10",
            "end a 10"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn d28_changed_content_drops_the_uncollected_result() {
    let (router, stage) = stage();
    assert_eq!(
        ok(&router, PATH, &weight("1", "10")).await["status"],
        "Running"
    );
    stage.go.add_permits(1);
    stage.lines(2).await;
    stage.go.add_permits(2);
    let changed = ok(&router, PATH, &weight("2", "20")).await;
    assert_eq!(changed["injectedInfo"]["seen"], "2");
    let back = ok(&router, PATH, &weight("3", "10")).await;
    assert_eq!(back["injectedInfo"]["seen"], "3");
    assert_eq!(stage.log().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_call_behind_another_reports_that_it_waits() {
    let (router, _stage) = stage();
    let first = spawn_ok(&router, PATH, weight("1", "10"));
    settle().await;
    let second = ok(&router, PATH, &weight("2", "20")).await;
    assert_eq!(second["status"], "Running");
    assert_eq!(
        second["msg"],
        "ensureBackend waits for earlier operations to finish"
    );
    assert_eq!(first.await.unwrap()["status"], "Running");
}

#[tokio::test(start_paused = true)]
async fn an_uncollected_result_is_dropped_after_its_time() {
    let (actor, stage) = actor();
    let settings = Settings {
        keep_results: Duration::from_secs(60),
        ..Settings::default()
    };
    let router = DriverRouter::with(actor, settings).build();
    for (pause, seen) in [(59, "1"), (61, "4")] {
        let first = if seen == "1" { "1" } else { "3" };
        assert_eq!(ok(&router, PATH, &wait(first)).await["status"], "Running");
        let lines = stage.log().len();
        stage.go.add_permits(1);
        stage.lines(lines + 1).await;
        settle().await;
        tokio::time::sleep(Duration::from_secs(pause)).await;
        stage.go.add_permits(1);
        let then = if seen == "1" { "2" } else { "4" };
        let answer = ok(&router, PATH, &wait(then)).await;
        assert_eq!(answer["injectedInfo"]["seen"], seen);
        // Take back the permit that collecting did not need.
        if seen == "1" {
            stage.go.acquire().await.unwrap().forget();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_join_only_within_webhook_record_and_dry_run() {
    let (router, stage) = stage();
    let mut dry_run = wait("1");
    dry_run["dryRun"] = true.into();
    let mut other_record = wait("1");
    other_record["recordID"] = "ensureBackend(2)".into();
    let mut nameless = wait("1");
    nameless["recordID"] = "".into();
    let mut calls: Vec<_> = [wait("1"), dry_run, other_record, nameless]
        .into_iter()
        .map(|body| spawn_ok(&router, PATH, body))
        .collect();
    calls.push(spawn_ok(&router, "/deregisterBackend", wait("1")));
    settle().await;
    assert_eq!(stage.log().len(), 5);
    stage.go.add_permits(5);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_collected_once_and_then_tried_again() {
    let (router, stage) = stage();
    let body = |retry| ensure(retry, json!({"do": "fail"}));
    assert_eq!(ok(&router, PATH, &body("1")).await["status"], "Fail");
    assert_eq!(ok(&router, PATH, &body("2")).await["status"], "Fail");
    assert_eq!(stage.log().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn d28_the_same_request_joins_however_it_is_written() {
    let (router, stage) = stage();
    let first =
        r#"{"recordID":"r","retryID":"1","backendAddr":"a","parameters":{"a":"1","do":"wait"}}"#;
    let again = r#" {"parameters": {"do": "wait", "a": "1"}, "BACKENDADDR": "a", "injectedInfo": null,
        "recordID": "r", "retryID": "2", "somethingNew": 7}"#;
    let other =
        r#"{"recordID":"r","retryID":"1","backendAddr":"a","parameters":{"a":"2","do":"wait"}}"#;
    let calls: Vec<_> = [first, again, other]
        .map(|body| {
            let router = router.clone();
            tokio::spawn(async move { crate::support::post(&router, PATH, body).await })
        })
        .into();
    settle().await;
    stage.go.add_permits(3);
    let mut seen = Vec::new();
    for call in calls {
        seen.push(call.await.unwrap().1["injectedInfo"]["seen"].clone());
    }
    assert_eq!(seen, ["1", "1", "1"]);
    // Two runs: one for the first two calls, and one for the third.
    assert_eq!(stage.log().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn calls_without_a_record_join_by_their_content() {
    let (router, stage) = stage();
    let nameless = |retry: &str, backend: &str| {
        let mut body = wait(retry);
        body["recordID"] = "".into();
        body["backendAddr"] = backend.into();
        body
    };
    let calls: Vec<_> = [nameless("1", "a"), nameless("2", "a"), nameless("3", "b")]
        .into_iter()
        .map(|body| spawn_ok(&router, PATH, body))
        .collect();
    settle().await;
    assert_eq!(stage.log(), ["begin a", "begin b"]);
    stage.go.add_permits(2);
    for (call, seen) in calls.into_iter().zip(["1", "1", "3"]) {
        assert_eq!(call.await.unwrap()["injectedInfo"]["seen"], seen);
    }
}

type Call = Pin<Box<dyn Future<Output = Value> + Send>>;

/// A driver whose hook polls an equal call before it ends, as another thread may do.
#[derive(Clone, Default)]
struct JoinedInTime {
    router: Arc<OnceLock<Router>>,
    joined: Arc<Mutex<Option<Call>>>,
}

impl Driver for JoinedInTime {
    takes_maps!(creates nothing);

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Err(HookError::fail("not called"))
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let router = self.router.get().unwrap().clone();
        let mut call: Call =
            Box::pin(async move { ok(&router, PATH, &ensure("2", json!({}))).await });
        let mut context = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        *self.joined.lock().unwrap() = Some(call);
        Ok(StringMap::from([("seen".into(), request.retry_id)]))
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
}

#[tokio::test]
async fn d28_a_call_that_joins_a_hook_that_is_done_at_once_gets_its_result() {
    let driver = JoinedInTime::default();
    let router = DriverRouter::new(driver.clone()).build();
    driver.router.set(router.clone()).unwrap();
    let first = ok(&router, PATH, &ensure("1", json!({}))).await;
    let joined = driver.joined.lock().unwrap().take().unwrap();
    assert_eq!(joined.await, first);
    assert_eq!(first["injectedInfo"]["seen"], "1");
}
