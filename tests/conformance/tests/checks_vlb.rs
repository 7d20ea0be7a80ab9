//! VLB with conforming and defective drivers.

use crate::bent::*;
use lbcf_conformance::fixture::Fixture;
use lbcf_conformance::report::Status;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const WEBHOOK: &str = "validateLoadBalancer";

#[tokio::test]
async fn a_conforming_driver_passes() {
    let report = judged(right(), fixture(), "VLB").await;
    let all = ["VLB-01", "VLB-02", "VLB-03", "VLB-04", "VLB-05"];
    assert_eq!(passed(&report), all);
}

#[tokio::test]
async fn a_driver_without_a_fixture_does_not_fail() {
    let report = judged(right(), Fixture::default(), "VLB-01").await;
    let result = result(&report, "VLB-01");
    assert_eq!(result.status, Status::Skipped);
    assert!(
        result
            .reason
            .contains("needs loadBalancer.valid in the fixture"),
        "{}",
        result.reason
    );
}

#[tokio::test]
async fn vlb_01_detects_drivers_that_reject_valid_requests() {
    let refuses = answering(right(), WEBHOOK, |_, reply| {
        *reply = Reply::ok(json!({"succ": false, "msg": "no"}));
    });
    fails(refuses, "VLB-01", "succ true, since lbSpec", "msg \"no\"").await;

    let as_operations = answering(right(), WEBHOOK, |_, reply| {
        *reply = Reply::ok(json!({"status": "Succ", "msg": ""}));
    });
    fails(as_operations, "VLB-01", "succ true", "status \"Succ\"").await;

    let dies = answering(right(), WEBHOOK, |_, reply| *reply = Reply::http(500));
    fails(dies, "VLB-01", "succ true", "HTTP 500").await;
}

#[tokio::test]
async fn vlb_02_detects_drivers_that_do_not_reject_properly() {
    let accepts = answering(right(), WEBHOOK, |_, reply| {
        reply.body = json!({"succ": true});
    });
    fails(
        accepts,
        "VLB-02",
        "succ false, since the fixture declares this one invalid: no listener",
        "succ true",
    )
    .await;

    let by_status = answering(right(), WEBHOOK, |_, reply| {
        if reply.body["succ"] == false {
            reply.status = 400;
        }
    });
    fails(by_status, "VLB-02", "succ false", "HTTP 400").await;

    let silent = answering(right(), WEBHOOK, |_, reply| reply.body["msg"] = json!(" "));
    fails(silent, "VLB-02", "a msg", "without a msg").await;
}

#[tokio::test]
async fn vlb_03_detects_drivers_that_decide_changes_wrongly() {
    let only_creates = answering(right(), WEBHOOK, |request, reply| {
        if request["operation"] == "Update" {
            reply.body = json!({"succ": false, "msg": "the listener is there already"});
        }
    });
    fails(
        only_creates,
        "VLB-03",
        "since the update leaves the attributes unchanged",
        "succ false",
    )
    .await;

    let frozen = answering(right(), WEBHOOK, |request, reply| {
        if request["operation"] == "Update" && request["attributes"] != request["oldAttributes"] {
            reply.body = json!({"succ": false, "msg": "nothing can be changed"});
        }
    });
    fails(
        frozen,
        "VLB-03",
        "the fixture allows these attributes",
        "succ false",
    )
    .await;

    let waves_through = answering(right(), WEBHOOK, |request, reply| {
        if request["operation"] == "Update" {
            reply.body = json!({"succ": true});
        }
    });
    fails(
        waves_through,
        "VLB-03",
        "succ false, since the fixture forbids these attributes",
        "succ true",
    )
    .await;
}

#[tokio::test]
async fn vlb_04_detects_drivers_that_remember_or_act() {
    let seen = Arc::new(AtomicBool::new(false));
    let reserves = answering(right(), WEBHOOK, move |request, reply| {
        if request["operation"] == "Create" && seen.swap(true, Ordering::Relaxed) {
            reply.body = json!({"succ": false, "msg": "the name is taken"});
        }
    });
    fails(reserves, "VLB-04", "succ true", "the name is taken").await;

    let creates = driver(right(), |inner, webhook, request| async move {
        let reply = inner.call(&webhook, &request).await;
        if webhook == WEBHOOK && reply.body["succ"] == true && request["operation"] == "Create" {
            let mut create = request.clone();
            create["recordID"] = json!("early");
            inner.call("createLoadBalancer", &create).await;
        }
        reply
    });
    fails(
        creates,
        "VLB-04",
        "no new load balancer in the cloud",
        "1 new, with lbInfo",
    )
    .await;

    let last = Arc::new(Mutex::new(Value::Null));
    let changes = driver(right(), move |inner, webhook, request| {
        let last = last.clone();
        async move {
            let reply = inner.call(&webhook, &request).await;
            if webhook == "createLoadBalancer" {
                *last.lock().unwrap() = reply.body["lbInfo"].clone();
            }
            if webhook == WEBHOOK && request["operation"] == "Update" {
                let lb_info = last.lock().unwrap().clone();
                let attributes = &request["attributes"];
                let ensure =
                    json!({"recordID": "early", "lbInfo": lb_info, "attributes": attributes});
                inner.call("ensureLoadBalancer", &ensure).await;
            }
            reply
        }
    });
    fails(
        changes,
        "VLB-04",
        "unchanged, since load balancers were only validated",
        "instead of",
    )
    .await;
}

#[tokio::test]
async fn vlb_05_detects_drivers_that_take_any_operation() {
    let any = reading(right(), WEBHOOK, |request| {
        if request["operation"] != "Update" {
            request["operation"] = json!("Create");
        }
    });
    fails(
        any,
        "VLB-05",
        "since the operation \"Replace\" does not exist",
        "succ true",
    )
    .await;

    let dies = answering(right(), WEBHOOK, |request, reply| {
        if request["operation"] == "Replace" {
            *reply = Reply::http(500);
        }
    });
    fails(dies, "VLB-05", "succ false", "HTTP 500").await;
}
