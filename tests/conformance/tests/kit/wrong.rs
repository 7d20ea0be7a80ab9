//! Drivers with one defect that the matrix of defects does not have, and that checks of BAD, LIFE and LAT detect.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use http::{Method, StatusCode};
use lbcf_conformance::Suite;
use lbcf_conformance::report::Status;
use lbcf_conformance::settings::Settings;
use mock_driver::{ClbDriver, Cloud, MockOptions};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A call, seen before the mock handles it.
struct Asked {
    method: Method,
    webhook: String,
    body: Bytes,
    /// Null if it is not JSON.
    json: Value,
}

impl Asked {
    /// Whether it is a call of this webhook.
    fn is(&self, webhook: &str) -> bool {
        self.webhook == webhook
    }

    /// A field, as text.
    fn text(&self, field: &str) -> String {
        self.json[field].to_string()
    }
}

/// The response in place of the mock, or `None`.
type Instead = Option<Response>;

fn say(body: &'static str) -> Instead {
    Some(body.into_response())
}

const SUCC: &str = r#"{"status":"Succ","succ":true,"msg":""}"#;
const FAIL: &str = r#"{"status":"Fail","succ":false,"msg":"no"}"#;

/// The failed checks of the mock with `say` in front of it.
async fn failed(
    only: &str,
    settings: Settings,
    twist: impl Fn(Asked, Cloud) -> BoxFuture<'static, Instead> + Clone + Send + Sync + 'static,
) -> Vec<String> {
    let cloud = Cloud::with_samples();
    let seen = cloud.clone();
    let before = move |request: Request, next: Next| {
        let (twist, cloud) = (twist.clone(), seen.clone());
        async move {
            let webhook = request.uri().path().trim_start_matches('/').to_owned();
            if webhook.starts_with("_mock") {
                return next.run(request).await;
            }
            let (parts, body) = request.into_parts();
            // A call whose body is incomplete does not count.
            let Ok(body) = to_bytes(body, usize::MAX).await else {
                return StatusCode::BAD_REQUEST.into_response();
            };
            let asked = Asked {
                method: parts.method.clone(),
                webhook,
                json: serde_json::from_slice(&body).unwrap_or_default(),
                body: body.clone(),
            };
            match twist(asked, cloud).await {
                Some(instead) => instead,
                None => next.run(Request::from_parts(parts, Body::from(body))).await,
            }
        }
    };
    let router = mock_driver::router(ClbDriver::new(cloud, MockOptions::default()));
    let suite = Suite::of_router(router.layer(from_fn(before)));
    let settings = Settings {
        only: only.split(',').map(str::to_owned).collect(),
        ..settings
    };
    let suite = suite.fixture_file(super::FIXTURE).unwrap();
    let report = suite.settings(settings).run().await.unwrap();
    let results = report.results.into_iter();
    results
        .filter(|result| result.status == Status::Failed)
        .map(|result| result.id)
        .collect()
}

/// The checks of BAD, and those of LIFE to show that only BAD fails.
const BAD: &str = "BAD,LIFE-01,HLTH";

#[tokio::test]
async fn bodies_without_a_limit() {
    let failed = failed(BAD, Settings::default(), |asked, _| {
        let is_long = asked.body.len() > 10_000_000;
        Box::pin(async move { is_long.then(|| say(SUCC)).flatten() })
    });
    assert_eq!(failed.await, ["BAD-04"]);
}

#[tokio::test]
async fn a_lock_that_stays_locked_after_bad_input() {
    for only in [BAD, "BAD-05"] {
        let locked = Arc::new(AtomicBool::new(false));
        let failed = failed(only, Settings::default(), move |asked, _| {
            if asked.webhook == "ensureLoadBalancer" && asked.json.is_null() {
                locked.store(true, Ordering::SeqCst);
            }
            let fails = asked.is("createLoadBalancer")
                && asked.method == Method::POST
                && asked.json.is_object()
                && locked.load(Ordering::SeqCst);
            Box::pin(async move { fails.then(|| say(FAIL)).flatten() })
        });
        assert_eq!(failed.await, ["BAD-05"]);
    }
}

#[tokio::test]
async fn what_was_changed_is_not_deleted() {
    let failed = failed("LIFE,DLB,ELB", Settings::default(), |asked, _| {
        let is_changed = asked
            .text("attributes")
            .contains("BANDWIDTH_POSTPAID_BY_HOUR");
        let keeps = asked.is("deleteLoadBalancer") && is_changed;
        Box::pin(async move { keeps.then(|| say(SUCC)).flatten() })
    });
    assert_eq!(failed.await, ["LIFE-01"]);
}

#[tokio::test]
async fn what_was_broken_off_stays_locked() {
    /// Stays locked if dropped early.
    struct Lock(Arc<Mutex<HashSet<String>>>, Option<String>);
    impl Drop for Lock {
        fn drop(&mut self) {
            self.0.lock().unwrap().extend(self.1.take());
        }
    }
    let locked = Arc::new(Mutex::new(HashSet::new()));
    let failed = failed("LIFE", Settings::default(), move |asked, _| {
        let locked = locked.clone();
        Box::pin(async move {
            let record_id = asked.text("recordID");
            if locked.lock().unwrap().contains(&record_id) {
                return say(FAIL);
            }
            let mut lock = Lock(locked, Some(record_id));
            tokio::time::sleep(Duration::from_millis(30)).await;
            lock.1 = None;
            None
        })
    });
    // A restart interrupts calls, too.
    assert_eq!(failed.await, ["LIFE-03", "LIFE-05"]);
}

#[tokio::test]
async fn a_place_is_freed_before_another_is_taken() {
    let failed = failed("LIFE", Settings::default(), |asked, cloud| {
        let mut seen = cloud.observe().load_balancers.into_iter();
        let is_full = seen.any(|one| one.backends.len() >= 22);
        let drops = asked.is("ensureBackend") && is_full;
        Box::pin(async move { drops.then(|| say(SUCC)).flatten() })
    });
    assert_eq!(failed.await, ["LIFE-04"]);
}

#[tokio::test]
async fn answers_after_the_timeout() {
    let settings = Settings {
        timeout: Some(Duration::from_millis(500)),
        ..Settings::default()
    };
    let failed = failed("LAT", settings, |asked, _| {
        let is_slow = asked.is("ensureLoadBalancer");
        let by = Duration::from_millis(if is_slow { 600 } else { 0 });
        Box::pin(async move {
            tokio::time::sleep(by).await;
            None
        })
    });
    assert_eq!(failed.await, ["LAT-01"]);
}
