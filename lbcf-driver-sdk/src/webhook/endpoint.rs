//! An endpoint of a service as a backend.

use super::verdict::open_enum;
use super::{BackendPort, Protocol};
use serde::{Deserialize, Serialize};

/// The type of an endpoint's address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum AddressType {
    /// An IPv4 address, such as 192.0.2.1.
    #[default]
    IPv4,
    /// An IPv6 address, such as 2001:db8::1.
    IPv6,
    /// A fully qualified domain name, such as `db.example.com`.
    FQDN,
    /// A value that this edition of the specification does not define.
    Other(String),
}

open_enum!(AddressType: IPv4, IPv6, FQDN);

/// An endpoint of a service as a backend: an address in the service's EndpointSlices, and one port.
/// What the slices do not say is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndpointBackend {
    /// The address to register: an IP address or a domain name. Of several that an endpoint has, it is
    /// the first.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub address: String,
    /// The port at the address, 1 to 65535.
    #[serde(default, deserialize_with = "crate::wire::whole_number")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 65535))]
    pub port: i32,
    /// The protocol; absent means TCP.
    #[serde(default)]
    pub protocol: Protocol,
    /// The type of the address: `IPv4`, `IPv6` or `FQDN`.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub address_type: AddressType,
    /// The name of the node that the endpoint runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// The zone that the endpoint is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The host name, which tells endpoints apart in DNS. It is no identity: several may have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The zones whose clients are to use the endpoint, by its hints; empty for all.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub for_zones: Vec<String>,
    /// The protocol of the application, as the port of the service names it: `http`, `h2c` or a name
    /// with a prefix, such as `example.com/custom`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_protocol: Option<String>,
    /// True if it serves clients, terminating or not.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub serving: bool,
    /// True if it is going away.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub terminating: bool,
    /// The service and its port.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub service: EndpointService,
}

/// The service that an endpoint belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndpointService {
    /// The namespace of the service.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub namespace: String,
    /// The name of the service.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub name: String,
    /// The port of the service, which clients in the cluster use.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub port: BackendPort,
    /// The name of that port; empty if it has none.
    #[serde(default, deserialize_with = "crate::wire::null_as_default")]
    pub port_name: String,
}
