//! The backend of a request, and where a load balancer in the cluster's network reaches it.

#[cfg(test)]
mod tests;

use crate::HookError;
use crate::webhook::{
    BackendPort, EndpointBackend, GenerateBackendAddr, KubernetesObject, NodeAddress, PodBackend,
    Protocol, ServiceBackend,
};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The time after which a pod should have an address: it has a node when its backend is generated.
const SOON: Duration = Duration::from_secs(2);

/// Where a load balancer in the cluster's network reaches a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Target<'a> {
    /// An IP address; of an endpoint also a domain name.
    pub host: &'a str,
    /// The port of the pod, node or endpoint, 1 to 65535.
    pub port: u16,
    /// TCP where none was given.
    pub protocol: Protocol,
}

impl Target<'_> {
    /// The host and port, for load balancers that only know IP addresses.
    ///
    /// # Errors
    /// A failure that names the host, if it is a domain name.
    pub fn socket_addr(&self) -> Result<SocketAddr, HookError> {
        let host = self.host;
        let ip = host.parse().map_err(|_| {
            HookError::fail(format!(
                "{host}: not an IP address, which this load balancer needs"
            ))
        })?;
        Ok(SocketAddr::new(ip, self.port))
    }
}

/// The object to register.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backend<'a> {
    /// One port of a pod.
    Pod(&'a PodBackend),
    /// The node port of a service on one node.
    Service(&'a ServiceBackend),
    /// An endpoint of a service that is no pod, such as an address outside of the cluster.
    Endpoint(&'a EndpointBackend),
}

impl<I, A, P> GenerateBackendAddr<I, A, P> {
    /// The object to register. A pod stays a pod where it is an endpoint as well, so that drivers need not
    /// know of endpoints.
    ///
    /// # Errors
    /// A failure, unless there is exactly one. The router refuses such a request before it calls the driver.
    pub fn backend(&self) -> Result<Backend<'_>, HookError> {
        let problem = match (
            &self.pod_backend,
            &self.service_backend,
            &self.endpoint_backend,
        ) {
            (Some(pod), None, _) => return Ok(Backend::Pod(pod)),
            (None, Some(service), None) => return Ok(Backend::Service(service)),
            (None, None, Some(endpoint)) => return Ok(Backend::Endpoint(endpoint)),
            (None, None, None) => {
                "the request names no backend: podBackend, serviceBackend or endpointBackend is needed"
            }
            (None, Some(_), Some(_)) => {
                "the request names two backends: serviceBackend and endpointBackend exclude each other"
            }
            (Some(_), Some(_), _) => {
                "the request names two backends: podBackend and serviceBackend exclude each other"
            }
        };
        Err(HookError::fail(problem))
    }

    /// Where a load balancer in the cluster's network reaches the backend: the pod, the service's port
    /// on the node, or the endpoint. It depends on the request alone, so the same backend always has
    /// the same target.
    ///
    /// ```
    /// use lbcf_driver_sdk::request::GenerateBackendAddr;
    /// use lbcf_driver_sdk::{Driver, HookError};
    /// use std::net::SocketAddr;
    ///
    /// fn address<D: Driver>(request: &GenerateBackendAddr<D>) -> Result<SocketAddr, HookError> {
    ///     request.target()?.socket_addr()
    /// }
    /// ```
    ///
    /// # Errors
    /// A pod that has no address yet is `Running`. All else fails with the object and what it lacks: a
    /// service without this node port, a node without an address, a port out of range.
    pub fn target(&self) -> Result<Target<'_>, HookError> {
        // An endpoint has the address of its family, a pod's object that of its first one.
        match (&self.endpoint_backend, self.backend()?) {
            (Some(endpoint), _) | (None, Backend::Endpoint(endpoint)) => of_endpoint(endpoint),
            (None, Backend::Pod(backend)) => of_pod(backend),
            (None, Backend::Service(backend)) => of_node(backend),
        }
    }
}

fn of_pod(backend: &PodBackend) -> Result<Target<'_>, HookError> {
    let Some(ip) = backend.pod.ips.first().filter(|ip| !ip.is_empty()) else {
        let message = format!("pod {} has no IP yet", FullName(&backend.pod));
        return Err(HookError::running(message).retry_after(SOON));
    };
    target(ip, backend.port.port, backend.port.protocol)
}

fn of_node(backend: &ServiceBackend) -> Result<Target<'_>, HookError> {
    let BackendPort { port, protocol } = backend.port;
    let Some(node_port) = node_port(&backend.service, backend.port) else {
        let service = FullName(&backend.service);
        return Err(HookError::fail(format!(
            "service {service} has no node port for port {port}/{protocol}"
        )));
    };
    let Some(ip) = preferred(&backend.node_addresses) else {
        let node = &backend.node_name;
        return Err(HookError::fail(format!("node {node} has no address")));
    };
    target(ip, node_port, protocol)
}

fn of_endpoint(backend: &EndpointBackend) -> Result<Target<'_>, HookError> {
    if backend.address.is_empty() {
        let service = &backend.service;
        let (namespace, name) = (&service.namespace, &service.name);
        return Err(HookError::fail(format!(
            "the endpoint of service {namespace}/{name} has no address"
        )));
    }
    target(&backend.address, backend.port, backend.protocol)
}

fn target(host: &str, port: i32, protocol: Protocol) -> Result<Target<'_>, HookError> {
    match u16::try_from(port) {
        Ok(port @ 1..) => Ok(Target {
            host,
            port,
            protocol,
        }),
        _ => Err(HookError::fail(format!(
            "port {port}: not a number from 1 to 65535"
        ))),
    }
}

/// The node port of a service's port, whose number and protocol have to match.
fn node_port(service: &KubernetesObject, backend_port: BackendPort) -> Option<i32> {
    let mut ports = service.ports.iter().filter(|port| {
        port.port == backend_port.port && port.protocol.parse() == Ok(backend_port.protocol)
    });
    ports.find_map(|port| Some(port.node_port).filter(|number| *number != 0))
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
        .min_by_key(|address| rank(&address.kind))
        .map(|address| address.address.as_str())
}

struct FullName<'a>(&'a KubernetesObject);

impl fmt::Display for FullName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = match self.0.namespace.as_str() {
            "" => "default",
            namespace => namespace,
        };
        write!(f, "{namespace}/{}", self.0.name)
    }
}
