//! A port of a pod or a Service.

use lbcf_driver_sdk::webhook::{BackendPort, Protocol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Identifies a port by number and protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PortSelector {
    /// Port number, 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// Port number, kept for older manifests. Ignored where `port` is set; use that instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_number: Option<i32>,
    /// `TCP` (the default) or `UDP`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

impl PortSelector {
    /// A selector with the current fields only.
    #[must_use]
    pub fn new(port: i32, protocol: Protocol) -> Self {
        Self {
            port: Some(port),
            port_number: None,
            protocol: Some(protocol.as_str().to_owned()),
        }
    }

    /// The port number; 0 where none is set.
    #[must_use]
    pub fn number(&self) -> i32 {
        match self.port {
            Some(port) if port > 0 => port,
            _ => self.port_number.unwrap_or(0),
        }
    }

    pub(crate) fn to_wire(&self) -> BackendPort {
        BackendPort {
            port: self.number(),
            protocol: self.protocol(),
        }
    }

    /// The protocol; TCP where none is set or where the value, which admission refuses, is unknown.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
            .as_deref()
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }
}

/// Identifies a port of a Service, by number and protocol or by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServicePortSelector {
    /// Name of the port. Neither a number nor a protocol is set beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Port number, 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// Port number, kept for older manifests. Ignored where `port` is set; use that instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_number: Option<i32>,
    /// `TCP` (the default), `UDP` or `SCTP`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

impl ServicePortSelector {
    /// A selector of a port by its number, with the current fields only.
    #[must_use]
    pub fn new(port: i32, protocol: Protocol) -> Self {
        let PortSelector { port, protocol, .. } = PortSelector::new(port, protocol);
        Self {
            port,
            protocol,
            ..Self::default()
        }
    }

    /// A selector of a port by its name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..Self::default()
        }
    }

    /// The name, if the port is selected by it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().filter(|name| !name.is_empty())
    }

    /// The number and protocol, which count only without a name.
    #[must_use]
    pub fn numbered(&self) -> PortSelector {
        PortSelector {
            port: self.port,
            port_number: self.port_number,
            protocol: self.protocol.clone(),
        }
    }
}

impl fmt::Display for ServicePortSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbered = self.numbered();
        match self.name() {
            Some(name) => write!(f, "{name:?}"),
            None => write!(f, "{}/{}", numbered.number(), numbered.protocol()),
        }
    }
}
