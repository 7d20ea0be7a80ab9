//! The fields of manifests and of responses, as types.
//!
//! On the wire they are maps of strings. The SDK decodes them into these types, and rejects a value
//! that does not fit before it calls the driver, with a message for the user: `lbSpec.lbListenerPort: "8o": not a number from 1 to 65535`.
//!
//! FILL-IN: the fields of your load balancer. Numbers, bools, enums, options, defaults and renamed
//! keys are declared as in serde. Then adapt `driver.rs`, `cloud.rs`, `tests/driver.rs`,
//! `deploy/example/` and `conformance.yaml`. The initial fields are those of LBCF's own examples, so
//! that `lbcf demo --driver-url` works with this driver as it is.

use lbcf_driver_sdk::webhook::{Protocol, StringMap};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// The spec of a load balancer: `spec.lbSpec` of a `LoadBalancer`. Immutable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)] // rejects misspelt fields
pub struct LbSpec {
    /// The ID of its network.
    #[serde(rename = "lbVpcID")]
    pub vpc_id: String,

    /// The listener's port: 1 to 65535.
    #[serde(rename = "lbListenerPort")]
    pub port: NonZeroU16,

    /// The listener's protocol: TCP, which is the default, or UDP.
    #[serde(rename = "lbListenerProtocol", default)]
    pub protocol: Protocol,
}

/// The identity of a load balancer: everything that is needed to find it, and nothing that changes.
/// This driver returns it, and LBCF stores it in `status.lbInfo` and sends it in later calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LbInfo {
    /// The ID in the cloud.
    #[serde(rename = "lbID")]
    pub lb_id: String,

    /// The protocol of the listener, which is part of its identity; TCP by default.
    #[serde(default)]
    pub protocol: Protocol,
}

/// The mutable settings of a load balancer: `spec.attributes` of a `LoadBalancer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// The billing model; by default the traffic is billed.
    #[serde(rename = "chargeType", default)]
    pub charge_type: ChargeType,

    /// The maximum outbound bandwidth in Mbit/s; unlimited by default.
    #[serde(rename = "max-bandwidth-out")]
    pub max_bandwidth_out: Option<u32>,

    /// All other keys. Without this field they are ignored; with `deny_unknown_fields` as above they
    /// are rejected.
    #[serde(flatten)]
    pub others: StringMap,
}

/// The billing model of a load balancer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChargeType {
    /// Outbound traffic is billed by the hour.
    #[default]
    TrafficPostpaidByHour,
    /// The maximum bandwidth is billed by the hour.
    BandwidthPostpaidByHour,
}

/// The parameters of a backend: `spec.parameters` of a `BackendGroup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The share of the traffic relative to other backends: 0 to 255, 10 by default.
    #[serde(default = "default_weight")]
    pub weight: u8,
}

const fn default_weight() -> u8 {
    10
}
