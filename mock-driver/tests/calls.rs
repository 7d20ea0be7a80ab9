//! What holds for calls of any webhook.

use crate::support::{Mock, backend, create, delete, order};
use serde_json::{Value, json};

#[tokio::test]
async fn hlth_01_the_driver_is_healthy() {
    let mock = Mock::new();
    assert_eq!(
        mock.call("healthz", json!({})).await,
        json!({"healthy": true})
    );
}

#[tokio::test]
async fn dry_01_02_dry_runs_answer_and_change_nothing() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = created["lbInfo"].clone();
    mock.succ("ensureBackend", backend(&lb_info, "a", Value::Null))
        .await;
    let before = mock.cloud.state();
    let dry = |mut request: Value| {
        request["dryRun"] = true.into();
        request
    };
    let rehearsed = mock
        .succ("createLoadBalancer", dry(create("2", order())))
        .await;
    assert_eq!(rehearsed["lbInfo"]["lbID"], "lb-00000002");
    mock.succ("deleteLoadBalancer", dry(delete("1", lb_info.clone())))
        .await;
    mock.succ("ensureBackend", dry(backend(&lb_info, "b", Value::Null)))
        .await;
    mock.succ(
        "deregisterBackend",
        dry(backend(&lb_info, "a", Value::Null)),
    )
    .await;
    let attributes = json!({"recordID": "e", "lbInfo": lb_info, "attributes": {"x": "y"}});
    mock.succ("ensureLoadBalancer", dry(attributes)).await;
    mock.rejected(
        "ensureBackend",
        dry(backend(&Value::Null, "b", Value::Null)),
    )
    .await;
    assert_eq!(mock.cloud.state(), before);
    // DRY-03: the real call after a rehearsal does the work.
    let real = mock.succ("createLoadBalancer", create("2", order())).await;
    assert_eq!(real["lbInfo"], rehearsed["lbInfo"]);
    assert_ne!(mock.cloud.state(), before);
}

#[tokio::test]
async fn rtry_01_record_ids_are_opaque() {
    let mock = Mock::new();
    for record_id in ["x".repeat(253), "記録 (1)".to_owned(), "a/b?c#d".to_owned()] {
        let mut request = create("", order());
        request["recordID"] = record_id.into();
        let reply = mock.succ("createLoadBalancer", request.clone()).await;
        request["lbInfo"] = reply["lbInfo"].clone();
        mock.succ("deleteLoadBalancer", request).await;
    }
    assert!(mock.cloud.observe().load_balancers.is_empty());
}
