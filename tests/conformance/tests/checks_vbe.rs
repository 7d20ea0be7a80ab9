//! VBE with conforming and defective drivers.

use crate::bent::*;
use lbcf_conformance::check::Feature;
use lbcf_conformance::report::Status;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const WEBHOOK: &str = "validateBackend";

#[tokio::test]
async fn a_conforming_driver_passes() {
    let all = ["VBE-01", "VBE-02", "VBE-03", "VBE-04", "VBE-05"];
    let report = judged(right(), fixture(), "VBE").await;
    assert_eq!(passed(&report), all);
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
    assert!(
        skipped.reason.contains("backend.parameters.valid"),
        "{}",
        skipped.reason
    );
}

#[tokio::test]
async fn vbe_01_detects_drivers_without_a_type() {
    for refused in ["Pod", "Service", "Static"] {
        let without = answering(right(), WEBHOOK, move |request, reply| {
            if request["backendType"] == refused {
                reply.body = json!({"succ": false, "msg": "unknown backendType"});
            }
        });
        fails(
            without,
            "VBE-01",
            &format!("include the type {refused}"),
            "unknown backendType",
        )
        .await;
    }
    let as_operations = answering(right(), WEBHOOK, |_, reply| {
        reply.body = json!({"status": "Succ"});
    });
    fails(as_operations, "VBE-01", "succ true", "status \"Succ\"").await;
}

#[tokio::test]
async fn vbe_02_detects_drivers_that_do_not_reject_properly() {
    let accepts = answering(right(), WEBHOOK, |_, reply| {
        reply.body = json!({"succ": true});
    });
    fails(accepts, "VBE-02", "these parameters invalid", "succ true").await;

    let checks_only_pods = answering(right(), WEBHOOK, |request, reply| {
        if request["backendType"] != "Pod" {
            reply.body = json!({"succ": true});
        }
    });
    fails(checks_only_pods, "VBE-02", "succ false", "succ true").await;

    let by_status = answering(right(), WEBHOOK, |_, reply| {
        if reply.body["succ"] == false {
            reply.status = 422;
        }
    });
    fails(by_status, "VBE-02", "succ false", "HTTP 422").await;

    let silent = answering(right(), WEBHOOK, |_, reply| reply.body["msg"] = Value::Null);
    fails(silent, "VBE-02", "a msg", "without a msg").await;
}

#[tokio::test]
async fn vbe_03_detects_drivers_that_need_a_load_balancer() {
    for (lb_info, shown) in [(Value::Null, "lbInfo null"), (json!({}), "lbInfo {}")] {
        let dies = answering(right(), WEBHOOK, move |request, reply| {
            if request["lbInfo"] == lb_info {
                *reply = Reply::http(500);
            }
        });
        fails(dies, "VBE-03", shown, "HTTP 500").await;
    }
    let without_msg = answering(right(), WEBHOOK, |request, reply| {
        if request["lbInfo"].is_null() {
            reply.body = json!({"msg": "no load balancer"});
        }
    });
    fails(
        without_msg,
        "VBE-03",
        "a response with succ",
        "neither status nor succ",
    )
    .await;
    // A rejection is a decision.
    let refuses = answering(right(), WEBHOOK, |request, reply| {
        if request["lbInfo"]
            .as_object()
            .is_none_or(|map| map.is_empty())
        {
            reply.body = json!({"succ": false, "msg": "not yet"});
        }
    });
    let report = judged(refuses, fixture(), "VBE-03").await;
    assert_eq!(passed(&report), ["VBE-03"]);
    assert!(result(&report, "VBE-03").reason.contains("cannot apply"));
}

#[tokio::test]
async fn vbe_04_detects_drivers_that_read_one_spelling() {
    for (read, missing) in [
        ("oldParameters", "with OldParameters alone"),
        ("OldParameters", "with oldParameters alone"),
    ] {
        let one = answering(right(), WEBHOOK, move |request, reply| {
            if request["operation"] == "Update" && request[read].is_null() {
                *reply = Reply::http(422);
            }
        });
        fails(one, "VBE-04", missing, "HTTP 422").await;
    }
    let frozen = answering(right(), WEBHOOK, |request, reply| {
        let old = &request["OldParameters"];
        if old.is_object() && *old != request["parameters"] {
            reply.body = json!({"succ": false, "msg": "nothing can be changed"});
        }
    });
    fails(
        frozen,
        "VBE-04",
        "a valid change of parameters, with both",
        "nothing can",
    )
    .await;
}

#[tokio::test]
async fn vbe_05_detects_drivers_that_remember_or_act() {
    let seen = Arc::new(AtomicBool::new(false));
    let remembers = answering(right(), WEBHOOK, move |_, reply| {
        if seen.swap(true, Ordering::Relaxed) {
            reply.body = json!({"succ": false, "msg": "this group is there already"});
        }
    });
    fails(remembers, "VBE-05", "succ true", "there already").await;

    let changes = driver(right(), |inner, webhook, request| async move {
        let reply = inner.call(&webhook, &request).await;
        if webhook == WEBHOOK {
            let lb_info = &request["lbInfo"];
            let ensure = json!({"recordID": "early", "lbInfo": lb_info, "attributes": {"a": "b"}});
            inner.call("ensureLoadBalancer", &ensure).await;
        }
        reply
    });
    fails(
        changes,
        "VBE-05",
        "unchanged, since parameters were only validated",
        r#"attributes {"a":"b"}"#,
    )
    .await;

    let binds = driver(right(), |inner, webhook, request| async move {
        let reply = inner.call(&webhook, &request).await;
        if webhook == WEBHOOK {
            let lb_info = &request["lbInfo"];
            let ensure = json!({"recordID": "early", "lbInfo": lb_info, "backendAddr": "early:1"});
            inner.call("ensureBackend", &ensure).await;
        }
        reply
    });
    fails(binds, "VBE-05", "unchanged", "early:1").await;
}
