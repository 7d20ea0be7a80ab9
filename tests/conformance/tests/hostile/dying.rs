//! Drivers that stop in the middle of a run.

use super::judged::{broken_off, judged};
use super::server::{Act, Server};
use lbcf_conformance::report::Status;
use std::time::Duration;

async fn dies_after(calls: usize) {
    let server = Server::new(move |path, nth| match path {
        _ if nth >= calls => Act::Die,
        "healthz" => Act::healthy(),
        "generateBackendAddr" => {
            let addr = format!("10.0.0.{}:{nth}", nth % 250);
            Act::answer(
                200,
                &format!(r#"{{"status":"Succ","backendAddr":"{addr}"}}"#),
            )
        }
        _ => Act::answer(200, r#"{"status":"Succ","succ":true,"msg":""}"#),
    })
    .await;
    let judged = judged(&server).await;
    assert!(judged.took < Duration::from_secs(30), "{:?}", judged.took);
    let report = judged.failed();
    let why = report.unreachable.as_deref().unwrap_or_default();
    assert!(why.starts_with("no connection"), "{calls}: {why:?}");
    let reasons = report.results.iter().filter(|r| r.status == Status::Failed);
    let found_out = reasons
        .filter(|result| result.reason.contains("connection"))
        .count();
    assert!(found_out > 0, "{calls}");
    let first = broken_off(report)[0];
    assert!(
        first.reason.contains("no longer responds"),
        "{}",
        first.reason
    );
}

#[tokio::test]
async fn a_driver_that_stops_at_the_second_call() {
    dies_after(2).await;
}

#[tokio::test]
async fn a_driver_that_stops_early() {
    dies_after(17).await;
}

#[tokio::test]
async fn a_driver_that_stops_during_concurrent_calls() {
    dies_after(150).await;
}

#[tokio::test]
async fn a_driver_that_stops_late() {
    dies_after(400).await;
}

#[tokio::test]
async fn a_driver_that_stops_after_healthz() {
    let server = Server::new(|_, nth| match nth {
        0 => Act::healthy(),
        _ => Act::Die,
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    assert!(report.unreachable.is_some());
}

#[tokio::test]
async fn a_driver_that_stops_on_bad_input_fails_a_must() {
    let server = Server::reading(|path, body, _| match path {
        "healthz" => Act::healthy(),
        _ if serde_json::from_slice::<serde_json::Value>(body).is_err() => Act::Die,
        "generateBackendAddr" => {
            Act::answer(200, r#"{"status":"Succ","backendAddr":"10.0.0.1:80"}"#)
        }
        _ => Act::answer(200, r#"{"status":"Fail","succ":false,"msg":"no"}"#),
    })
    .await;
    let judged = judged(&server).await;
    let report = judged.failed();
    super::judged::assert_failed(report, "BAD-05", "no connection");
    super::judged::assert_failed(report, "BAD-01", "the connection closed");
    let skipped: Vec<&str> = broken_off(report).iter().map(|r| r.id.as_str()).collect();
    assert!(skipped.contains(&"BAD-02"), "{skipped:?}");
}
