//! A cluster with a custom resource, and requests without a client library.

use std::future::Future;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// The path of the fixture's custom resources.
pub(crate) const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

/// Nothing in these tests takes longer, so what does is a failure.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Logs a skipped test without a macro, because macros' output is hidden for tests that pass.
pub(crate) fn skip(why: &str) {
    let line = format!("SKIPPED: {why}\n");
    // An error of stderr cannot be reported.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Options without delays of controllers.
pub(crate) fn quick() -> LocalClusterOptions {
    LocalClusterOptions {
        pod_ready_delay: Duration::from_millis(10),
        pod_termination_delay: Duration::from_millis(10),
        ..LocalClusterOptions::default()
    }
}

pub(crate) fn widget_crd() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "shortNames": ["wd"], "categories": ["toys"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
                    {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
                ],
                "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {
                    "spec": {"type": "object", "required": ["colour"], "properties": {
                        "colour": {"type": "string", "enum": ["red", "blue"]},
                        "size": {"type": "integer", "default": 1, "minimum": 0},
                    }},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }}},
            }],
        },
    })
}

pub(crate) fn widget(name: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name}, "spec": {"colour": "red"},
    })
}

pub(crate) async fn cluster(options: LocalClusterOptions) -> LocalCluster {
    let cluster = LocalCluster::start(options).await.unwrap();
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (status, _) = call(&cluster, "POST", crds, Some(widget_crd())).await;
    assert_eq!(status, StatusCode::CREATED);
    let served = || async {
        let (status, _) = call(&cluster, "GET", WIDGETS, None).await;
        (status == StatusCode::OK).then_some(())
    };
    eventually("widgets are served", served).await;
    cluster
}

/// Sends a request with a JSON body; patches are merge patches.
pub(crate) async fn call(
    cluster: &LocalCluster,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> (StatusCode, Value) {
    let media_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = body.map(|b| b.to_string()).unwrap_or_default();
    raw(cluster, method, path, media_type, body.into_bytes()).await
}

/// Sends a request with any body; a response that is not JSON is returned as a string.
pub(crate) async fn raw(
    cluster: &LocalCluster,
    method: &str,
    path: &str,
    media_type: &str,
    body: Vec<u8>,
) -> (StatusCode, Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media_type)
        .body(Body::from(body))
        .unwrap();
    let response = cluster.router().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let value = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes).into_owned()));
    (status, value)
}

/// Repeats a request until it returns a value.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut request: impl FnMut() -> F,
) -> T {
    let asking = async {
        loop {
            if let Some(response) = request().await {
                return response;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, asking)
        .await
        .unwrap_or_else(|_| panic!("not in time: {what}"))
}
