//! HLTH with drivers whose defect the matrix of defects does not have.

use crate::bent::*;
use lbcf_conformance::check::Feature;
use lbcf_conformance::fixture::Fixture;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const ALL: [&str; 4] = ["HLTH-01", "HLTH-02", "HLTH-03", "HLTH-04"];

#[tokio::test]
async fn a_driver_without_a_fixture_passes() {
    let report = run_without_observer(right(), Fixture::default(), "HLTH").await;
    assert_eq!(passed(&report), ALL);
    let reason = &result(&report, "HLTH-02").reason;
    let note = "no load balancer could be created";
    assert!(reason.contains(note), "{reason}");
}

#[tokio::test]
async fn a_driver_with_slow_operations_passes() {
    let slow = mock(Duration::from_millis(40));
    let fixture = fixture_with([Feature::Async, Feature::StaticBackends]);
    assert_eq!(passed(&judged(slow, fixture, "HLTH").await), ALL);
}

#[tokio::test]
async fn hlth_01_detects_drivers_that_do_not_say_that_they_are_healthy() {
    let as_operations = answering(right(), "healthz", |_, reply| {
        *reply = Reply::ok(json!({"status": "Succ"}));
    });
    let got = "a response without healthy";
    fails(as_operations, "HLTH-01", "healthy true", got).await;

    let asked = Arc::new(AtomicUsize::new(0));
    let now_and_then = answering(right(), "healthz", move |_, reply| {
        if asked.fetch_add(1, Ordering::Relaxed) % 4 == 3 {
            reply.body = json!({"healthy": false});
        }
    });
    fails(now_and_then, "HLTH-01", "healthy true", "healthy false").await;
}

#[tokio::test]
async fn hlth_02_detects_drivers_that_keep_probes_waiting_during_other_calls() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let busy = driver(right(), move |inner, webhook, request| {
        let at_work = at_work.clone();
        async move {
            if webhook == "healthz" && at_work.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(Duration::from_millis(1_100)).await;
            }
            if webhook != "ensureBackend" {
                return inner.call(&webhook, &request).await;
            }
            at_work.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(100)).await;
            let reply = inner.call(&webhook, &request).await;
            at_work.fetch_sub(1, Ordering::Relaxed);
            reply
        }
    });
    let expected = "a response within 1s, also during other calls";
    fails(busy, "HLTH-02", expected, "after 1").await;
}

#[tokio::test]
async fn hlth_02_detects_drivers_that_do_not_answer_probes_while_a_hook_runs() {
    let at_work = Arc::new(AtomicUsize::new(0));
    let refuses = driver(right(), move |inner, webhook, request| {
        let at_work = at_work.clone();
        async move {
            if webhook == "healthz" && at_work.load(Ordering::Relaxed) > 5 {
                return Reply::http(503);
            }
            at_work.fetch_add(1, Ordering::Relaxed);
            if webhook != "healthz" {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let reply = inner.call(&webhook, &request).await;
            at_work.fetch_sub(1, Ordering::Relaxed);
            reply
        }
    });
    fails(refuses, "HLTH-02", "also during other calls", "HTTP 503").await;
}

#[tokio::test]
async fn hlth_02_forgives_one_hiccup() {
    let once = Arc::new(AtomicUsize::new(0));
    let hiccup = driver(right(), move |inner, webhook, request| {
        let once = once.clone();
        async move {
            // The kit calls twice before: to reach the driver, and while it is idle.
            if webhook == "healthz" && once.fetch_add(1, Ordering::Relaxed) == 2 {
                tokio::time::sleep(Duration::from_millis(1_100)).await;
            }
            inner.call(&webhook, &request).await
        }
    });
    let report = judged(hiccup, fixture(), "HLTH-02").await;
    assert_eq!(passed(&report), ["HLTH-02"]);
    let reason = &result(&report, "HLTH-02").reason;
    assert!(reason.contains("later ones in time"), "{reason}");
}

#[tokio::test]
async fn hlth_03_detects_drivers_that_are_unhealthy_without_a_body() {
    let falls_ill = answering(right(), "healthz", |request, reply| {
        if request.is_null() {
            reply.body = json!({"healthy": false});
        }
    });
    fails(falls_ill, "HLTH-03", "healthy true", "healthy false").await;
}
