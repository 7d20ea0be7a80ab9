//! While the cloud's API is unavailable.

use crate::support::{Mock, backend, create, delete, order, pod_address, sample};
use axum::body::Body;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

async fn fault(mock: &Mock, on: bool) {
    let (status, reply) = mock.post("fault", json!({"on": on})).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(reply, json!({"on": on}));
    let (_, shown) = mock.send("GET", "/_mock/fault", Body::empty()).await;
    assert_eq!(shown, reply);
}

#[tokio::test]
async fn rtry_05_every_operation_fails_for_a_while_and_then_works() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = created["lbInfo"].clone();
    mock.succ("ensureBackend", backend(&lb_info, "a:1", Value::Null))
        .await;
    let before = mock.cloud.state();
    let ensure = json!({"recordID": "e", "lbInfo": lb_info, "attributes": {"x": "y"}});
    let calls = [
        ("createLoadBalancer", create("2", order())),
        ("createLoadBalancer", create("3", sample())),
        ("ensureLoadBalancer", ensure),
        ("ensureBackend", backend(&lb_info, "b:1", Value::Null)),
        ("deregisterBackend", backend(&lb_info, "a:1", Value::Null)),
        ("deleteLoadBalancer", delete("4", Value::Null)),
        ("deleteLoadBalancer", delete("4", json!({"lbID": "lb-9"}))),
        ("deleteLoadBalancer", delete("1", lb_info)),
    ];
    fault(&mock, true).await;
    for dry_run in [false, true] {
        for (webhook, call) in &calls {
            let mut call = call.clone();
            call["dryRun"] = dry_run.into();
            let reply = mock.call(webhook, call).await;
            assert_eq!(reply["status"], "Fail", "{webhook}: {reply}");
            assert_eq!(reply["minRetryDelayInSeconds"], 1, "{webhook}");
            let msg = reply["msg"].as_str().unwrap();
            assert!(msg.contains("temporarily unavailable"), "{webhook}: {msg}");
        }
    }
    assert_eq!(mock.cloud.state(), before, "nothing is forgotten");
    fault(&mock, false).await;
    for (webhook, call) in calls {
        // RTRY-03: the failure is not remembered by the recordID.
        mock.succ(webhook, call).await;
    }
}

#[tokio::test]
async fn rtry_05_webhooks_that_need_no_cloud_keep_working() {
    let mock = Mock::new();
    fault(&mock, true).await;
    let health = mock.call("healthz", json!({})).await;
    assert_eq!(
        health,
        json!({"healthy": true, "specification": "1", "features": ["batches", "cancel", "pages", "reasons"]})
    );
    mock.succ("generateBackendAddr", pod_address("10.0.0.1", 80))
        .await;
    mock.succ("validateBackend", json!({"parameters": {"weight": "1"}}))
        .await;
    mock.succ("judgePodDeregister", json!({"notReadyPods": []}))
        .await;
    // Better let through than refused: the operation that follows is tried again.
    mock.succ("validateLoadBalancer", json!({"lbSpec": sample()}))
        .await;
    mock.rejected("validateLoadBalancer", json!({"lbSpec": {}}))
        .await;
}

#[tokio::test]
async fn observing_and_changing_by_hand_keep_working_and_a_reset_ends_it() {
    let mock = Mock::new();
    fault(&mock, true).await;
    let (status, seen) = mock
        .post(
            "observe/foreign",
            json!({"lbInfo": sample(), "addr": "a:1"}),
        )
        .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(mock.observe().await, seen);
    let (status, _) = mock.post("reset", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    let (_, shown) = mock.send("GET", "/_mock/fault", Body::empty()).await;
    assert_eq!(shown, json!({"on": false}));
}

#[tokio::test]
async fn asyn_06_a_creation_is_cancelled_after_an_outage() {
    let second = std::time::Duration::from_secs(1);
    let mock = Mock::with_stages_of(second);
    mock.call("createLoadBalancer", create("1", order())).await;
    fault(&mock, true).await;
    mock.rejected("deleteLoadBalancer", delete("1", Value::Null))
        .await;
    fault(&mock, false).await;
    mock.succ("deleteLoadBalancer", delete("1", Value::Null))
        .await;
    assert!(mock.cloud.observe().load_balancers.is_empty());
}

/// With the clock paused, waiting would be seen as time that went by.
#[tokio::test(start_paused = true)]
async fn rtry_06_the_driver_does_not_retry() {
    let mock = Mock::new();
    mock.cloud.set_outage(true);
    let begun = tokio::time::Instant::now();
    mock.rejected("createLoadBalancer", create("1", order()))
        .await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(mock.cloud.calls().get("createLoadBalancer"), 1);
}
