//! The WIRE checks know the webhooks of a driver by its features.

use crate::bent::{Reply, driver, fails, fixture_with, judged, passed, right};
use lbcf_conformance::check::Feature;

/// Without two of the eleven webhooks.
fn without_the_optional_ones() -> axum::Router {
    driver(right(), |inner, called, request| async move {
        match called.as_str() {
            "judgePodDeregister" | "listBackends" => Reply::http(404),
            _ => inner.call(&called, &request).await,
        }
    })
}

#[tokio::test]
async fn b12_each_webhook_that_the_features_name_is_called() {
    fails(
        right_without("listBackends"),
        "WIRE-01",
        "HTTP 200",
        "listBackends: HTTP 404",
    )
    .await;
    let judges = "judgePodDeregister: HTTP 404";
    fails(
        right_without("judgePodDeregister"),
        "WIRE-01",
        "HTTP 200",
        judges,
    )
    .await;
}

#[tokio::test]
async fn b12_nine_webhooks_are_enough_for_a_driver_without_these_features() {
    let fixture = fixture_with([Feature::PodBackends]);
    let report = judged(without_the_optional_ones(), fixture, "WIRE-01").await;
    assert_eq!(passed(&report), ["WIRE-01"]);
}

fn right_without(webhook: &'static str) -> axum::Router {
    driver(right(), move |inner, called, request| async move {
        if called == webhook {
            return Reply::http(404);
        }
        inner.call(&called, &request).await
    })
}
