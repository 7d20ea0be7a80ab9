//! The four kinds of resources.

use crate::resources::Incidental;
use lbcf_driver_sdk::webhook::{Protocol, StringMap};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// Names a resource among those of its kind: `group/name`.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ResourceId {
    /// The resource group.
    pub group: String,
    /// The name in the group.
    pub name: String,
}

impl ResourceId {
    /// The resource `name` of `group`.
    #[must_use]
    pub fn new(group: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.name)
    }
}

impl From<ResourceId> for String {
    fn from(id: ResourceId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for ResourceId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.split_once('/') {
            Some((group, name)) if !group.is_empty() && !name.is_empty() => {
                Ok(Self::new(group, name))
            }
            _ => Err("not of the form group/name"),
        }
    }
}

/// A load balancer with the frontends of many services.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SharedLoadBalancer {
    /// Texts of its users.
    pub tags: StringMap,
    /// The addresses that it listens on, by name.
    pub frontends: BTreeMap<String, Frontend>,
    /// The backend pools, by name.
    pub pools: BTreeMap<String, Pool>,
    /// The load balancing rules, by name.
    pub rules: BTreeMap<String, LoadBalancingRule>,
    /// The health probes, by name.
    pub probes: BTreeMap<String, Probe>,
}

/// An address of a load balancer: a public IP, or one of a subnet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Frontend {
    /// The public IP, if clients in the internet reach it.
    pub public_ip: Option<ResourceId>,
    /// The subnet, if only clients in the network do.
    pub subnet: Option<String>,
    /// The IP address, which the cloud sets; empty until the frontend is provisioned.
    pub address: String,
    /// When it is provisioned, by the cloud's clock.
    #[serde(skip)]
    pub(super) ready_at: Incidental<Duration>,
}

/// The backends that a rule forwards to, by address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pool {
    /// The backends, by address.
    pub members: BTreeMap<String, Member>,
}

/// A backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// The parameters, as the driver gave them.
    pub parameters: StringMap,
    /// The `recordID` with which it was registered; none for one that a user added by hand.
    pub record_id: Option<String>,
}

/// Forwards one port of a frontend to a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadBalancingRule {
    /// The name of the frontend.
    pub frontend: String,
    /// The name of the pool.
    pub pool: String,
    /// The name of the probe, if backends are probed.
    pub probe: Option<String>,
    /// TCP or UDP.
    #[schemars(with = "String")]
    pub protocol: Protocol,
    /// The port of the frontend.
    pub port: u16,
    /// After how many minutes without a byte a connection of TCP ends.
    pub idle_timeout_minutes: u8,
}

/// Probes the backends of a rule by connecting to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Probe {
    /// Every so many seconds.
    pub interval_seconds: u8,
}

/// A public address, which exists without a load balancer, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct PublicIp {
    /// Texts of its users.
    pub tags: StringMap,
    /// The first label of its domain name, which is unique in the region.
    pub dns_label: Option<String>,
    /// The IP address, which the cloud sets.
    pub address: String,
}

/// Rules for what may enter the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SecurityGroup {
    /// The rules, by name. What none of them admits does not enter.
    pub rules: BTreeMap<String, SecurityRule>,
}

/// Admits packets from a source to addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecurityRule {
    /// Unique in the group, from 100 to 4096.
    pub priority: u16,
    /// A service tag such as `Internet`, or a range of addresses.
    pub source: String,
    /// The addresses; several make it an augmented rule.
    pub destinations: BTreeSet<String>,
    /// TCP or UDP.
    #[schemars(with = "String")]
    pub protocol: Protocol,
    /// The port.
    pub port: u16,
}

/// Machines that serve together. Load balancers belong to one by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvailabilitySet {
    /// The names of the machines.
    pub nodes: BTreeSet<String>,
}
