//! Ports of backends, and their protocols.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The protocol of a port: written in capitals, read in any letter case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "UPPERCASE"))]
pub enum Protocol {
    /// The Transmission Control Protocol, which is the default.
    #[default]
    Tcp,
    /// The User Datagram Protocol.
    Udp,
    /// SCTP, for services and their endpoints only.
    Sctp,
}

impl Protocol {
    /// The name in capitals, as on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Sctp => "SCTP",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not one of TCP, UDP and SCTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?}: not a protocol (TCP, UDP, SCTP)")]
pub struct UnknownProtocol(String);

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Tcp, Self::Udp, Self::Sctp]
            .into_iter()
            .find(|protocol| protocol.as_str().eq_ignore_ascii_case(text))
            .or_else(|| text.is_empty().then_some(Self::Tcp))
            .ok_or_else(|| UnknownProtocol(text.to_owned()))
    }
}

impl Serialize for Protocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Protocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<String>::deserialize(deserializer)?
            .unwrap_or_default()
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A port of a backend. The number is written twice, as `port` and, for drivers of the earlier
/// edition, as `portNumber`; either is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PortOnTheWire", into = "PortOnTheWire")]
pub struct BackendPort {
    /// The number, 1 to 65535 from a correct controller.
    pub port: i32,
    /// The protocol; TCP where none was given.
    pub protocol: Protocol,
}

/// A port of a backend.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
struct PortOnTheWire {
    /// The number, 1 to 65535. 0 is what controllers of the earlier edition write if only `portNumber` is set.
    #[serde(default, deserialize_with = "crate::wire::whole_number")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 65535))]
    port: i32,
    /// The number again, for drivers of the earlier edition.
    #[serde(default, deserialize_with = "crate::wire::whole_number")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 65535))]
    port_number: i32,
    /// The protocol; absent means TCP.
    #[serde(default)]
    protocol: Protocol,
}

impl From<PortOnTheWire> for BackendPort {
    fn from(wire: PortOnTheWire) -> Self {
        // `port` takes precedence.
        let port = if wire.port > 0 {
            wire.port
        } else {
            wire.port_number
        };
        Self {
            port,
            protocol: wire.protocol,
        }
    }
}

impl From<BackendPort> for PortOnTheWire {
    fn from(port: BackendPort) -> Self {
        Self {
            port: port.port,
            port_number: port.port,
            protocol: port.protocol,
        }
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for BackendPort {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        PortOnTheWire::schema()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for BackendPort {
    fn schemas(
        schemas: &mut Vec<(
            String,
            utoipa::openapi::RefOr<utoipa::openapi::schema::Schema>,
        )>,
    ) {
        PortOnTheWire::schemas(schemas);
    }
}
