//! GEN with drivers whose defect the matrix of defects does not have.

mod addresses;
mod requests;

use crate::bent::*;
use axum::Router;
use lbcf_conformance::check::Feature;
use lbcf_conformance::report::SkipKind;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WEBHOOK: &str = "generateBackendAddr";
const ALL: [&str; 11] = [
    "GEN-01", "GEN-02", "GEN-03", "GEN-04", "GEN-05", "GEN-06", "GEN-07", "GEN-08", "GEN-09",
    "GEN-10", "GEN-11",
];

/// All checks but these.
fn all_but(without: &[&str]) -> Vec<&'static str> {
    let all = ALL.into_iter();
    all.filter(|id| !without.contains(id)).collect()
}

/// A driver with its own form of addresses, wherever the conforming driver returns one.
fn addressing<F>(make: F) -> Router
where
    F: Fn(&Value) -> String + Clone + Send + Sync + 'static,
{
    answering(right(), WEBHOOK, move |request, reply| {
        if reply.body["status"] == "Succ" {
            reply.body["backendAddr"] = json!(make(request));
        }
    })
}

/// A driver that computes its response from the request.
fn making<F>(make: F) -> Router
where
    F: Fn(&Value) -> Reply + Clone + Send + Sync + 'static,
{
    answering(right(), WEBHOOK, move |request, reply| {
        *reply = make(request);
    })
}

fn succ(addr: impl Into<Value>) -> Reply {
    Reply::ok(json!({"status": "Succ", "msg": "", "backendAddr": addr.into()}))
}

fn fail(msg: &str) -> Reply {
    Reply::ok(json!({"status": "Fail", "msg": msg}))
}

fn pod(request: &Value) -> &Value {
    &request["podBackend"]["pod"]
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[tokio::test]
async fn drivers_with_fewer_kinds_of_backends_pass() {
    let pods = fixture_with([Feature::PodBackends]);
    let report = judged(right(), pods, "GEN").await;
    assert_eq!(passed(&report), all_but(&["GEN-02", "GEN-10"]));
    let reason = &result(&report, "GEN-08").reason;
    assert!(reason.contains("do not name backend.endpoint"), "{reason}");

    let services = fixture_with([Feature::ServiceBackends]);
    let report = judged(right(), services, "GEN").await;
    assert_eq!(
        passed(&report),
        all_but(&["GEN-01", "GEN-09", "GEN-10", "GEN-11"])
    );

    let statics = fixture_with([Feature::StaticBackends]);
    let report = judged(right(), statics, "GEN").await;
    assert_eq!(passed(&report), ["GEN-08"]);
    assert_eq!(
        result(&report, "GEN-03").skip,
        Some(SkipKind::NotApplicable)
    );
}

#[tokio::test]
async fn a_driver_that_is_running_at_first_passes() {
    let asked = Arc::new(AtomicUsize::new(0));
    let slow = answering(right(), WEBHOOK, move |_, reply| {
        if reply.body["status"] == "Succ" && asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)
        {
            *reply = Reply::ok(json!({"status": "Running", "msg": "looking"}));
        }
    });
    let report = judged(slow, fixture(), "GEN-04").await;
    assert_eq!(passed(&report), ["GEN-04"]);
}

#[tokio::test]
async fn a_driver_that_identifies_pods_by_name_passes() {
    let by_name = making(|request| {
        let port = |backend: &str| {
            let port = &request[backend]["port"];
            if port["port"].is_null() {
                port["portNumber"].clone()
            } else {
                port["port"].clone()
            }
        };
        if request["podBackend"].is_object() {
            let metadata = &pod(request)["metadata"];
            let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
            let protocol = &request["podBackend"]["port"]["protocol"];
            let protocol = protocol.as_str().unwrap_or("TCP");
            succ(format!(
                "{namespace}/{name}:{}/{protocol}",
                port("podBackend")
            ))
        } else {
            fail("only pods have addresses")
        }
    });
    let report = judged(by_name, fixture_with([Feature::PodBackends]), "GEN").await;
    assert_eq!(passed(&report), all_but(&["GEN-02", "GEN-10"]));
    let reason = &result(&report, "GEN-08").reason;
    assert!(reason.contains("do not depend on the pod's IP"), "{reason}");
}

#[tokio::test]
async fn a_shared_load_balancer_is_no_hindrance() {
    let mut fixture = fixture();
    fixture.load_balancer.reuse = true;
    assert_eq!(passed(&judged(right(), fixture, "GEN").await), ALL);
}

#[tokio::test]
async fn gen_01_and_02_find_drivers_with_another_name_for_addresses() {
    for (id, source) in [("GEN-01", "podBackend"), ("GEN-02", "serviceBackend")] {
        let other_name = answering(right(), WEBHOOK, move |request, reply| {
            if request[source].is_object() {
                *reply = Reply::ok(json!({"status": "Succ", "addr": "x"}));
            }
        });
        fails(other_name, id, "a backendAddr", "without a backendAddr").await;
    }
}
