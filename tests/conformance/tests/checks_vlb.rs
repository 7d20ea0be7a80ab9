//! VLB with drivers whose defect the matrix of defects does not have.

use crate::bent::*;
use lbcf_conformance::fixture::Fixture;
use lbcf_conformance::report::Status;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const WEBHOOK: &str = "validateLoadBalancer";

#[tokio::test]
async fn a_driver_without_a_fixture_does_not_fail() {
    let report = judged(right(), Fixture::default(), "VLB-01").await;
    let result = result(&report, "VLB-01");
    assert_eq!(result.status, Status::Skipped);
    let reason = &result.reason;
    let needed = "needs loadBalancer.valid in the fixture";
    assert!(reason.contains(needed), "{reason}");
}

#[tokio::test]
async fn vlb_01_detects_replies_of_operations() {
    let as_operations = answering(right(), WEBHOOK, |_, reply| {
        *reply = Reply::ok(json!({"status": "Succ", "msg": ""}));
    });
    fails(as_operations, "VLB-01", "succ true", "status \"Succ\"").await;
}

#[tokio::test]
async fn vlb_02_names_the_reason_of_the_fixture() {
    let accepts = answering(right(), WEBHOOK, |_, reply| {
        reply.body = json!({"succ": true});
    });
    let expected = "succ false, since the fixture declares this one invalid: no listener";
    fails(accepts, "VLB-02", expected, "succ true").await;
}

#[tokio::test]
async fn vlb_03_detects_drivers_that_refuse_changes() {
    let frozen = answering(right(), WEBHOOK, |request, reply| {
        if request["operation"] == "Update" && request["attributes"] != request["oldAttributes"] {
            reply.body = json!({"succ": false, "msg": "nothing can be changed"});
        }
    });
    let expected = "the fixture allows these attributes";
    fails(frozen, "VLB-03", expected, "succ false").await;
}

#[tokio::test]
async fn vlb_04_detects_drivers_that_act() {
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
    let expected = "unchanged, since load balancers were only validated";
    fails(changes, "VLB-04", expected, "instead of").await;
}
