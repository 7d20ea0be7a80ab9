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
async fn a_delay_that_is_longer_than_the_budget_is_called_one() {
    let late = json!({"status": "Running", "minRetryDelayInSeconds": 600});
    let (router, calls) = with("createLoadBalancer", Some(Reply::ok(late)));
    let report = run(router).await;
    let reason = &result(&report, "CLB-01").reason;
    assert!(
        reason.contains("a minRetryDelayInSeconds of 600 s, which is longer"),
        "{reason}"
    );
    assert!(calls.load(Ordering::SeqCst) < 200, "{calls:?} calls");
}

#[tokio::test(start_paused = true)]
async fn failures_have_their_common_cause_first() {
    let broken = Reply {
        status: 400,
        body: json!({"error": "oldAttributes is null"}),
    };
    let (router, _) = with("validateLoadBalancer", Some(broken));
    let report = run(router).await;
    let text = lbcf_conformance::output::render(
        &report,
        lbcf_conformance::output::Format::Human,
        &lbcf_conformance::output::Show::default(),
    );
    let text = text.unwrap();
    let (_, causes) = text.split_once("\nCauses\n").unwrap();
    let first = causes.lines().next().unwrap();
    assert!(
        first.contains("checks: HTTP 400") && first.contains("oldAttributes is null"),
        "{first}"
    );
    assert!(
        causes.contains("VLB-01") && causes.contains("\nFailures\n"),
        "{causes}"
    );
}

#[tokio::test(start_paused = true)]
async fn exhaustive_other_operations_that_never_end() {
    let is_exhaustive = std::env::var_os("LBCF_EXHAUSTIVE").is_some();
    let cases = [
        ("ensureLoadBalancer", "ELB-01"),
        ("generateBackendAddr", "GEN-01"),
        ("ensureBackend", "ENS-01"),
        ("deregisterBackend", "DRG-01"),
        ("deleteLoadBalancer", "DLB-01"),
        ("listBackends", "LST-01"),
    ];
    let count = if is_exhaustive { cases.len() } else { 1 };
    for (webhook, basis) in cases.into_iter().take(count) {
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
async fn a_driver_that_takes_nine_seconds_to_fail() {
    let router = driver(mock(Duration::ZERO), |_, _, _| async move {
        tokio::time::sleep(Duration::from_secs(9)).await;
        Reply::ok(json!({"status": "Fail", "msg": "no", "succ": false, "healthy": false}))
    });
    let report = run(router).await;
    is_judged_soon(&report);
    let reason = &result(&report, "CONC-01").reason;
    assert!(
        reason.contains("no load balancer could be created"),
        "{reason}"
    );
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
