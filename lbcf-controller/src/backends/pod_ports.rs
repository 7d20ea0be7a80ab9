//! The ports of pods that are backends, as records' names contain them.

use crate::api::{BackendOwner, PortSelector};
use crate::index::Owner;

/// The ports of an owner's pods without duplicates (b23).
pub(crate) fn ports(owner: &Owner, object: &dyn BackendOwner) -> Vec<(i32, String)> {
    let mut ports: Vec<(i32, String)> = Vec::new();
    for port in object.pod_ports() {
        let (number, protocol) = pod_port(owner, port);
        let is_known = |(known, other): &(i32, String)| {
            *known == number && other.eq_ignore_ascii_case(&protocol)
        };
        if number > 0 && !ports.iter().any(is_known) {
            ports.push((number, protocol));
        }
    }
    ports
}

/// A port as records' names contain it. Those of a Bind's records keep the protocol's case (b48).
pub(crate) fn pod_port(owner: &Owner, port: &PortSelector) -> (i32, String) {
    let protocol = match owner {
        Owner::Group(_) => port.protocol().as_str(),
        Owner::Bind(_) => port.protocol.as_deref().unwrap_or("TCP"),
    };
    (port.number(), protocol.to_owned())
}
