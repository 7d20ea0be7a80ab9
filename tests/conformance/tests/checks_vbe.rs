//! VBE with drivers whose defect the matrix of defects does not have.

use crate::bent::*;
use lbcf_conformance::check::Feature;
use lbcf_conformance::report::Status;
use serde_json::{Map, json};

const WEBHOOK: &str = "validateBackend";

#[tokio::test]
async fn a_conforming_driver_passes() {
    let all = ["VBE-01", "VBE-02", "VBE-03", "VBE-04", "VBE-05"];
    let report = run_without_observer(right(), fixture(), "VBE").await;
    assert_eq!(passed(&report), all);
    let statics = fixture_with([Feature::StaticBackends]);
    let report = judged(right(), statics, "VBE").await;
    assert_eq!(passed(&report), all);
}

#[tokio::test]
async fn a_driver_without_a_fixture_does_not_fail() {
    let needs_weight = answering(right(), WEBHOOK, |request, reply| {
        if request["parameters"]["weight"].is_null() {
            reply.body = json!({"succ": false, "msg": "parameters.weight is missing"});
        }
    });
    let mut fixture = fixture();
    fixture.backend.parameters.valid.clear();
    fixture.backend.parameters.update = None;
    let report = judged(needs_weight, fixture, "VBE").await;
    assert_eq!(passed(&report), ["VBE-02", "VBE-03", "VBE-05"]);
    let skipped = result(&report, "VBE-01");
    assert_eq!(skipped.status, Status::Skipped);
    let reason = &skipped.reason;
    assert!(reason.contains("backend.parameters.valid"), "{reason}");
}

#[tokio::test]
async fn vbe_01_detects_replies_of_operations() {
    let as_operations = answering(right(), WEBHOOK, |_, reply| {
        reply.body = json!({"status": "Succ"});
    });
    fails(as_operations, "VBE-01", "succ true", "status \"Succ\"").await;
}

#[tokio::test]
async fn vbe_02_detects_drivers_that_check_pods_alone() {
    let checks_only_pods = answering(right(), WEBHOOK, |request, reply| {
        if request["backendType"] != "Pod" {
            reply.body = json!({"succ": true});
        }
    });
    fails(checks_only_pods, "VBE-02", "succ false", "succ true").await;
}

#[tokio::test]
async fn vbe_03_detects_drivers_that_need_a_load_balancer() {
    let dies = answering(right(), WEBHOOK, |request, reply| {
        if request["lbInfo"] == json!({}) {
            *reply = Reply::http(500);
        }
    });
    fails(dies, "VBE-03", "lbInfo {}", "HTTP 500").await;
    let without_msg = answering(right(), WEBHOOK, |request, reply| {
        if request["lbInfo"].is_null() {
            reply.body = json!({"msg": "no load balancer"});
        }
    });
    let got = "neither status nor succ";
    fails(without_msg, "VBE-03", "a response with succ", got).await;
    // A rejection is a decision.
    let refuses = answering(right(), WEBHOOK, |request, reply| {
        if request["lbInfo"].as_object().is_none_or(Map::is_empty) {
            reply.body = json!({"succ": false, "msg": "not yet"});
        }
    });
    let report = judged(refuses, fixture(), "VBE-03").await;
    assert_eq!(passed(&report), ["VBE-03"]);
    assert!(result(&report, "VBE-03").reason.contains("cannot apply"));
}

#[tokio::test]
async fn vbe_04_detects_drivers_that_read_one_spelling() {
    let one = answering(right(), WEBHOOK, |request, reply| {
        if request["operation"] == "Update" && request["OldParameters"].is_null() {
            *reply = Reply::http(422);
        }
    });
    let missing = "with oldParameters alone";
    fails(one, "VBE-04", missing, "HTTP 422").await;
    let frozen = answering(right(), WEBHOOK, |request, reply| {
        let old = &request["OldParameters"];
        if old.is_object() && *old != request["parameters"] {
            reply.body = json!({"succ": false, "msg": "nothing can be changed"});
        }
    });
    let expected = "a valid change of parameters, with both";
    fails(frozen, "VBE-04", expected, "nothing can").await;
}

#[tokio::test]
async fn vbe_05_detects_drivers_that_act() {
    let changes = driver(right(), |inner, webhook, request| async move {
        let reply = inner.call(&webhook, &request).await;
        if webhook == WEBHOOK {
            let lb_info = &request["lbInfo"];
            let ensure = json!({"recordID": "early", "lbInfo": lb_info, "attributes": {"a": "b"}});
            inner.call("ensureLoadBalancer", &ensure).await;
        }
        reply
    });
    let expected = "unchanged, since parameters were only validated";
    fails(changes, "VBE-05", expected, r#"attributes {"a":"b"}"#).await;
}
