//! Manifests of services, nodes, and groups of a service.

use super::{NAMESPACE, group};
use k8s_openapi::api::core::v1::{Node, Service};
use lbcf_controller::api::{BackendGroup, PortSelector, ServiceSelection};
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
        port: PortSelector::new(80, Protocol::Tcp),
        ..ServiceSelection::default()
    });
    group
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
