//! Under which address the cloud knows a backend. The text is made from nothing but what is seen
//! in the request, so the same backend has the same address each time, whoever asks (GEN-03).

use k8s_openapi::api::core::v1::{NodeAddress, Pod, Service};
use lbcf_driver_sdk::webhook::{BackendPort, PodBackend, Protocol, ServiceBackend};
use serde::Serialize;

/// The address, written as JSON in this order of fields.
#[derive(Debug, Serialize)]
struct Address<'a> {
    ip: &'a str,
    port: u16,
    protocol: Protocol,
}

/// Why a backend has no address.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAddress {
    #[error("the request names no backend: podBackend or serviceBackend is needed")]
    NoBackend,
    #[error("the request names two backends: podBackend and serviceBackend exclude each other")]
    TwoBackends,
    #[error("pod {0} has no IP yet")]
    PodWithoutIp(String),
    #[error("port {0}: not a port from 1 to 65535")]
    Port(i32),
    #[error("service {service} has no node port for port {port}/{protocol}")]
    NoNodePort {
        service: String,
        port: i32,
        protocol: Protocol,
    },
    #[error("node {0} has no address")]
    NodeWithoutAddress(String),
    #[error("the address cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The address of the one backend that is given.
pub(super) fn address_of(
    pod: Option<&PodBackend>,
    service: Option<&ServiceBackend>,
) -> Result<String, NoAddress> {
    let address = match (pod, service) {
        (Some(backend), None) => pod_address(&backend.pod, backend.port)?,
        (None, Some(backend)) => node_address(backend)?,
        (None, None) => return Err(NoAddress::NoBackend),
        (Some(_), Some(_)) => return Err(NoAddress::TwoBackends),
    };
    Ok(serde_json::to_string(&address)?)
}

fn pod_address(pod: &Pod, port: BackendPort) -> Result<Address<'_>, NoAddress> {
    let ip = pod
        .status
        .as_ref()
        .and_then(|status| status.pod_ip.as_deref())
        .filter(|ip| !ip.is_empty())
        .ok_or_else(|| NoAddress::PodWithoutIp(full_name(&pod.metadata)))?;
    Ok(Address {
        ip,
        port: port_number(port.port)?,
        protocol: port.protocol,
    })
}

fn node_address(backend: &ServiceBackend) -> Result<Address<'_>, NoAddress> {
    let port = node_port(&backend.service, backend.port).ok_or_else(|| NoAddress::NoNodePort {
        service: full_name(&backend.service.metadata),
        port: backend.port.port,
        protocol: backend.port.protocol,
    })?;
    let ip = preferred(&backend.node_addresses)
        .ok_or_else(|| NoAddress::NodeWithoutAddress(backend.node_name.clone()))?;
    Ok(Address {
        ip,
        port: port_number(port)?,
        protocol: backend.port.protocol,
    })
}

/// The node port that belongs to a service's port: number and protocol have to match (b112).
fn node_port(service: &Service, wanted: BackendPort) -> Option<i32> {
    let ports = service.spec.as_ref()?.ports.as_ref()?;
    ports
        .iter()
        .filter(|port| port.port == wanted.port)
        .filter(|port| {
            let protocol = port.protocol.as_deref().unwrap_or_default();
            protocol.parse() == Ok(wanted.protocol)
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

fn port_number(port: i32) -> Result<u16, NoAddress> {
    match u16::try_from(port) {
        Ok(number @ 1..) => Ok(number),
        _ => Err(NoAddress::Port(port)),
    }
}

fn full_name(metadata: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> String {
    format!(
        "{}/{}",
        metadata.namespace.as_deref().unwrap_or("default"),
        metadata.name.as_deref().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
