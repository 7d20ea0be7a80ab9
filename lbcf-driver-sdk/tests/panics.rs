//! Panics only affect their own call.

use crate::support::{ensure, ok, post, stage};
use axum::http::StatusCode;
use serde_json::json;

#[tokio::test]
async fn a_panic_is_a_500_for_that_call_alone() {
    let (router, stage) = stage();
    let breaks = ensure("1", json!({"do": "panic"})).to_string();
    for _ in 0..2 {
        let (status, answer) = post(&router, "/ensureBackend", breaks.clone()).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with("ensureBackend: "), "{error}");
        assert!(!error.contains("on purpose"), "{error}");
    }
    // Both calls ran: a panic is not retained.
    assert_eq!(stage.log().len(), 4);
    let fine = ok(&router, "/ensureBackend", &ensure("2", json!({}))).await;
    assert_eq!(fine["status"], "Succ");
}

#[tokio::test(start_paused = true)]
async fn a_panic_reaches_all_waiting_calls_and_is_not_retained() {
    let (router, stage) = stage();
    let body = |wanted: &str| {
        let mut body = ensure("1", json!({"do": wanted}));
        body["lbInfo"] = json!({"id": "lb-1"});
        body
    };
    // Another operation holds the key, so that the calls that panic wait together.
    let mut first = body("wait");
    first["recordID"] = "ensureBackend(2)".into();
    let first = crate::support::spawn_ok(&router, "/ensureBackend", first);
    stage.lines(1).await;
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let (router, body) = (router.clone(), body("panic").to_string());
            tokio::spawn(async move { post(&router, "/ensureBackend", body).await })
        })
        .collect();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    stage.go.add_permits(1);
    assert_eq!(first.await.unwrap()["status"], "Succ");
    for call in calls {
        assert_eq!(call.await.unwrap().0, StatusCode::INTERNAL_SERVER_ERROR);
    }
    assert_eq!(stage.log(), ["begin a", "end a", "begin a", "end a"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_without_waiting_calls_is_not_retained() {
    let (router, stage) = stage();
    let body = ensure("1", json!({"do": "wait, then panic"}));
    let running = ok(&router, "/ensureBackend", &body).await;
    assert_eq!(running["status"], "Running");
    stage.go.add_permits(1);
    stage.lines(2).await;
    // The next call runs the hook again.
    let running = ok(&router, "/ensureBackend", &body).await;
    assert_eq!(running["status"], "Running");
    assert_eq!(stage.log(), ["begin a", "end a", "begin a"]);
}

#[tokio::test]
async fn a_panic_in_a_decision_or_in_the_serial_key_is_a_500() {
    let (router, _) = stage();
    let decision = json!({"operation": "Create", "parameters": {"do": "panic"}});
    let keyed = json!({"recordID": "r", "lbInfo": {"id": "panic"}});
    for (path, body) in [
        ("/validateBackend", decision),
        ("/deleteLoadBalancer", keyed),
    ] {
        let (status, _) = post(&router, path, body.to_string()).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    }
}
