//! The mock's own endpoints.

use crate::support::{Mock, backend, create, order, sample};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

#[tokio::test]
async fn the_state_has_the_whole_cloud() {
    let mock = Mock::new();
    mock.succ("createLoadBalancer", create("1", order())).await;
    mock.succ(
        "ensureBackend",
        backend(&sample(), "a:1", json!({"weight": "7"})),
    )
    .await;
    let (status, state) = mock.send("GET", "/_mock/state", Body::empty()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(state, serde_json::to_value(mock.cloud.state()).unwrap());
    assert_eq!(
        state["loadBalancers"][0]["clientToken"],
        "createLoadBalancer(1)"
    );
    assert_eq!(
        state["loadBalancers"][1]["listeners"][0]["targets"],
        json!([{"addr": "a:1", "weight": 7, "parameters": {"weight": "7"}, "recordID": "ensureBackend(a:1)"}])
    );
}

#[tokio::test]
async fn the_observation_is_that_of_the_library() {
    let mock = Mock::new();
    assert_eq!(mock.observe().await, json!({"loadBalancers": []}));
    mock.succ("createLoadBalancer", create("1", sample())).await;
    assert_eq!(
        mock.observe().await,
        serde_json::to_value(mock.cloud.observe()).unwrap()
    );
}

#[tokio::test]
async fn requests_are_journaled_and_counted() {
    let mock = Mock::new();
    mock.succ("createLoadBalancer", create("1", order())).await;
    mock.rejected("ensureBackend", backend(&Value::Null, "a:1", Value::Null))
        .await;
    mock.rejected("validateLoadBalancer", json!({"dryRun": true}))
        .await;
    let (_, all) = mock.send("GET", "/_mock/requests", Body::empty()).await;
    let requests = all["requests"].as_array().unwrap();
    let brief: Vec<_> = requests
        .iter()
        .map(|it| {
            (
                it["sequence"].as_u64().unwrap(),
                it["webhook"].as_str().unwrap(),
                it["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        brief,
        [
            (1, "createLoadBalancer", "Succ"),
            (2, "ensureBackend", "Fail"),
            (3, "validateLoadBalancer", "Refused"),
        ]
    );
    assert_eq!(requests[0]["recordID"], "createLoadBalancer(1)");
    assert_eq!(requests[0]["retryID"], "r");
    assert_eq!(requests[2]["dryRun"], true);
    assert_eq!(all["counts"]["createLoadBalancer"], 1);
    // Its lbInfo does not fit, so that it does not reach the driver.
    assert_eq!(all["counts"]["ensureBackend"], Value::Null);
    for (query, count) in [
        ("webhook=ensureBackend", 1),
        ("recordID=createLoadBalancer(1)", 1),
        ("since=2", 1),
        ("since=3", 0),
    ] {
        let (_, some) = mock
            .send("GET", &format!("/_mock/requests?{query}"), Body::empty())
            .await;
        assert_eq!(some["requests"].as_array().unwrap().len(), count, "{query}");
    }
    let (status, reply) = mock
        .send("GET", "/_mock/requests?since=x", Body::empty())
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(reply["error"].is_string());
}

#[tokio::test]
async fn a_reset_restores_everything() {
    let mock = Mock::new();
    let start = mock.cloud.state();
    mock.succ("createLoadBalancer", create("1", order())).await;
    let calls = mock.cloud.calls();
    let (status, state) = mock.send("POST", "/_mock/reset", Body::empty()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(state, serde_json::to_value(&start).unwrap());
    let (_, journal) = mock.send("GET", "/_mock/requests", Body::empty()).await;
    assert_eq!(journal["requests"], json!([]));
    assert_eq!(mock.cloud.calls(), calls);
}

#[tokio::test]
async fn errors_for_wrong_paths_and_methods_list_the_endpoints() {
    let mock = Mock::new();
    let (status, reply) = mock.send("GET", "/_mock/nothing", Body::empty()).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(reply["error"].as_str().unwrap().contains("observe"));
    let (status, reply) = mock.send("GET", "/_mock/reset", Body::empty()).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(reply["error"].is_string());
}

#[tokio::test]
async fn no_response_has_a_version_in_its_headers() {
    let mock = Mock::new();
    for path in ["/", "/_mock/state", "/healthz", "/nothing"] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = mock.router.clone().oneshot(request).await.unwrap();
        let version = env!("CARGO_PKG_VERSION");
        for (name, value) in response.headers() {
            assert!(!value.to_str().unwrap().contains(version), "{path}: {name}");
        }
    }
}
