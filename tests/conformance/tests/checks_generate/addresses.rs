//! One address for each backend, and no two alike.

use super::{addressing, pod, text};
use crate::bent::*;
use lbcf_conformance::check::Feature;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tokio::test]
async fn gen_03_detects_addresses_that_are_not_alike() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = addressing(move |_| format!("x-{}", asked.fetch_add(1, Ordering::Relaxed)));
    fails(
        counting,
        "GEN-03",
        "backendAddr \"x-0\", as before for the same Pod",
        "\"x-1\"",
    )
    .await;

    let by_retry = addressing(|request| text(&request["retryID"]));
    fails(by_retry, "GEN-03", "as before for the same", "backendAddr").await;

    let for_services = addressing(|request| match &request["podBackend"] {
        Value::Null => text(&request["retryID"]),
        pod => pod.to_string(),
    });
    fails(
        for_services,
        "GEN-03",
        "as before for the same Service",
        "backendAddr",
    )
    .await;
}

#[tokio::test]
async fn gen_04_detects_addresses_that_collide() {
    let own = "a different address for each backend";
    let constant = addressing(|_| "10.0.0.1:80".to_owned());
    fails(
        constant,
        "GEN-04",
        own,
        "for a pod and for the same pod on another port",
    )
    .await;

    let without_port = addressing(|request| text(&pod(request)["status"]["podIP"]));
    fails(without_port, "GEN-04", own, "the same pod on another port").await;

    let without_namespace = addressing(|request| {
        let name = text(&pod(request)["metadata"]["name"]);
        format!("{name}:{}", request["podBackend"]["port"]["port"])
    });
    fails(
        without_namespace,
        "GEN-04",
        own,
        "for a pod and for a pod of the same name in another namespace",
    )
    .await;

    let only_port = addressing(|request| request["podBackend"]["port"]["port"].to_string());
    fails(only_port, "GEN-04", own, "for a pod and for another pod").await;

    let services = fixture_with([Feature::ServiceBackends]);
    let without_node = addressing(|request| {
        let service = &request["serviceBackend"];
        format!(
            "{}:{}",
            service["service"]["metadata"]["name"], service["port"]["port"]
        )
    });
    let got = "for a service on a node and for the same service on another node";
    fails_with(without_node, services.clone(), "GEN-04", own, got).await;

    let without_node_port = addressing(|request| text(&request["serviceBackend"]["nodeName"]));
    let got = "the same service's other port on the same node";
    fails_with(without_node_port, services.clone(), "GEN-04", own, got).await;

    let service_port = addressing(|request| {
        let service = &request["serviceBackend"];
        format!("{}:{}", service["nodeName"], service["port"]["port"])
    });
    let got = "for a service on a node and for another service on the same node";
    fails_with(service_port, services, "GEN-04", own, got).await;
}
