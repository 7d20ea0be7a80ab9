//! Failures of steps before the call that a check is about say so.

use crate::bent::{Reply, driver, fixture, fixture_with, judged, mock, result, right};
use crate::command::{Folder, serve};
use axum::Router;
use lbcf_conformance::check::Feature;
use lbcf_conformance::report::{FailureReport, Report, Status};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The mock, which fails the calls of a webhook with these numbers, from 0.
fn failing(webhook: &'static str, when: fn(usize) -> bool) -> Router {
    let count = Arc::new(AtomicUsize::new(0));
    driver(right(), move |inner, called, request| {
        let count = count.clone();
        async move {
            if called == webhook && when(count.fetch_add(1, Ordering::SeqCst)) {
                let msg = "the port is taken";
                return Reply::ok(json!({"status": "Fail", "msg": msg}));
            }
            inner.call(&called, &request).await
        }
    })
}

fn failure<'a>(report: &'a Report, id: &str) -> &'a FailureReport {
    let result = result(report, id);
    assert_eq!(result.status, Status::Failed, "{id}: {}", result.reason);
    result.failure.as_ref().unwrap()
}

/// The setup of a check failed at a call of this webhook, which the failure shows.
fn is_of_the_setup(report: &Report, id: &str, webhook: &str, by: &str) {
    let failure = failure(report, id);
    assert!(
        failure.expected.starts_with("in the setup: "),
        "{id}: {}",
        failure.expected
    );
    assert!(
        failure.got.contains("the port is taken"),
        "{id}: {}",
        failure.got
    );
    let curl = failure.curl.as_deref().unwrap_or_default();
    assert!(curl.contains(&format!("/{webhook}\'")), "{id}: {curl}");
    let response = failure.answer.as_deref().unwrap_or_default();
    assert!(response.contains("the port is taken"), "{id}: {response}");
    let typical = lbcf_conformance::checks::by_id(id).unwrap().typical;
    assert_ne!(failure.likely_cause, typical, "{id}");
    assert!(
        failure.likely_cause.contains(by),
        "{id}: {}",
        failure.likely_cause
    );
}

#[tokio::test]
async fn a_load_balancer_for_another_rule() {
    for id in ["GEN-08", "RTRY-01", "ENS-07", "ENS-02"] {
        // CLB-01 makes the first one.
        let report = judged(
            failing("createLoadBalancer", |nth| nth > 0),
            fixture(),
            &format!("CLB-01,{id}"),
        )
        .await;
        assert_eq!(result(&report, "CLB-01").status, Status::Passed);
        is_of_the_setup(&report, id, "createLoadBalancer", "CLB-01");
    }
}

#[tokio::test]
async fn a_backend_for_another_rule() {
    let report = judged(
        failing("ensureBackend", |nth| nth > 0),
        fixture(),
        "ENS-01,ENS-07",
    )
    .await;
    is_of_the_setup(&report, "ENS-07", "ensureBackend", "ENS-01");
}

#[tokio::test]
async fn the_subject_of_a_check_is_no_setup() {
    let report = judged(failing("ensureBackend", |_| true), fixture(), "ENS-01").await;
    let failure = failure(&report, "ENS-01");
    assert!(
        failure.expected.starts_with("status Succ"),
        "{}",
        failure.expected
    );
    let typical = lbcf_conformance::checks::by_id("ENS-01").unwrap().typical;
    assert_eq!(failure.likely_cause, typical);
}

#[tokio::test]
async fn bad_input_is_not_blamed_without_doubt() {
    // The life cycle of LIFE-01 comes first.
    let fixture = fixture_with([Feature::PodBackends]);
    let router = failing("deregisterBackend", |nth| nth > 0);
    let report = judged(router, fixture, "LIFE-01,BAD-05").await;
    assert_eq!(result(&report, "LIFE-01").status, Status::Passed);
    let failure = failure(&report, "BAD-05");
    assert!(failure.got.contains("the port is taken"), "{}", failure.got);
    assert!(
        failure
            .likely_cause
            .contains("or the driver fails now and then")
    );
}

#[tokio::test]
async fn a_setup_that_its_own_check_fails_is_skipped() {
    let report = judged(
        failing("createLoadBalancer", |_| true),
        fixture(),
        "CLB-01,GEN-08",
    )
    .await;
    let skipped = result(&report, "GEN-08");
    assert_eq!(skipped.status, Status::Skipped);
    assert!(
        skipped.reason.starts_with("depends on CLB-01"),
        "{}",
        skipped.reason
    );
}

/// A driver that does not come up after its restart.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_that_does_not_come_up_shows_what_the_process_wrote_last() {
    let mut python = std::process::Command::new("python3");
    if python.arg("--version").output().is_err() {
        eprintln!("skipped: install python3");
        return;
    }
    let behind = serve(mock(Duration::ZERO)).await;
    let (_, port) = behind.rsplit_once(':').unwrap();
    let folder = Folder::new();
    // A first start forwards to the mock, the second one only complains.
    let script = format!(
        r#"import os, socket, sys, threading
if os.path.exists('started'):
    print('cannot open the database: it is locked', flush=True)
    sys.exit(1)
open('started', 'w').close()
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for one in (a, b):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    client = server.accept()[0]
    other = socket.create_connection(('127.0.0.1', {port}))
    for pair in ((client, other), (other, client)):
        threading.Thread(target=pump, args=pair, daemon=True).start()
"#
    );
    std::fs::write(folder.join("driver.py"), script).unwrap();
    let text = "features: [async, backend.pod]\nloadBalancer: {valid: [{lbSpec: {lbVpcID: vpc-12345678, \
                lbListenerPort: '80', lbListenerProtocol: TCP}}]}\nrestart: {exec: true}\n";
    std::fs::write(folder.join("f.yaml"), text).unwrap();
    let exec = "exec python3 driver.py {port}";
    let args = "--fixture f.yaml --only LIFE-05 --format json --quiet".split(' ');
    let args: Vec<&str> = ["run", "--exec", exec].into_iter().chain(args).collect();
    let run = folder.run(&args).await;
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let results = report["results"].as_array().unwrap();
    let failed = results
        .iter()
        .find(|result| result["status"] == "failed")
        .unwrap();
    let cause = failed["failure"]["likelyCause"].as_str().unwrap();
    assert!(
        cause.contains("cannot open the database: it is locked"),
        "{cause}"
    );
}
