//! The cost of a write does not depend on the number of watchers.

use axum::body::{Body, to_bytes};
use http::Request;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::store::serialised;
use crate::{LocalCluster, LocalClusterOptions};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn call(cluster: &LocalCluster, method: &str, path: &str, body: Value) -> Body {
    let media_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media_type)
        .body(Body::from(body.to_string()))
        .unwrap();
    let response = cluster.router().oneshot(request).await.unwrap();
    assert!(response.status().is_success(), "{method} {path}");
    response.into_body()
}

/// Runs on one thread, because the counter is thread-local.
#[tokio::test]
async fn an_object_is_serialised_once_for_all_watchers() {
    const WATCHERS: usize = 50;
    let cluster = LocalCluster::start(LocalClusterOptions::default())
        .await
        .unwrap();
    let mut watchers = Vec::new();
    for selector in ["", "&labelSelector=on"] {
        for _ in 0..WATCHERS {
            let path = format!("{MAPS}?watch=true&timeoutSeconds=1{selector}");
            watchers.push(call(&cluster, "GET", &path, json!({})).await);
        }
    }
    let before = serialised();
    let one = format!("{MAPS}/m");
    let new = json!({"metadata": {"name": "m", "labels": {"on": "1"}}});
    drop(call(&cluster, "POST", MAPS, new).await);
    let long = "x".repeat(10_000);
    let change = json!({"data": {"long": long}});
    drop(call(&cluster, "PATCH", &one, change).await);
    let leaves = json!({"metadata": {"labels": null}});
    drop(call(&cluster, "PATCH", &one, leaves).await);
    drop(call(&cluster, "DELETE", &one, json!({})).await);
    for _ in 0..3 {
        drop(call(&cluster, "GET", MAPS, json!({})).await);
    }
    let mut lines = Vec::new();
    for watcher in watchers {
        let bytes = to_bytes(watcher, usize::MAX).await.unwrap();
        lines.push(String::from_utf8(bytes.to_vec()).unwrap().lines().count());
    }
    let expected = [[4; WATCHERS], [3; WATCHERS]].concat();
    assert_eq!(lines, expected);
    // Four writes, and the object as it last matched the selector.
    assert_eq!(serialised() - before, 5);
}
