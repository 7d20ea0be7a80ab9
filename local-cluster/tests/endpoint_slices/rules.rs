//! What the API server requires of EndpointSlices.

use axum::body::Body;
use http::Request;
use local_cluster::LocalCluster;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{SLICES, create};
use crate::fixture::{call, cluster, quick};

fn slice(name: &str, change: Value) -> Value {
    let mut whole = json!({
        "metadata": {"name": name}, "addressType": "IPv4",
        "endpoints": [{"addresses": ["192.0.2.9"]}], "ports": [{"port": 80}],
    });
    json_patch::merge(&mut whole, &change);
    whole
}

async fn rejected(cluster: &LocalCluster, method: &str, path: &str, body: Value) -> Value {
    let (status, refusal) = call(cluster, method, path, Some(body)).await;
    assert_eq!(
        (status.as_u16(), &refusal["reason"]),
        (422, &json!("Invalid")),
        "{refusal}"
    );
    refusal
}

#[tokio::test]
async fn e2_invalid_slices_are_rejected() {
    let cluster = cluster(quick()).await;
    let untyped = slice("s", json!({"addressType": null}));
    let refusal = rejected(&cluster, "POST", SLICES, untyped).await;
    assert_eq!(
        refusal["message"],
        "EndpointSlice.discovery.k8s.io \"s\" is invalid: addressType: Required value"
    );
    assert_eq!(
        refusal["details"]["causes"],
        json!([{"reason": "FieldValueRequired", "message": "Required value", "field": "addressType"}])
    );
    let endpoints = |count: usize| vec![json!({"addresses": ["192.0.2.9"]}); count];
    let too_many = slice("s", json!({"endpoints": endpoints(1001)}));
    let refusal = rejected(&cluster, "POST", SLICES, too_many).await;
    assert_eq!(
        refusal["details"]["causes"],
        json!([{
            "reason": "FieldValueTooMany", "field": "endpoints",
            "message": "Too many: 1001: must have at most 1000 items",
        }])
    );
    let largest = slice("s", json!({"endpoints": endpoints(1000)}));
    create(&cluster, SLICES, largest).await;
    let path = format!("{SLICES}/s");
    for (change, field) in [
        (json!({"addressType": "IPv6"}), "addressType"),
        (
            json!({"endpoints": [{"addresses": []}]}),
            "endpoints[0].addresses",
        ),
        (json!({"ports": [{}, {}]}), "ports[1].name"),
    ] {
        let refusal = rejected(&cluster, "PATCH", &path, change).await;
        let causes = refusal["details"]["causes"].as_array().unwrap();
        assert!(causes.iter().any(|c| c["field"] == field), "{refusal}");
    }
}

#[tokio::test]
async fn e17_ports_have_defaults() {
    let cluster = cluster(quick()).await;
    let change = json!({
        "ports": [{}, {"name": "dns", "protocol": "UDP", "port": 53}],
        "endpoints": [{"addresses": ["192.0.2.9"], "deprecatedTopology": {"a": "b"}, "zone": "z"}],
    });
    let made = create(&cluster, SLICES, slice("s", change)).await;
    assert_eq!(
        made["ports"],
        json!([
            {"name": "", "protocol": "TCP"},
            {"name": "dns", "protocol": "UDP", "port": 53},
        ])
    );
    assert_eq!(
        made["endpoints"],
        json!([{"addresses": ["192.0.2.9"], "conditions": {}, "zone": "z"}])
    );
}

#[tokio::test]
async fn updates_need_no_version_and_labels_count_as_changes() {
    let cluster = cluster(quick()).await;
    let made = create(&cluster, SLICES, slice("s", json!({}))).await;
    assert_eq!(made["metadata"]["generation"], 1);
    let path = format!("{SLICES}/s");
    let labelled = slice("s", json!({"metadata": {"labels": {"a": "b"}}}));
    let (status, after) = call(&cluster, "PUT", &path, Some(labelled)).await;
    assert_eq!(status, 200, "{after}");
    assert_eq!(after["metadata"]["generation"], 2);
    let annotated = json!({"metadata": {"annotations": {"a": "b"}}});
    let (_, after) = call(&cluster, "PATCH", &path, Some(annotated)).await;
    assert_eq!(after["metadata"]["generation"], 2);
}

#[tokio::test]
async fn odd_slices_cause_warnings() {
    let cluster = cluster(quick()).await;
    let domains = slice(
        "s",
        json!({"addressType": "FQDN", "endpoints": [{"addresses": ["db.example.com"]}]}),
    );
    let request = Request::post(SLICES)
        .header("content-type", "application/json")
        .body(Body::from(domains.to_string()))
        .unwrap();
    let response = cluster.router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 201);
    let warning = response.headers()["warning"].to_str().unwrap();
    assert_eq!(
        warning,
        "299 - \"spec.addressType: FQDN endpoints are deprecated\""
    );
}
