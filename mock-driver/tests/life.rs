//! The life cycle of a load balancer, with and without network failures.

use crate::support::{Mock, backend, create, delete, order, pod_address};
use serde_json::{Value, json};

/// How calls reach the driver.
#[derive(Clone, Copy)]
enum Path {
    Plain,
    Twice,
    AfterAnAbortedTry,
}

impl Path {
    async fn call(self, mock: &Mock, webhook: &str, mut body: Value) -> Value {
        match self {
            Self::Plain => {}
            Self::Twice => {
                mock.succ(webhook, body.clone()).await;
            }
            Self::AfterAnAbortedTry => mock.abort(webhook, body.clone()).await,
        }
        body["retryID"] = "another".into();
        mock.succ(webhook, body).await
    }
}

async fn life(path: Path) {
    let mock = Mock::new();
    let start = mock.cloud.state();
    path.call(&mock, "validateLoadBalancer", json!({"lbSpec": order()}))
        .await;
    let created = path
        .call(&mock, "createLoadBalancer", create("1", order()))
        .await;
    let lb_info = &created["lbInfo"];
    let attributes = json!({"bandwidth": "2"});
    let ensure =
        json!({"recordID": "ensureLoadBalancer(1)", "lbInfo": lb_info, "attributes": attributes});
    path.call(&mock, "ensureLoadBalancer", ensure).await;
    let weight = json!({"weight": "50"});
    let validate = json!({"backendType": "Pod", "lbInfo": lb_info, "parameters": weight});
    path.call(&mock, "validateBackend", validate).await;
    for weight in ["50", "80"] {
        for ip in ["10.0.0.1", "10.0.0.2"] {
            let reply = path
                .call(&mock, "generateBackendAddr", pod_address(ip, 80))
                .await;
            let addr = reply["backendAddr"].as_str().unwrap();
            let request = backend(lb_info, addr, json!({"weight": weight}));
            path.call(&mock, "ensureBackend", request).await;
        }
        let seen = mock.cloud.observe().load_balancers;
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].attributes["bandwidth"], "2");
        assert_eq!(seen[0].backends.len(), 2);
        let as_wanted =
            |backend: &mock_driver::ObservedBackend| backend.parameters["weight"] == weight;
        assert!(seen[0].backends.iter().all(as_wanted));
    }
    for addr in mock.addresses().await {
        path.call(
            &mock,
            "deregisterBackend",
            backend(lb_info, &addr, Value::Null),
        )
        .await;
    }
    path.call(&mock, "deleteLoadBalancer", delete("1", lb_info.clone()))
        .await;
    assert_eq!(mock.cloud.state(), start);
}

#[tokio::test]
async fn life_01_from_validation_to_deletion() {
    life(Path::Plain).await;
}

#[tokio::test]
async fn life_02_every_call_twice() {
    life(Path::Twice).await;
}

#[tokio::test]
async fn life_03_every_call_after_an_aborted_try() {
    life(Path::AfterAnAbortedTry).await;
}

#[tokio::test]
async fn life_06_the_load_balancer_is_deleted_before_its_backends() {
    let mock = Mock::new();
    let start = mock.cloud.state();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let lb_info = &created["lbInfo"];
    mock.succ("ensureBackend", backend(lb_info, "a", Value::Null))
        .await;
    mock.succ("deleteLoadBalancer", delete("1", lb_info.clone()))
        .await;
    mock.succ("deregisterBackend", backend(lb_info, "a", Value::Null))
        .await;
    assert_eq!(mock.cloud.state(), start);
}

#[tokio::test]
async fn drg_08_a_deregistered_backend_is_registered_again() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let request = backend(&created["lbInfo"], "a", json!({"weight": "1"}));
    for _ in 0..3 {
        mock.succ("ensureBackend", request.clone()).await;
        assert_eq!(mock.addresses().await, ["a"]);
        mock.succ("deregisterBackend", request.clone()).await;
        assert!(mock.addresses().await.is_empty());
    }
}

#[tokio::test]
async fn drg_08_a_backend_is_registered_again_after_an_aborted_try() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    let request = backend(&created["lbInfo"], "a", json!({"weight": "1"}));
    mock.abort("ensureBackend", request.clone()).await;
    // The hook continues without its caller.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(mock.addresses().await, ["a"]);
    mock.succ("deregisterBackend", request.clone()).await;
    assert!(mock.addresses().await.is_empty());
    // The same call as the aborted one, whose result is no longer stored.
    mock.succ("ensureBackend", request).await;
    assert_eq!(mock.addresses().await, ["a"]);
}
