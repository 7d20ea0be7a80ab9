//! LST with drivers whose defect the matrix of defects does not have.

use crate::bent::*;
use axum::Router;
use lbcf_conformance::check::Feature;
use serde_json::{Value, json};

const WEBHOOK: &str = "listBackends";
/// The fixture has no `unknownLBInfo`, which LST-06 needs.
const PASSED: [&str; 6] = ["LST-01", "LST-02", "LST-03", "LST-04", "LST-05", "LST-07"];

/// A driver whose listed backends are transformed.
fn listing(shown: fn(&mut Value)) -> Router {
    answering(right(), WEBHOOK, move |_, reply| {
        let backends = reply.body["backends"].as_array_mut();
        backends.into_iter().flatten().for_each(shown);
    })
}

#[tokio::test]
async fn a_driver_that_lists_addresses_alone_passes_with_notes() {
    let minimal = listing(|backend| {
        *backend = json!({"backendAddr": backend["backendAddr"], "parameters": null});
    });
    let report = judged(minimal, fixture(), "LST").await;
    assert_eq!(passed(&report), PASSED);
    let notes = ["LST-01", "LST-04"].map(|id| result(&report, id).reason.clone());
    assert!(notes[0].contains("the list has no parameters"), "{notes:?}");
    assert!(notes[1].contains("the list has no recordID"), "{notes:?}");
}

#[tokio::test]
async fn drivers_without_the_webhook_are_not_judged() {
    let without = answering(right(), WEBHOOK, |_, reply| *reply = Reply::http(404));
    let report = judged(without, fixture_with([Feature::PodBackends]), "LST").await;
    assert_eq!(passed(&report), [""; 0]);
    let reason = &result(&report, "LST-01").reason;
    assert!(reason.contains("do not name listBackends"), "{reason}");
}

#[tokio::test]
async fn lst_01_detects_answers_that_are_no_lists_of_backends() {
    let list = "backends as an array of objects";
    let texts = listing(|backend| *backend = backend["backendAddr"].clone());
    fails(texts, "LST-01", list, "an entry \"").await;
    let numbers = listing(|backend| backend["recordID"] = json!(7));
    fails(numbers, "LST-01", list, "an entry {").await;
    let object = answering(right(), WEBHOOK, |_, reply| {
        reply.body["backends"] = json!({});
    });
    fails(object, "LST-01", list, "backends {}").await;
    let missing = answering(right(), WEBHOOK, |_, reply| *reply = Reply::http(404));
    fails(missing, "LST-01", "a response with", "HTTP 404").await;
}

#[tokio::test]
async fn lst_01_detects_wrong_parameters() {
    let other = listing(|backend| backend["parameters"]["weight"] = json!("1"));
    fails(other, "LST-01", "parameters.weight \"", "\"1\"").await;
}
