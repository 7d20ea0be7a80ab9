//! Drivers that do not respond, or are slow.

use super::judged::{assert_failed, broken_off, judged, judged_with, settings};
use super::server::{Act, Server};
use lbcf_conformance::settings::Settings;
use std::time::Duration;

const MANY_CALLS: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_driver_that_accepts_connections_and_sends_nothing() {
    let server = Server::new(|_, _| Act::Hang).await;
    let judged = judged(&server).await;
    judged.is_unreachable("no complete response within");
    assert!(judged.took < MANY_CALLS, "{:?}", judged.took);
}

/// The last probe ends with the time to wait, and says less than the first one.
#[tokio::test]
async fn a_driver_that_closes_a_connection_and_then_sends_nothing() {
    let server = Server::new(|_, nth| match nth {
        0 => Act::Say(Vec::new()),
        _ => Act::Hang,
    })
    .await;
    let judged = judged(&server).await;
    judged.is_unreachable("the connection closed before the response");
}

#[tokio::test]
async fn a_driver_that_responds_only_to_healthz_stops_the_run() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        _ => Act::Hang,
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "no complete response within 300ms");
    let broken_off = broken_off(report);
    assert!(broken_off.len() > 20, "{}", broken_off.len());
    let reason = &broken_off[0].reason;
    assert!(reason.contains("to healthz only"), "{reason}");
    assert!(report.unreachable.is_some());
    // Far less than the time of all calls in sequence.
    assert!(judged.took < MANY_CALLS, "{:?}", judged.took);
}

#[tokio::test]
async fn a_driver_that_stops_responding() {
    let server = Server::new(|path, nth| match path {
        "healthz" => Act::healthy(),
        _ if nth < 30 => Act::answer(200, r#"{"status":"Succ","succ":true}"#),
        _ => Act::Hang,
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    assert!(report.unreachable.is_some());
    assert!(!broken_off(report).is_empty());
}

#[tokio::test]
async fn one_hanging_webhook_does_not_stop_the_run() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        "ensureBackend" => Act::Hang,
        "generateBackendAddr" => {
            Act::answer(200, r#"{"status":"Succ","backendAddr":"10.0.0.1:80"}"#)
        }
        _ => Act::answer(200, r#"{"status":"Succ","succ":true}"#),
    })
    .await;
    // The others respond in time on a busy machine, too.
    let timeout = Some(Duration::from_secs(2));
    let judged = judged_with(
        &server,
        Settings {
            timeout,
            ..settings()
        },
    )
    .await;
    let report = judged.failed();
    assert_failed(report, "ENS-01", "no complete response within 2s");
    assert_failed(report, "LAT-01", "ensureBackend");
    assert_eq!(broken_off(report).len(), 0);
    assert_eq!(report.unreachable, None);
}

#[tokio::test]
async fn a_driver_that_is_running_indefinitely() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        _ => Act::answer(200, r#"{"status":"Running"}"#),
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "still Running");
}

#[tokio::test]
async fn a_driver_that_requests_a_delay_of_years() {
    for seconds in ["2147483647", "9223372036854775807", "1.8e19"] {
        let body = format!(r#"{{"status":"Running","minRetryDelayInSeconds":{seconds}}}"#);
        let server = Server::new(move |path, _| match path {
            "healthz" => Act::healthy(),
            _ => Act::answer(200, &body),
        })
        .await;
        let judged = judged(&server).await;
        let report = judged.failed();
        assert_failed(report, "CLB-01", "which is longer");
    }
}

#[tokio::test]
async fn the_total_budget_limits_the_run() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        _ => Act::answer(200, r#"{"status":"Running"}"#),
    })
    .await;
    let budget = Duration::from_secs(2);
    let judged = judged_with(
        &server,
        Settings {
            total_budget: Some(budget),
            async_budget: Some(Duration::from_secs(3600)),
            // Cleanup has its own time limit.
            cleanup: false,
            ..settings()
        },
    )
    .await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "still running after");
    assert!(
        broken_off(report)[0]
            .reason
            .contains("the time for the whole run is up (2s)")
    );
    assert!(
        judged.took < budget + Duration::from_secs(5),
        "{:?}",
        judged.took
    );
}
