//! Runs on drivers that cannot be tested end soon, with the default settings: within 60 s of a paused
//! clock, and after few calls.

use crate::bent::{Reply, driver, fixture, ids, mock, result};
use axum::Router;
use lbcf_conformance::Suite;
use lbcf_conformance::report::{CheckResult, Exit, FailurePolicy, Report, Status};
use lbcf_conformance::settings::Settings;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// All checks, with the default settings.
async fn run(router: Router) -> Report {
    let suite = Suite::of_router(router)
        .fixture(fixture())
        .settings(Settings::default())
        .observe_path("_mock/observe");
    suite.run().await.unwrap()
}

/// The mock, one of whose webhooks does something else; and the number of calls of that.
fn with(webhook: &'static str, instead: Option<Reply>) -> (Router, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let router = driver(mock(Duration::ZERO), move |inner, called, request| {
        let (instead, count) = (instead.clone(), counted.clone());
        async move {
            if called != webhook {
                return inner.call(&called, &request).await;
            }
            count.fetch_add(1, Ordering::SeqCst);
            match instead {
                Some(reply) => reply,
                None => std::future::pending().await,
            }
        }
    });
    (router, count)
}

fn running() -> Option<Reply> {
    Some(Reply::ok(json!({"status": "Running", "msg": "creating"})))
}

/// The failed checks, then those that took the longest, for messages.
fn notable(report: &Report) -> Vec<String> {
    let mut results: Vec<_> = report.results.iter().collect();
    results.sort_by_key(|result| {
        (
            result.status != Status::Failed,
            std::cmp::Reverse(result.ms),
        )
    });
    let line = |result: &&CheckResult| {
        let CheckResult { id, ms, reason, .. } = result;
        format!("{id} {ms} ms {reason}")
    };
    results.iter().take(8).map(line).collect()
}

fn is_judged_soon(report: &Report) {
    assert!(
        report.ms < 60_000,
        "{} ms: {:#?}",
        report.ms,
        notable(report)
    );
    let exit = Exit::of(report, FailurePolicy::default());
    assert_eq!(exit, Exit::Failed, "{:?}", report.summary);
}

#[tokio::test(start_paused = true)]
async fn a_creation_that_never_ends() {
    let (router, calls) = with("createLoadBalancer", running());
    let report = run(router).await;
    is_judged_soon(&report);
    let basis = result(&report, "CLB-01");
    assert_eq!(basis.status, Status::Failed);
    assert!(basis.reason.contains("still Running"), "{}", basis.reason);
    // What stands on it is skipped, and says on what.
    for id in ["CLB-03", "ENS-02", "LIFE-01", "RTRY-01", "CONC-01"] {
        let result = result(&report, id);
        assert_eq!(result.status, Status::Skipped, "{id}: {}", result.reason);
        assert!(
            result.reason.starts_with("depends on CLB-01"),
            "{}",
            result.reason
        );
    }
    // CLB-01 alone polls about 60 times; bad input and concurrent calls are most of the others.
    let calls = calls.load(Ordering::SeqCst);
    assert!(calls < 500, "{calls} calls");
}

#[tokio::test(start_paused = true)]
async fn a_creation_that_never_responds() {
    let (router, calls) = with("createLoadBalancer", None);
    let report = run(router).await;
    is_judged_soon(&report);
    let basis = result(&report, "CLB-01");
    assert!(
        basis.reason.contains("no complete response within 10s"),
        "{}",
        basis.reason
    );
    let calls = calls.load(Ordering::SeqCst);
    assert!(calls < 100, "{calls} calls");
}

#[tokio::test(start_paused = true)]
async fn other_operations_that_never_end() {
    for (webhook, basis) in [
        ("ensureLoadBalancer", "ELB-01"),
        ("generateBackendAddr", "GEN-01"),
        ("ensureBackend", "ENS-01"),
        ("deregisterBackend", "DRG-01"),
        ("deleteLoadBalancer", "DLB-01"),
        ("listBackends", "LST-01"),
    ] {
        let (router, _) = with(webhook, running());
        let report = run(router).await;
        assert!(
            report.ms < 60_000,
            "{webhook}: {} ms: {:#?}",
            report.ms,
            notable(&report)
        );
        let failed = ids(&report, Status::Failed);
        assert!(failed.contains(&basis), "{webhook}: {failed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn everything_but_healthz_is_running_indefinitely() {
    let router = driver(mock(Duration::ZERO), |inner, called, request| async move {
        match called.as_str() {
            "healthz" => inner.call(&called, &request).await,
            _ => Reply::ok(json!({"status": "Running"})),
        }
    });
    is_judged_soon(&run(router).await);
}

#[tokio::test(start_paused = true)]
async fn slow_operations_that_end_are_no_reason_to_hurry() {
    // Each creation takes longer than that of a hopeless driver would be waited for.
    let report = run(mock(Duration::from_secs(4))).await;
    assert_eq!(
        ids(&report, Status::Failed),
        [""; 0],
        "{:#?}",
        notable(&report)
    );
}
