//! Malformed input of peers.

mod bodies;
mod http;
mod yaml;

use local_cluster::{LocalCluster, ServerHandle};
use serde_json::Value;

use crate::fixture::{call, quick};
use crate::wire;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A served cluster with another client that uses it all the time.
async fn served() -> (LocalCluster, ServerHandle) {
    let cluster = crate::fixture::cluster(quick()).await;
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    (cluster, server)
}

/// The process survives and serves other clients.
async fn still_serves(cluster: &LocalCluster, server: &ServerHandle) {
    let (code, _) = call(cluster, "GET", "/api/v1/nodes", None).await;
    assert_eq!(code.as_u16(), 200);
    let text = wire::exchange(server.addr(), wire::get("/api/v1/nodes", "")).await;
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
}

/// Whether a value is an error in Kubernetes' format.
fn is_status(code: u16, body: &Value) -> bool {
    body["kind"] == "Status"
        && body["apiVersion"] == "v1"
        && body["status"] == "Failure"
        && body["code"] == code
        && body["message"].as_str().is_some_and(|m| !m.is_empty())
        && body["reason"].is_string()
}
