//! Drivers that say nothing, or take their time.

use super::judged::{assert_failed, broken_off, judged, judged_with, settings};
use super::server::{Act, Server};
use lbcf_conformance::settings::Settings;
use std::time::Duration;

const MANY_CALLS: Duration = Duration::from_secs(20);

#[tokio::test]
async fn one_that_takes_connections_and_says_nothing() {
    let server = Server::new(|_, _| Act::Hang).await;
    let judged = judged(&server).await;
    judged.is_unreachable("no whole answer within");
    assert!(judged.took < MANY_CALLS, "{:?}", judged.took);
}

#[tokio::test]
async fn one_that_answers_nothing_but_healthz_is_given_up_soon() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        _ => Act::Hang,
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "no whole answer within 300ms");
    let broken_off = broken_off(report);
    assert!(broken_off.len() > 20, "{}", broken_off.len());
    let reason = &broken_off[0].reason;
    assert!(reason.contains("nothing but healthz"), "{reason}");
    assert!(report.unreachable.is_some());
    // By far not every check's calls one after the other.
    assert!(judged.took < MANY_CALLS, "{:?}", judged.took);
}

#[tokio::test]
async fn one_that_stops_answering_in_the_middle() {
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
async fn one_that_hangs_on_one_webhook_only_is_judged_by_all_others() {
    let server = Server::new(|path, _| match path {
        "healthz" => Act::healthy(),
        "ensureBackend" => Act::Hang,
        "generateBackendAddr" => {
            Act::answer(200, r#"{"status":"Succ","backendAddr":"10.0.0.1:80"}"#)
        }
        _ => Act::answer(200, r#"{"status":"Succ","succ":true}"#),
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    assert_failed(report, "ENS-01", "no whole answer within 300ms");
    assert_failed(report, "LAT-01", "ensureBackend");
    assert_eq!(broken_off(report).len(), 0);
    assert_eq!(report.unreachable, None);
}

#[tokio::test]
async fn one_that_is_running_for_ever() {
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
async fn one_that_asks_to_wait_for_years() {
    for seconds in ["2147483647", "9223372036854775807", "1.8e19"] {
        let body = format!(r#"{{"status":"Running","minRetryDelayInSeconds":{seconds}}}"#);
        let server = Server::new(move |path, _| match path {
            "healthz" => Act::healthy(),
            _ => Act::answer(200, &body),
        })
        .await;
        let judged = judged(&server).await;
        let report = judged.failed();
        assert_failed(report, "CLB-01", "still Running");
    }
}

#[tokio::test]
async fn the_budget_for_the_run_holds_for_all_of_it() {
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
            // What is left is not tried to be taken away: that has a time of its own.
            cleanup: false,
            ..settings()
        },
    )
    .await;
    let report = judged.failed();
    assert_failed(report, "CLB-01", "still going on");
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
