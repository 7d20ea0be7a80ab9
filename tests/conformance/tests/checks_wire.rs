//! The WIRE checks know the webhooks of a driver by its features.

use crate::bent::{Reply, driver, fails, fixture_with, judged, passed, right};
use lbcf_conformance::check::Feature;

fn right_without(webhooks: &'static [&str]) -> axum::Router {
    driver(right(), move |inner, called, request| async move {
        if webhooks.contains(&called.as_str()) {
            return Reply::http(404);
        }
        inner.call(&called, &request).await
    })
}

#[tokio::test]
async fn b12_each_webhook_that_the_features_name_is_called() {
    for webhook in [&["listBackends"], &["judgePodDeregister"]] {
        let got = format!("{}: HTTP 404", webhook[0]);
        fails(right_without(webhook), "WIRE-01", "HTTP 200", &got).await;
    }
}

#[tokio::test]
async fn b12_nine_webhooks_are_enough_for_a_driver_without_these_features() {
    let without = right_without(&["judgePodDeregister", "listBackends"]);
    let fixture = fixture_with([Feature::PodBackends]);
    let report = judged(without, fixture, "WIRE-01").await;
    assert_eq!(passed(&report), ["WIRE-01"]);
}
