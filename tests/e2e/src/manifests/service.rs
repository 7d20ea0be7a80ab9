//! Services, nodes, and groups that stand on them.

use super::{NAMESPACE, group};
use k8s_openapi::api::core::v1::{Node, Service};
use lbcf_controller::api::{BackendGroup, PortSelector, ServiceSelection};
use lbcf_driver_sdk::webhook::Protocol;
use serde_json::{Value, json};

/// The service.
pub const SERVICE: &str = "web-service";

/// A service of type NodePort for the pods with `app: web`: port 80, with this port on each node.
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

/// A group that stands on a service's port 80, on the load balancers.
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

/// A node, of which nothing is known yet.
#[must_use]
pub fn node(name: &str) -> Node {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"pool": "web"}}}))
        .expect("the manifest is a node")
}

/// The status of a node that is ready, or is not, and has this address.
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
