//! The fields that users write, as types: a value that does not fit is refused by the validations
//! with the field, the value and what is allowed, before any other code sees it.

use lbcf_driver_sdk::fields::Number;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;

/// `spec.lbSpec` of a LoadBalancer: where HAProxy listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LbSpec {
    /// A local address of HAProxy's machine; all IPv4 addresses by default.
    #[serde(default = "any_address")]
    pub address: IpAddr,
    pub port: NonZeroU16,
    #[serde(default)]
    pub mode: Mode,
}

const fn any_address() -> IpAddr {
    IpAddr::V4(Ipv4Addr::UNSPECIFIED)
}

/// The level at which HAProxy understands the traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Connections are balanced.
    #[default]
    Tcp,
    /// Requests are balanced, also those of one connection.
    Http,
}

/// `lbInfo`: the identity of a load balancer. The owner makes sure that a late call for a deleted load
/// balancer does not change its successor at the same address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LbInfo {
    pub listener: SocketAddr,
    pub owner: String,
}

/// `spec.attributes` of a LoadBalancer. Changing them reloads HAProxy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Attributes {
    pub balance: Balance,
    pub health_check: HealthCheck,
    /// The path that an HTTP check requests, `/` by default.
    #[serde(
        deserialize_with = "check_path",
        skip_serializing_if = "Option::is_none"
    )]
    pub health_check_path: Option<String>,
    pub health_check_millis: Number<100, 3_600_000, 2_000>,
    /// Seconds without data after which a connection is closed.
    pub idle_seconds: Number<1, 86_400, 60>,
}

/// The algorithms of HAProxy that servers can be added to while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Balance {
    #[default]
    Roundrobin,
    Leastconn,
    Random,
    Source,
}

/// The check by which HAProxy finds out whether a server works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthCheck {
    /// Not at all: readiness in the cluster decides.
    None,
    #[default]
    Tcp,
    /// By a GET request, whose response has to be 2xx or 3xx.
    Http,
}

/// Reads a path for HAProxy's configuration, where spaces, quotes, `#` and `\` would begin something else.
fn check_path<'de, D: Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    let path = String::deserialize(field)?;
    let allowed = |it: char| it.is_ascii_alphanumeric() || "/-._~%?=&+:,".contains(it);
    if path.starts_with('/') && path.len() <= 200 && path.chars().all(allowed) {
        return Ok(Some(path));
    }
    Err(D::Error::custom(
        "not a path that begins with /, of at most 200 letters, digits and any of / - . _ ~ % ? = & + : ,",
    ))
}

/// `spec.parameters` of a BackendGroup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Parameters {
    /// A server's share of the traffic; 0 sends it nothing new.
    pub weight: Number<0, 256, 100>,
    /// The time that open sessions may go on after a server is deregistered.
    pub drain_seconds: Number<0, 86_400, 30>,
}
