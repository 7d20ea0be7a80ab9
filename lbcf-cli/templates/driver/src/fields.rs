//! What users write into their manifests, and what this driver answers, as types.
//!
//! On the wire all of it is maps of strings. The SDK reads them into these types, and a value that
//! does not fit is refused before any function of the driver is called, with a message for the
//! user: `lbSpec.lbListenerPort: "8o": not a number from 1 to 65535`.
//!
//! FILL-IN: the fields of your load balancer. Numbers, bools, enums, options, defaults and renamed
//! keys are written as serde writes them. Then change what names them: `driver.rs`, `cloud.rs`,
//! `tests/driver.rs`, `deploy/example/` and `conformance.yaml`. Until then the fields are those of
//! LBCF's own examples, so that `lbcf demo --driver-url` works with this driver as it is.

use lbcf_driver_sdk::webhook::{Protocol, StringMap};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// What a load balancer is made from: `spec.lbSpec` of a `LoadBalancer`. It never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)] // what is misspelt is refused
pub struct LbSpec {
    /// The network that it is in.
    #[serde(rename = "lbVpcID")]
    pub vpc_id: String,

    /// The port that it listens on: 1 to 65535.
    #[serde(rename = "lbListenerPort")]
    pub port: NonZeroU16,

    /// What it listens for: TCP, which is the default, or UDP.
    #[serde(rename = "lbListenerProtocol", default)]
    pub protocol: Protocol,
}

/// What a load balancer is known by once it is there. This driver gives it, LBCF keeps it in
/// `status.lbInfo` and sends it along from then on: whatever is needed to find the load balancer
/// again, and nothing that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LbInfo {
    /// Its ID in the cloud.
    #[serde(rename = "lbID")]
    pub lb_id: String,

    /// What it listens for.
    #[serde(default)]
    pub protocol: Protocol,
}

/// Settings of a load balancer that may change: `spec.attributes` of a `LoadBalancer`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// How it is paid for.
    #[serde(rename = "chargeType", default)]
    pub charge_type: ChargeType,

    /// The most that it sends, in Mbit/s; without it there is no limit.
    #[serde(rename = "max-bandwidth-out")]
    pub max_bandwidth_out: Option<u32>,

    /// Whatever else users write. Without this they may write anything too, and it is ignored;
    /// with `deny_unknown_fields` as above it is refused.
    #[serde(flatten)]
    pub others: StringMap,
}

/// How a load balancer is paid for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChargeType {
    /// By what it sends.
    #[default]
    TrafficPostpaidByHour,
    /// By what it may send.
    BandwidthPostpaidByHour,
}

/// What a backend is registered with: `spec.parameters` of a `BackendGroup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Its share of the traffic, compared with the others': 0 to 255, 10 by default.
    #[serde(default = "default_weight")]
    pub weight: u8,
}

const fn default_weight() -> u8 {
    10
}
