//! One address for each backend, and no two alike.

use super::{addressing, pod, text};
use crate::bent::*;
use lbcf_conformance::check::Feature;
use serde_json::Value;

#[tokio::test]
async fn gen_03_detects_addresses_that_are_not_alike() {
    let for_services = addressing(|request| match &request["podBackend"] {
        Value::Null => text(&request["retryID"]),
        pod => pod.to_string(),
    });
    let expected = "as before for the same Service";
    fails(for_services, "GEN-03", expected, "backendAddr").await;
}

#[tokio::test]
async fn gen_04_detects_addresses_that_collide() {
    let own = "a different address for each backend";
    let without_namespace = addressing(|request| {
        let name = text(&pod(request)["metadata"]["name"]);
        format!("{name}:{}", request["podBackend"]["port"]["port"])
    });
    let got = "for a pod and for a pod of the same name in another namespace";
    fails(without_namespace, "GEN-04", own, got).await;

    let services = fixture_with([Feature::ServiceBackends]);
    let without_node = addressing(|request| {
        let service = &request["serviceBackend"];
        let name = &service["service"]["metadata"]["name"];
        format!("{name}:{}", service["port"]["port"])
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
