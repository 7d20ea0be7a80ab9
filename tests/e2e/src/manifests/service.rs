//! Manifests of services, nodes, and groups of a service.

use super::{NAMESPACE, group};
use k8s_openapi::api::core::v1::{Node, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use lbcf_controller::api::{BackendGroup, ServiceMode, ServicePortSelector, ServiceSelection};
use lbcf_driver_sdk::webhook::Protocol;
use serde_json::{Value, json};

/// The name of the service of the tests.
pub const SERVICE: &str = "web-service";

/// A service of type NodePort for port 80 of the pods with `app: web`, with this node port.
#[must_use]
pub fn service(name: &str, node_port: i32) -> Service {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "type": "NodePort", "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "nodePort": node_port}],
        },
    }))
    .expect("the manifest is a service")
}

/// A group that registers the node port of a service's port 80 at these load balancers.
#[must_use]
pub fn service_group(name: &str, service: &str, load_balancers: &[&str]) -> BackendGroup {
    let mut group = group(name, load_balancers);
    group.spec.pods = None;
    group.spec.service = Some(ServiceSelection {
        name: service.to_owned(),
        port: ServicePortSelector::new(80, Protocol::Tcp),
        ..ServiceSelection::default()
    });
    group
}

/// The same group on the service's endpoints, for port `http`.
#[must_use]
pub fn endpoint_group(name: &str, service: &str, load_balancers: &[&str]) -> BackendGroup {
    let mut group = service_group(name, service, load_balancers);
    if let Some(service) = &mut group.spec.service {
        service.mode = Some(ServiceMode::Endpoints);
        service.port = ServicePortSelector::named("http");
    }
    group
}

/// A service of the type ClusterIP for port 80, named `http`, without a selector.
#[must_use]
pub fn service_without_selector(name: &str) -> Service {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"ports": [
            {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080},
        ]},
    }))
    .expect("the manifest is a service")
}

/// A slice of a service with port `http`, 8080, and these endpoints.
#[must_use]
pub fn endpoint_slice(name: &str, service: &str, endpoints: &Value) -> EndpointSlice {
    serde_json::from_value(json!({
        "metadata": {
            "name": name, "namespace": NAMESPACE,
            "labels": {"kubernetes.io/service-name": service},
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    }))
    .expect("the manifest is a slice")
}

/// Ready endpoints with these addresses and nothing else.
#[must_use]
pub fn endpoints<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Value {
    let addresses = addresses.into_iter();
    let endpoint = |address| json!({"addresses": [address], "conditions": {"ready": true}});
    addresses.map(endpoint).collect()
}

/// A node without a status.
#[must_use]
pub fn node(name: &str) -> Node {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"pool": "web"}}}))
        .expect("the manifest is a node")
}

/// The label of nodes that load balancers must not use, whatever its value (d40).
pub const EXCLUDED_FROM_LOAD_BALANCERS: &str =
    "node.kubernetes.io/exclude-from-external-load-balancers";

/// A status patch with this address and Ready condition.
#[must_use]
pub fn node_status(ip: &str, ready: bool) -> Value {
    let ready = if ready { "True" } else { "False" };
    json!({"status": {
        "addresses": [
            {"type": "InternalIP", "address": ip},
            {"type": "Hostname", "address": "somewhere"},
        ],
        "conditions": [{"type": "Ready", "status": ready}],
    }})
}
