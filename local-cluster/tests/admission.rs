//! Admission webhooks: what reviews contain, and what responses do.

mod calls;
mod configurations;
mod mutation;
mod namespaces;
mod responses;
mod review_requests;
mod writes;

use axum::body::Body;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use local_cluster::LocalCluster;
use serde_json::Value;
use tower::ServiceExt as _;

/// Sends a request. Returns the warnings of the response too.
async fn warned(
    cluster: &LocalCluster,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> (u16, Value, Vec<String>) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(Body::from(body.map(|b| b.to_string()).unwrap_or_default()))
        .unwrap();
    let response: Response<Body> = cluster.router().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let warnings = response
        .headers()
        .get_all("warning")
        .iter()
        .map(|value| String::from_utf8(value.as_bytes().to_vec()).unwrap())
        .collect();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap(), warnings)
}
