//! The objects that histories create.

use crate::manifests::{self, NAMESPACE};
use serde_json::{Value, json};

/// A namespace with a driver, a load balancer, a group and a pod of its own.
pub(super) const SHOP: &str = "lbcf-e2e-shop";

pub(super) const LOAD_BALANCERS: [&str; 2] = ["lb-a", "lb-b"];
pub(super) const PODS: [&str; 4] = ["pod-0", "pod-1", "pod-2", "pod-3"];
/// The nodes that every cluster has.
pub(super) const NODES: [&str; 2] = [manifests::NODES[0].0, manifests::NODES[1].0];
pub(super) const SERVICE: &str = "service";
pub(super) const WEIGHTS: [&str; 3] = ["10", "50", "90"];

/// The driver of the test's own namespace.
pub(super) fn driver(namespace: &str, name: &str, url: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "driverType": "Webhook", "url": url,
            // What hangs is called again soon.
            "webhooks": WEBHOOKS.map(|name| json!({"name": name, "timeout": "1s"})),
        },
    })
}

const WEBHOOKS: [&str; 6] = [
    "createLoadBalancer",
    "ensureLoadBalancer",
    "deleteLoadBalancer",
    "generateBackendAddr",
    "ensureBackend",
    "deregisterBackend",
];

/// The cloud's name of a load balancer, which its attribute `name` is.
pub(super) fn cloud_name(namespace: &str, name: &str) -> String {
    format!("{namespace}-{name}")
}

pub(super) fn lb_spec() -> Value {
    json!({"lbVpcID": "vpc-12345678", "lbListenerPort": "80", "lbListenerProtocol": "TCP"})
}

pub(super) fn load_balancer(namespace: &str, name: &str, driver: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "lbDriver": driver, "lbSpec": lb_spec(),
            "attributes": {"name": cloud_name(namespace, name)},
        },
    })
}

/// A group without backends; [`pods`], [`addresses`] and [`nodes`] are what it can select.
pub(super) fn group(namespace: &str, name: &str, load_balancers: &[&str], weight: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"loadBalancers": load_balancers, "parameters": {"weight": weight}},
    })
}

pub(super) fn pods() -> Value {
    json!({"ports": [{"port": 80, "protocol": "TCP"}], "byLabel": {"selector": {"app": "web"}}})
}

pub(super) fn addresses(first: u64) -> Value {
    json!([
        format!("192.0.2.{first}:80"),
        format!("192.0.2.{}:80", first + 1)
    ])
}

pub(super) fn nodes() -> Value {
    json!({"name": SERVICE, "port": {"port": 80, "protocol": "TCP"}})
}

pub(super) fn bind(name: &str, load_balancers: &[&str], weight: &str) -> Value {
    let entry = |lb: &&str| {
        json!({
            "name": lb, "driver": crate::manifests::DRIVER, "spec": lb_spec(),
            "attributes": {"name": cloud_name(name, lb)},
        })
    };
    json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "loadBalancers": load_balancers.iter().map(entry).collect::<Vec<_>>(),
            "pods": pods(), "parameters": {"weight": weight},
        },
    })
}

pub(super) fn pod(namespace: &str, name: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
    })
}

pub(super) fn service(node_port: u64) -> Value {
    json!({
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {
            "type": "NodePort", "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "nodePort": node_port}],
        },
    })
}
