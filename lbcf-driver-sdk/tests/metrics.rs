//! The metrics.

use crate::support::{actor, ensure, ok, post, send, spawn_ok};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use lbcf_driver_sdk::server::{DriverRouter, Settings, prometheus};
use serde_json::json;
use std::sync::Arc;

const ENSURE: &str = "/ensureBackend";

fn measured() -> (Router, Arc<crate::support::HookGate>) {
    let (actor, stage) = actor();
    let settings = Settings {
        max_running_hooks: 2,
        ..Settings::default()
    };
    let driver = DriverRouter::with(actor, settings);
    let metrics = driver.metrics_router();
    (metrics.merge(driver.build()), stage)
}

async fn scrape(router: &Router) -> String {
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let response = send(router, request).await;
    assert_eq!(response.status(), StatusCode::OK);
    let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap();
    assert!(content_type.starts_with("text/plain"), "{content_type}");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

/// The value of a series that is written like this.
async fn value(router: &Router, series: &str) -> f64 {
    let text = scrape(router).await;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("lbcf_driver_")?.strip_prefix(series))
        .unwrap_or_else(|| panic!("{series} is not in {text}"));
    line.trim().parse().unwrap()
}

fn calls(webhook: &str, outcome: &str) -> String {
    format!("calls_total{{outcome=\"{outcome}\",webhook=\"{webhook}\"}}")
}

async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_is_counted_by_its_response() {
    let (router, stage) = measured();
    ok(&router, ENSURE, &ensure("1", json!({}))).await;
    ok(&router, ENSURE, &ensure("1", json!({"do": "fail"}))).await;
    let panics = ensure("1", json!({"do": "panic"})).to_string();
    post(&router, ENSURE, panics).await;
    post(&router, ENSURE, "[]").await;
    ok(&router, ENSURE, &ensure("1", json!({"do": "wait"}))).await;
    let gone = spawn_ok(&router, ENSURE, ensure("1", json!({"do": "wait"})));
    settle().await;
    gone.abort();
    let _ = gone.await;
    for refused in ["", "refuse"] {
        let body = json!({"operation": "Create", "parameters": {"do": refused}});
        ok(&router, "/validateBackend", &body).await;
    }
    ok(&router, "/healthz", &json!({})).await;
    for outcome in ["succ", "fail", "running", "panicked", "rejected", "hung_up"] {
        let count = value(&router, &calls("ensureBackend", outcome)).await;
        assert_eq!(count, 1.0, "{outcome}");
    }
    assert_eq!(value(&router, &calls("validateBackend", "yes")).await, 1.0);
    assert_eq!(value(&router, &calls("validateBackend", "no")).await, 1.0);
    assert_eq!(value(&router, &calls("healthz", "healthy")).await, 1.0);
    let answered = "answer_duration_seconds_count{webhook=\"ensureBackend\"}";
    assert_eq!(value(&router, answered).await, 5.0);
    stage.go.add_permits(1);
}

#[tokio::test(start_paused = true)]
async fn hooks_are_counted_while_they_wait_and_run_and_when_they_are_over() {
    let (router, stage) = measured();
    let on = |backend: &str, weight: &str| {
        let mut body = ensure("1", json!({"do": "wait", "weight": weight}));
        body["recordID"] = backend.into();
        body
    };
    let gauge = |name: &str| format!("{name}{{webhook=\"ensureBackend\"}}");
    let bodies = [on("a", "1"), on("a", "2"), on("b", "1"), on("c", "1")];
    let mut calls: Vec<_> = bodies.map(|body| spawn_ok(&router, ENSURE, body)).into();
    settle().await;
    calls.push(spawn_ok(&router, ENSURE, on("b", "1")));
    settle().await;
    assert_eq!(value(&router, &gauge("running_hooks")).await, 2.0);
    assert_eq!(value(&router, &gauge("waiting_hooks")).await, 2.0);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Running");
    }
    let unfinished = |because: &str| {
        format!("unfinished_calls_total{{because=\"{because}\",webhook=\"ensureBackend\"}}")
    };
    assert_eq!(value(&router, &unfinished("running")).await, 3.0);
    assert_eq!(value(&router, &unfinished("waits_for_turn")).await, 1.0);
    assert_eq!(value(&router, &unfinished("waits_for_place")).await, 1.0);
    stage.go.add_permits(4);
    stage.lines(8).await;
    settle().await;
    assert_eq!(value(&router, &gauge("running_hooks")).await, 0.0);
    assert_eq!(value(&router, &gauge("waiting_hooks")).await, 0.0);
    let over = gauge("hook_duration_seconds_count");
    assert_eq!(value(&router, &over).await, 4.0);
    assert!(value(&router, &gauge("hook_duration_seconds_sum")).await >= 8.0);
    // That of "a 1" was replaced by "a 2".
    assert_eq!(value(&router, "kept_results").await, 3.0);
    ok(&router, ENSURE, &on("b", "1")).await;
    assert_eq!(value(&router, "kept_results").await, 2.0);
    for by in ["joining", "collecting"] {
        let series = format!("repeated_calls_total{{by=\"{by}\",webhook=\"ensureBackend\"}}");
        assert_eq!(value(&router, &series).await, 1.0);
    }
}

#[tokio::test]
async fn what_is_no_proper_call_is_counted_by_its_status() {
    let (router, _) = measured();
    post(&router, ENSURE, "[]").await;
    post(&router, ENSURE, vec![b' '; (4 << 20) + 1]).await;
    post(&router, "/nothing", "{}").await;
    let get = Request::get(ENSURE).body(Body::empty()).unwrap();
    send(&router, get).await;
    for status in [400, 404, 405, 413] {
        let series = format!("rejected_calls_total{{status=\"{status}\"}}");
        assert_eq!(value(&router, &series).await, 1.0, "{status}");
    }
    assert_eq!(
        value(&router, "rejected_calls_total{status=\"408\"}").await,
        0.0
    );
}

#[tokio::test]
async fn a_driver_shows_metrics_of_its_own() {
    let driver = DriverRouter::new(actor().0);
    let quota = prometheus::IntGauge::new("my_cloud_quota", "Load balancers to be had.").unwrap();
    driver.registry().register(Box::new(quota.clone())).unwrap();
    let router = driver.metrics_router();
    quota.set(7);
    assert!(scrape(&router).await.contains("my_cloud_quota 7"));
    // Two routers in one process do not know of each other.
    let other = DriverRouter::new(actor().0).metrics_router();
    assert!(!scrape(&other).await.contains("my_cloud_quota"));
}

/// The application's own metric, which breaks.
struct Breaks(prometheus::core::Desc);

impl prometheus::core::Collector for Breaks {
    fn desc(&self) -> Vec<&prometheus::core::Desc> {
        vec![&self.0]
    }

    fn collect(&self) -> Vec<prometheus::proto::MetricFamily> {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_collector_that_panics_is_a_500() {
    let driver = DriverRouter::new(actor().0);
    let desc = prometheus::core::Desc::new(
        "broken".into(),
        "It breaks.".into(),
        Vec::new(),
        std::collections::HashMap::new(),
    );
    let breaks = Breaks(desc.unwrap());
    driver.registry().register(Box::new(breaks)).unwrap();
    let request = Request::get("/metrics").body(Body::empty()).unwrap();
    let response = send(&driver.metrics_router(), request).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
}
