//! Backends that differ from another in one part.

use crate::checks::prelude::*;

/// A backend with its description.
pub(super) type Variant = (&'static str, Backend);

/// A pod, and others that differ from it, and from each other, in one part of the identity.
pub(super) fn pods(lab: &Lab, lb: &LoadBalancer) -> Vec<Variant> {
    let second_port = |mut pod: Value| {
        let port = port_of(&pod) + 1;
        set_port(&mut pod, port);
        pod
    };
    let one = sent(lab.pod_backend(lb));
    let other = sent(lab.pod_backend(lb));
    let mut namesake = sent(lab.pod_backend(lb));
    namesake["pod"]["metadata"]["name"] = one["pod"]["metadata"]["name"].clone();
    namesake["pod"]["metadata"]["namespace"] = json!("lbcf-conformance-2");
    [
        ("a pod", one.clone()),
        ("the same pod on another port", second_port(one)),
        ("another pod", other.clone()),
        ("another pod on another port", second_port(other)),
        ("a pod of the same name in another namespace", namesake),
    ]
    .into_iter()
    .map(|(what, pod)| (what, lab.backend_of(lb, Source::Pod(pod))))
    .collect()
}

/// A service on a node, and others that differ from it, and from each other, in the same way.
pub(super) fn services(lab: &Lab, lb: &LoadBalancer) -> Vec<Variant> {
    let mut one = sent(lab.service_backend(lb));
    let other = sent(lab.service_backend(lb));
    let node_port = &one["service"]["spec"]["ports"][0]["nodePort"];
    // Outside the range of the check's other backends.
    let node_port = node_port.as_i64().unwrap_or(30_000) + 2_000;
    let port = port_of(&one) + 1;
    if let Some(ports) = one["service"]["spec"]["ports"].as_array_mut() {
        ports[0]["name"] = json!("first");
        ports.push(json!({
            "name": "second", "port": port, "protocol": "TCP", "targetPort": 8081,
            "nodePort": node_port,
        }));
    }
    let on_node_of = |mut service: Value, node: &Value| {
        service["nodeName"] = node["nodeName"].clone();
        service["nodeAddresses"] = node["nodeAddresses"].clone();
        service
    };
    let mut other_port = one.clone();
    set_port(&mut other_port, port);
    let other_node = on_node_of(one.clone(), &other);
    let other_service = on_node_of(other, &one);
    [
        ("a service on a node", one),
        ("the same service on another node", other_node),
        ("the same service's other port on the same node", other_port),
        ("another service on the same node", other_service),
    ]
    .into_iter()
    .map(|(what, service)| (what, Source::Service(service)))
    .map(|(what, source)| (what, lab.backend_of(lb, source)))
    .collect()
}

/// The same backend with a changed request.
pub(super) fn sent_as(backend: &Backend, change: impl FnOnce(&mut Value)) -> Backend {
    let mut backend = backend.clone();
    if let Some(sent) = backend.source.sent_mut() {
        change(sent);
    }
    backend
}

/// `podBackend` or `serviceBackend` of the request.
fn sent(backend: Backend) -> Value {
    backend.source.sent().cloned().unwrap_or_default()
}

fn port_of(sent: &Value) -> i64 {
    sent["port"]["port"].as_i64().unwrap_or_default()
}

/// The same number of the other protocol.
pub(super) fn to_udp(sent: &mut Value) {
    sent["port"]["protocol"] = json!("UDP");
    let port = port_of(sent);
    let ports = sent.pointer_mut("/pod/spec/containers/0/ports");
    if let Some(ports) = ports.and_then(Value::as_array_mut) {
        ports.push(json!({"containerPort": port, "protocol": "UDP"}));
    }
}

fn set_port(sent: &mut Value, port: i64) {
    sent["port"]["port"] = json!(port);
    sent["port"]["portNumber"] = json!(port);
    // Some drivers verify that the pod has the port.
    let ports = sent.pointer_mut("/pod/spec/containers/0/ports");
    if let Some(ports) = ports.and_then(Value::as_array_mut) {
        ports.push(json!({"containerPort": port, "protocol": "TCP"}));
    }
}
