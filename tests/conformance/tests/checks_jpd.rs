//! JPD with drivers whose defect the matrix of defects does not have, and without the webhook.

use crate::bent::*;
use axum::Router;
use lbcf_conformance::check::Feature;
use lbcf_conformance::fixture::Fixture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const WEBHOOK: &str = "judgePodDeregister";

fn judging<F>(judge: F) -> Router
where
    F: Fn(&Value) -> Value + Clone + Send + Sync + 'static,
{
    answering(right(), WEBHOOK, move |request, reply| {
        *reply = Reply::ok(judge(request));
    })
}

/// Keeps all pods, each transformed by `shown`.
fn keeping(shown: fn(&Value) -> Value) -> Router {
    judging(move |request| {
        let pods = request["notReadyPods"].as_array().unwrap();
        let kept: Vec<Value> = pods.iter().map(shown).collect();
        json!({"succ": true, "doNotDeregister": kept})
    })
}

fn no_judge() -> Fixture {
    fixture_with([Feature::PodBackends])
}

#[tokio::test]
async fn a_driver_that_keeps_whole_pods_passes() {
    let whole = keeping(Value::clone);
    let report = judged(whole, fixture(), "JPD").await;
    assert_eq!(passed(&report), ["JPD-01", "JPD-02", "JPD-03"]);
}

#[tokio::test]
async fn a_driver_that_keeps_no_pods_passes_with_a_note() {
    for nothing in [json!([]), Value::Null] {
        let none = judging(move |_| json!({"succ": true, "doNotDeregister": nothing}));
        let report = judged(none, fixture(), "JPD").await;
        assert_eq!(passed(&report), ["JPD-01", "JPD-02", "JPD-03"]);
        let reason = &result(&report, "JPD-01").reason;
        assert!(reason.contains("keeps none of the pods"), "{reason}");
    }
    let without_uid = keeping(|pod| {
        let metadata = &pod["metadata"];
        json!({"metadata": {"name": metadata["name"], "namespace": metadata["namespace"]}})
    });
    let report = judged(without_uid, fixture(), "JPD").await;
    assert_eq!(passed(&report), ["JPD-01", "JPD-02", "JPD-03"]);
    let reason = &result(&report, "JPD-01").reason;
    assert!(reason.contains("no metadata.uid"), "{reason}");
}

#[tokio::test]
async fn jpd_01_detects_answers_that_are_no_lists_of_pods() {
    let list = "doNotDeregister as an array of Pod objects";
    let flat = keeping(|pod| pod["metadata"].clone());
    fails(flat, "JPD-01", list, "an entry {").await;
    let texts = keeping(|pod| json!(pod.to_string()));
    fails(texts, "JPD-01", list, "an entry \"{").await;
    let object = judging(|_| json!({"succ": true, "doNotDeregister": {}}));
    fails(object, "JPD-01", list, "doNotDeregister {}").await;
    let as_operations = judging(|_| json!({"status": "Succ", "doNotDeregister": []}));
    let succ = "a response with succ";
    fails(as_operations, "JPD-01", succ, "status \"Succ\"").await;
    let missing = answering(right(), WEBHOOK, |_, reply| *reply = Reply::http(404));
    fails(missing, "JPD-01", succ, "HTTP 404").await;
}

#[tokio::test]
async fn jpd_02_detects_pods_that_were_not_requested() {
    let none = "no pods in doNotDeregister but those of notReadyPods";
    let remembered = Arc::new(Mutex::new(Vec::new()));
    let remembers = judging(move |request| {
        let mut remembered = remembered.lock().unwrap();
        remembered.extend_from_slice(request["notReadyPods"].as_array().unwrap());
        json!({"succ": true, "doNotDeregister": *remembered})
    });
    fails(remembers, "JPD-02", none, "lbcf-conformance/jpd-02-").await;

    let other_uid = keeping(|pod| {
        let mut pod = pod.clone();
        pod["metadata"]["uid"] = json!("made up");
        pod
    });
    fails(other_uid, "JPD-02", none, "with uid made up").await;

    let other_namespace = keeping(|pod| {
        let mut pod = pod.clone();
        pod["metadata"]["namespace"] = json!("default");
        pod
    });
    fails(other_namespace, "JPD-02", none, "default/jpd-02-").await;
}

#[tokio::test]
async fn jpd_03_detects_drivers_that_need_pods() {
    let is_empty = |request: &Value| request["notReadyPods"] == json!([]);
    let dies = answering(right(), WEBHOOK, move |request, reply| {
        if is_empty(request) {
            *reply = Reply::http(500);
        }
    });
    fails(dies, "JPD-03", "succ true", "HTTP 500").await;
    let keeps = judging(|_| {
        let pod = json!({"metadata": {"name": "web-0", "namespace": "default"}});
        json!({"succ": true, "doNotDeregister": [pod]})
    });
    fails(keeps, "JPD-03", "an empty doNotDeregister", "default/web-0").await;
}

#[tokio::test]
async fn jpd_04_d89_accepts_any_clear_rejection() {
    let refuses = judging(|_| json!({"succ": false, "msg": "this driver does not judge pods"}));
    let report = judged(refuses, no_judge(), "JPD").await;
    assert_eq!(passed(&report), ["JPD-04"]);
    assert_eq!(result(&report, "JPD-04").reason, "");
    for status in [404, 405, 500, 501] {
        let without = answering(right(), WEBHOOK, move |_, reply| {
            *reply = Reply::http(status);
        });
        let report = judged(without, no_judge(), "JPD").await;
        assert_eq!(passed(&report), ["JPD-04"]);
    }
    let report = judged(right(), no_judge(), "JPD").await;
    assert_eq!(passed(&report), ["JPD-04"]);
    let reason = &result(&report, "JPD-04").reason;
    let note = "the driver supports judgePodDeregister, although";
    assert!(reason.contains(note), "{reason}");
}

#[tokio::test]
async fn jpd_04_detects_drivers_that_answer_anything() {
    let expected = "a status other than 200 within 2s";
    for body in [json!({}), json!({"status": "Succ"}), json!("ok")] {
        let anything = judging(move |_| body.clone());
        fails_with(anything, no_judge(), "JPD-04", expected, "HTTP 200").await;
    }
    let hangs = driver(right(), |inner, webhook, request| async move {
        if webhook == WEBHOOK {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        inner.call(&webhook, &request).await
    });
    let got = "no complete response within 2s";
    fails_with(hangs, no_judge(), "JPD-04", expected, got).await;
}
