//! A port of a pod or service.

use lbcf_driver_sdk::webhook::Protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Selects a port by number and protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PortSelector {
    /// The port, 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<i32>,
    /// The port, as the earlier edition calls it; `port` wins where both are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_number: Option<i32>,
    /// TCP (the default) or UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

impl PortSelector {
    /// A selector in the present edition's form.
    #[must_use]
    pub fn new(port: i32, protocol: Protocol) -> Self {
        Self {
            port: Some(port),
            port_number: None,
            protocol: Some(protocol.as_str().to_owned()),
        }
    }

    /// The port's number; 0 where none is given.
    #[must_use]
    pub fn number(&self) -> i32 {
        match self.port {
            Some(port) if port > 0 => port,
            _ => self.port_number.unwrap_or(0),
        }
    }

    /// The protocol. Unknown ones are refused by admission; where that was off, they are TCP.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
            .as_deref()
            .and_then(|text| text.parse().ok())
            .unwrap_or_default()
    }
}
