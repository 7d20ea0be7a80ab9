//! Observers that fail, now and then or always.

use crate::bent::{fixture, mock, only};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse as _;
use lbcf_conformance::Suite;
use lbcf_conformance::report::{Exit, FailurePolicy, Report, SkipKind, Status};
use lbcf_conformance::settings::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The mock, whose observer fails for the requests with these numbers, from 0; and their number.
fn failing(when: fn(usize) -> bool) -> (Router, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let router = mock(Duration::ZERO).layer(from_fn(move |request: Request, next: Next| {
        let count = counted.clone();
        async move {
            let observes = request.uri().path().starts_with("/_mock/observe");
            if observes && when(count.fetch_add(1, Ordering::SeqCst)) {
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
            next.run(request).await
        }
    }));
    (router, count)
}

async fn run(router: Router, checks: &str) -> Report {
    let suite = Suite::of_router(router)
        .fixture(fixture())
        .settings(Settings {
            // So that requests come in a known order.
            jobs: 1,
            ..only(checks)
        })
        .observe_path("_mock/observe");
    suite.run().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_fails_now_and_then_is_asked_again() {
    // Two of three requests fail.
    let (router, _) = failing(|nth| nth % 3 != 2);
    let report = run(router, "ENS").await;
    assert_eq!(report.observer_failures, [""; 0]);
    let missing = report.results.iter().filter(|result| {
        result.skip == Some(SkipKind::Missing) && result.reason.contains("observer")
    });
    assert_eq!(missing.count(), 0);
    assert_eq!(report.summary.failed, 0);
    assert_eq!(Exit::of(&report, FailurePolicy::default()), Exit::Passed);
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_stays_broken_ends_with_exit_code_2() {
    // It works at the start, so the run begins.
    let (router, count) = failing(|nth| nth > 0);
    let report = run(router, "ENS-01,CLB-03").await;
    let named: Vec<&str> = report
        .observer_failures
        .iter()
        .filter_map(|failure| failure.split_once(": the observer"))
        .map(|(check, _)| check)
        .collect();
    assert_eq!(named, ["CLB-03", "ENS-01", "the end of the run"]);
    assert!(report.observer_failures[0].contains("HTTP 500"));
    for id in ["ENS-01", "CLB-03"] {
        let result = crate::bent::result(&report, id);
        assert_eq!(result.status, Status::Skipped, "{id}");
    }
    assert_eq!(Exit::of(&report, FailurePolicy::default()), Exit::Usage);
    // One at the start, and three for each of them.
    assert_eq!(count.load(Ordering::SeqCst), 1 + 3 * 3);
    let human = lbcf_conformance::output::render(
        &report,
        lbcf_conformance::output::Format::Human,
        &lbcf_conformance::output::Show::default(),
    );
    let human: Vec<String> = human
        .unwrap()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let human = human.join(" ");
    assert!(human.contains("the observer failed in 3 checks"), "{human}");
}

#[tokio::test]
async fn a_mistake_of_an_observer_is_named_by_its_place() {
    let body = r#"{"loadBalancers":[{"lbInfo":{"lbID":"lb-1"}},{"lbInfo":{},"attributes":{"cert":null}}]}"#;
    let router =
        mock(Duration::ZERO).layer(from_fn(move |request: Request, next: Next| async move {
            match request.uri().path() {
                "/_mock/observe" => body.into_response(),
                _ => next.run(request).await,
            }
        }));
    let suite = Suite::of_router(router).fixture(fixture());
    let error = suite.observe_path("_mock/observe").run().await.unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("loadBalancers[1].attributes.cert: invalid type: null"),
        "{error}"
    );
}
