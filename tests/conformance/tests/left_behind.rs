//! What the kit lists as left behind, with drivers that read more than they should, or delete less.

use crate::bent::{Inner, Reply, driver, fixture, mock, only};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use lbcf_conformance::Suite;
use lbcf_conformance::report::{Exit, FailurePolicy, Report};
use serde_json::json;
use std::time::Duration;

/// A driver whose parser takes an empty body, null, a list and a string for an object without fields,
/// as those of several languages do.
fn tolerant(inner: Router) -> Router {
    inner.layer(from_fn(async |request: Request, next: Next| {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 64 << 20).await.unwrap();
        let is_post = parts.method == http::Method::POST;
        let has_no_fields = matches!(&body[..], b"" | b"null" | b"[]" | b"\"x\"");
        let body = if is_post && has_no_fields {
            Bytes::from_static(b"{}")
        } else {
            body
        };
        next.run(Request::from_parts(parts, Body::from(body))).await
    }))
}

async fn run(router: Router, checks: &str) -> Report {
    let suite = Suite::of_router(router)
        .fixture(fixture())
        .settings(only(checks))
        .observe_path("_mock/observe");
    suite.run().await.unwrap()
}

#[tokio::test]
async fn a_bad_deletion_that_succeeds_has_deleted_nothing() {
    let report = run(tolerant(mock(Duration::ZERO)), "BAD-01").await;
    assert_eq!(report.left_behind, [""; 0]);
    assert_eq!(report.summary.failed, 0, "{:?}", report.summary);
    let exit = Exit::of(&report, FailurePolicy::default());
    assert_eq!(exit, Exit::Passed);
}

#[tokio::test]
async fn what_is_left_behind_names_the_check_and_the_call_that_made_it() {
    let keeps = driver(
        mock(Duration::ZERO),
        |inner: Inner, called, request| async move {
            if called == "deleteLoadBalancer" {
                return Reply::ok(json!({"status": "Fail", "msg": "no"}));
            }
            inner.call(&called, &request).await
        },
    );
    let report = run(keeps, "CLB-07").await;
    let [left] = &report.left_behind[..] else {
        panic!("{:?}", report.left_behind);
    };
    assert!(left.starts_with("a load balancer with lbInfo {"), "{left}");
    let by = "(created by CLB-07: createLoadBalancer under recordID createLoadBalancer(";
    assert!(left.contains(by), "{left}");
}

#[tokio::test]
async fn what_only_the_observer_knows_names_them_too() {
    // It says that it deleted what it keeps.
    let lies = driver(
        mock(Duration::ZERO),
        |inner: Inner, called, request| async move {
            if called == "deleteLoadBalancer" {
                return Reply::ok(json!({"status": "Succ"}));
            }
            inner.call(&called, &request).await
        },
    );
    let report = run(lies, "CLB-07").await;
    let [left] = &report.left_behind[..] else {
        panic!("{:?}", report.left_behind);
    };
    assert!(
        left.contains("which did not exist before the run"),
        "{left}"
    );
    assert!(
        left.contains("(created by CLB-07: createLoadBalancer under"),
        "{left}"
    );
}
