//! The address of a backend: that of the pod, of the node, or of the endpoint.

use crate::HaproxyDriver;
use lbcf_driver_sdk::HookError;
use lbcf_driver_sdk::outcome::OrOutcome;
use lbcf_driver_sdk::request::{Backend, GenerateBackendAddr};
use std::net::{IpAddr, SocketAddr};

pub(crate) fn backend_addr(
    request: &GenerateBackendAddr<HaproxyDriver>,
) -> Result<SocketAddr, HookError> {
    if let Some(endpoint) = &request.endpoint {
        return address(&endpoint.address, endpoint.port);
    }
    match &request.backend {
        Backend::Pod(backend) => {
            let status = backend.pod.status.as_ref();
            let ip = status.and_then(|status| status.pod_ip.as_deref());
            address(ip.or_fail("the pod has no address yet")?, backend.port.port)
        }
        Backend::Service(backend) => {
            let mut addresses = backend.node_addresses.iter();
            let internal = addresses.find(|address| address.type_ == "InternalIP");
            let node = &backend.node_name;
            let ip = internal.or_fail(format!("node {node} has no InternalIP"))?;
            let wanted = (backend.port.port, backend.port.protocol.as_str());
            let spec = backend.service.spec.as_ref();
            let mut ports = spec
                .and_then(|spec| spec.ports.as_ref())
                .into_iter()
                .flatten();
            let port = ports
                .find(|port| (port.port, port.protocol.as_deref().unwrap_or("TCP")) == wanted)
                .and_then(|port| port.node_port);
            address(
                &ip.address,
                port.or_fail("the service has no such node port")?,
            )
        }
        Backend::Endpoint(backend) => address(&backend.address, backend.port),
    }
}

fn address(ip: &str, port: i32) -> Result<SocketAddr, HookError> {
    let ip: IpAddr = ip.parse().or_fail(format!("{ip:?}: not an IP address"))?;
    let port = u16::try_from(port).ok().filter(|port| *port != 0);
    Ok(SocketAddr::new(
        ip,
        port.or_fail("a port is a number from 1 to 65535")?,
    ))
}
