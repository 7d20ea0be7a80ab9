//! DRG-09 with drivers whose deregistrations take their time.

use crate::bent::*;
use axum::Router;
use lbcf_conformance::report::SkipKind;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const ID: &str = "DRG-09";

/// A driver whose deregistrations are `Running` once, and that does `cancel` with an `ensureBackend` meanwhile.
fn draining<F>(cancel: impl Fn(Inner, Value) -> F + Clone + Send + Sync + 'static) -> Router
where
    F: Future<Output = Reply> + Send + 'static,
{
    let draining = Arc::new(Mutex::new(BTreeSet::new()));
    driver(right(), move |inner, webhook, request| {
        let backend = format!("{} {}", request["lbInfo"], request["backendAddr"]);
        let mut draining = draining.lock().unwrap();
        let is_new = webhook == "deregisterBackend" && draining.insert(backend.clone());
        let was_draining = !is_new && draining.remove(&backend);
        let cancels = was_draining && webhook == "ensureBackend";
        let cancel = cancels.then(|| cancel(inner.clone(), request.clone()));
        async move {
            match cancel {
                Some(cancel) => cancel.await,
                None if is_new => Reply::ok(json!({"status": "Running", "msg": "it drains"})),
                None => inner.call(&webhook, &request).await,
            }
        }
    })
}

#[tokio::test]
async fn a_driver_that_cancels_passes() {
    let right =
        || draining(|inner, request| async move { inner.call("ensureBackend", &request).await });
    let report = judged(right(), fixture(), ID).await;
    assert_eq!(passed(&report), [ID]);
    assert_eq!(result(&report, ID).reason, "");
    let report = run_without_observer(right(), fixture(), ID).await;
    assert_eq!(passed(&report), [ID]);
}

#[tokio::test]
async fn a_driver_whose_deregistrations_end_at_once_passes_with_a_note() {
    let report = judged(right(), fixture(), ID).await;
    assert_eq!(passed(&report), [ID]);
    let reason = &result(&report, ID).reason;
    assert!(reason.contains("no deregistration was Running"), "{reason}");
}

#[tokio::test]
async fn drivers_without_the_feature_are_not_judged() {
    for features in [json!(null), json!([]), json!(["other"]), json!("cancel")] {
        let without = answering(right(), "healthz", move |_, reply| {
            reply.body["features"] = features.clone();
        });
        let report = judged(without, fixture(), ID).await;
        assert_eq!(passed(&report), [""; 0]);
        assert_eq!(result(&report, ID).skip, Some(SkipKind::NotApplicable));
        let reason = &result(&report, ID).reason;
        assert!(
            reason.contains("does not name the feature cancel"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn drg_09_detects_a_driver_that_takes_the_backend_for_registered() {
    let unchanged = || draining(|_, _| async { Reply::ok(json!({"status": "Succ", "msg": ""})) });
    fails(unchanged(), ID, "parameters.weight \"80\"", "\"50\"").await;
}

#[tokio::test]
async fn drg_09_detects_without_an_observer_that_the_backend_is_gone() {
    let removing =
        draining(|inner, request| async move { inner.call("deregisterBackend", &request).await });
    let report = run_without_observer(removing, fixture(), ID).await;
    let result = result(&report, ID);
    let text = format!("{result:?}");
    assert!(
        text.contains("in the cloud, since ensureBackend returned Succ"),
        "{text}"
    );
}
