//! The objects that histories create.

use crate::manifests::{self, DRIVER, NAMESPACE};
use serde_json::{Value, json};

/// A namespace with a driver, load balancers, groups, a Bind and pods of its own.
pub(super) const SHOP: &str = "lbcf-e2e-shop";
pub(super) const SHOP_DRIVER: &str = "shop-driver";
/// With their drivers.
pub(super) const SHOP_LBS: [(&str, &str); 2] =
    [("shop-lb", SHOP_DRIVER), ("shop-lb-of-system", DRIVER)];
pub(super) const SHOP_PODS: [&str; 2] = ["shop-pod-0", "shop-pod-1"];
/// A load balancer of the system for the namespaces in its scope.
pub(super) const SHARED_LB: &str = "lbcf-shared";

pub(super) const LOAD_BALANCERS: [&str; 2] = ["lb-a", "lb-b"];
pub(super) const PODS: [&str; 4] = ["pod-0", "pod-1", "pod-2", "pod-3"];
/// The nodes that every cluster has.
pub(super) const NODES: [&str; 2] = [manifests::NODES[0].0, manifests::NODES[1].0];
pub(super) const SERVICE: &str = "service";
pub(super) const WEIGHTS: [&str; 3] = ["10", "50", "90"];

/// A driver, which lists backends where they are audited.
pub(super) fn driver(namespace: &str, name: &str, url: &str, has_audits: bool) -> Value {
    let webhooks = if has_audits {
        &WEBHOOKS[..]
    } else {
        &WEBHOOKS[1..]
    };
    // What hangs is called again soon.
    let with_timeout = |name| json!({"name": name, "timeout": "2s"});
    let webhooks: Vec<Value> = webhooks.iter().map(with_timeout).collect();
    json!({
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "driverType": "Webhook", "url": url, "webhooks": webhooks,
        },
    })
}

const WEBHOOKS: [&str; 7] = [
    LIST_BACKENDS,
    "createLoadBalancer",
    "ensureLoadBalancer",
    "deleteLoadBalancer",
    "generateBackendAddr",
    "ensureBackend",
    "deregisterBackend",
];

/// The calls of audits, which never end.
pub(super) const LIST_BACKENDS: &str = "listBackends";
/// Audits remove whatever LBCF registered, also before the cluster was restored.
const REMOVE_ORPHANS: &str = "lbcf.tkestack.io/remove-orphans";

/// The cloud's name of a load balancer, which its attribute `name` is.
pub(super) fn cloud_name(namespace: &str, name: &str) -> String {
    format!("{namespace}-{name}")
}

pub(super) fn lb_spec() -> Value {
    json!({"lbVpcID": "vpc-12345678", "lbListenerPort": "80", "lbListenerProtocol": "TCP"})
}

pub(super) fn load_balancer(namespace: &str, name: &str, driver: &str) -> Value {
    json!({
        "metadata": {
            "name": name, "namespace": namespace, "annotations": {REMOVE_ORPHANS: "true"},
        },
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

/// A Bind of load balancers with these names and drivers.
pub(super) fn bind(
    namespace: &str,
    name: &str,
    load_balancers: &[(&str, &str)],
    weight: &str,
) -> Value {
    let entry = |(lb, driver): &(&str, &str)| {
        json!({
            "name": lb, "driver": driver, "spec": lb_spec(),
            "attributes": {"name": cloud_name(name, lb)},
        })
    };
    json!({
        "metadata": {
            "name": name, "namespace": namespace, "annotations": {REMOVE_ORPHANS: "true"},
        },
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
