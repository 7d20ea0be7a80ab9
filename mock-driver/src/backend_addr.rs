//! The address that identifies a backend in the cloud: JSON with IP, port and protocol. It depends on
//! the request alone, so the same backend always has the same address (GEN-03).

use k8s_openapi::api::core::v1::{NodeAddress, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::fields::Json;
use lbcf_driver_sdk::webhook::{
    BackendPort, EndpointBackend, PodBackend, Protocol, ServiceBackend,
};
use serde::Serialize;

/// Written in this order of fields.
#[derive(Debug, Serialize)]
struct TargetAddress<'a> {
    ip: &'a str,
    port: u16,
    protocol: Protocol,
}

/// A pod's own address.
pub(crate) fn pod_address(backend: &PodBackend) -> Result<String, HookError> {
    let status = backend.pod.status.as_ref();
    let ip = status.and_then(|status| status.pod_ip.as_deref());
    let Some(ip) = ip.filter(|ip| !ip.is_empty()) else {
        let pod = full_name(&backend.pod.metadata);
        return Err(HookError::fail(format!("pod {pod} has no IP yet")));
    };
    address(ip, backend.port.port, backend.port.protocol)
}

/// The address of a service's node port on one node.
pub(crate) fn node_address(backend: &ServiceBackend) -> Result<String, HookError> {
    let BackendPort { port, protocol } = backend.port;
    let Some(node_port) = node_port(&backend.service, backend.port) else {
        let service = full_name(&backend.service.metadata);
        return Err(HookError::fail(format!(
            "service {service} has no node port for port {port}/{protocol}"
        )));
    };
    let Some(ip) = preferred(&backend.node_addresses) else {
        let node = &backend.node_name;
        return Err(HookError::fail(format!("node {node} has no address")));
    };
    address(ip, node_port, protocol)
}

/// The address of an endpoint of a service, which may be a domain name.
pub(crate) fn endpoint_address(backend: &EndpointBackend) -> Result<String, HookError> {
    if backend.address.is_empty() {
        let service = &backend.service;
        let (namespace, name) = (&service.namespace, &service.name);
        return Err(HookError::fail(format!(
            "the endpoint of service {namespace}/{name} has no address"
        )));
    }
    address(&backend.address, backend.port, backend.protocol)
}

fn address(ip: &str, port: i32, protocol: Protocol) -> Result<String, HookError> {
    match u16::try_from(port) {
        Ok(port @ 1..) => Ok(Json(TargetAddress { ip, port, protocol }).to_string()),
        _ => Err(HookError::fail(format!(
            "port {port}: not a number from 1 to 65535"
        ))),
    }
}

/// The node port of a service's port, whose number and protocol have to match (b112).
fn node_port(service: &Service, backend_port: BackendPort) -> Option<i32> {
    let ports = service.spec.as_ref()?.ports.as_ref()?;
    ports
        .iter()
        .filter(|port| port.port == backend_port.port)
        .filter(|port| {
            let protocol = port.protocol.as_deref().unwrap_or_default();
            protocol.parse() == Ok(backend_port.protocol)
        })
        .find_map(|port| port.node_port.filter(|number| *number != 0))
}

/// The address by which a load balancer in the same network reaches a node.
fn preferred(addresses: &[NodeAddress]) -> Option<&str> {
    let rank = |kind: &str| match kind {
        "InternalIP" => 0,
        "ExternalIP" => 1,
        _ => 2,
    };
    addresses
        .iter()
        .filter(|address| !address.address.is_empty())
        .min_by_key(|address| rank(&address.type_))
        .map(|address| address.address.as_str())
}

fn full_name(metadata: &ObjectMeta) -> String {
    let namespace = metadata.namespace.as_deref().unwrap_or("default");
    format!(
        "{namespace}/{}",
        metadata.name.as_deref().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
