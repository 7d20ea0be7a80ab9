//! Everything that the cloud holds, as a document: for users, for tests that compare, and to be
//! [restored](super::restore). It is in the order of the IDs, so equal clouds have equal documents.

use super::azure::AzureState;
use super::creation::{CreationStage, CreationState};
use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Everything that the cloud holds. States are equal if they hold the same, whatever IDs come next.
#[derive(Debug, Clone, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudState {
    /// The version of the format.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub version: StateVersion,
    /// All CLB instances, by ID.
    #[serde(default)]
    pub load_balancers: Vec<LoadBalancerState>,
    /// The resources of a cloud with the profile `azure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub azure: Option<AzureState>,
    /// The numbers of the last IDs.
    #[serde(default)]
    pub last_ids: Ids,
}

impl PartialEq for CloudState {
    fn eq(&self, other: &Self) -> bool {
        self.load_balancers == other.load_balancers && self.azure == other.azure
    }
}

impl Eq for CloudState {}

/// The version of the format, 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct StateVersion;

impl From<StateVersion> for u64 {
    fn from(_: StateVersion) -> Self {
        1
    }
}

impl TryFrom<u64> for StateVersion {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        match version {
            1 => Ok(Self),
            _ => Err(format!("version {version}: this mock reads version 1")),
        }
    }
}

/// The numbers of the last IDs.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Ids {
    /// Of a CLB instance.
    pub load_balancers: u64,
    /// Of a listener.
    pub listeners: u64,
}

/// The state of a CLB instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadBalancerState {
    /// The ID of the instance.
    pub id: String,
    /// The ID of the network.
    #[serde(default = "default_vpc")]
    pub vpc: String,
    /// From where it can be reached.
    #[serde(default, rename = "type")]
    pub kind: LoadBalancerType,
    /// The current stage, while it is being created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creating: Option<CreationStage>,
    /// The client token of its creation; none for one that existed from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// The rest of its creation; none for one that existed from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation: Option<CreationState>,
    /// The listeners, by ID.
    #[serde(default)]
    pub listeners: Vec<ListenerState>,
}

/// The state of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", from = "GivenListener")]
#[schemars(!from)]
pub struct ListenerState {
    /// The ID of the listener.
    pub id: String,
    /// The protocol of the listener.
    pub protocol: ListenerProtocol,
    /// The port of the listener.
    pub port: u16,
    /// The targets of a TCP or UDP listener.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub targets: Option<TargetGroupState>,
    /// The rules of an HTTP or HTTPS listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<RuleState>>,
}

/// The state of a forwarding rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", from = "GivenRule")]
#[schemars(!from)]
pub struct RuleState {
    /// The domain of the requests; `*` is any.
    pub domain: String,
    /// The path of the requests.
    pub url: String,
    /// The targets of the rule.
    #[serde(flatten)]
    pub targets: TargetGroupState,
}

/// The targets of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetGroupState {
    /// The attributes, as the driver last set them.
    #[serde(default)]
    pub attributes: StringMap,
    /// The identity, if LBCF uses the endpoint. It follows from `usedBy`, and is not read.
    #[serde(default)]
    pub used_as: Vec<StringMap>,
    /// The client tokens that use the endpoint.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub used_by: BTreeSet<String>,
    /// Those that have released it, while others use it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub released_by: BTreeSet<String>,
    /// The targets, by address.
    #[serde(default)]
    pub targets: Vec<TargetState>,
}

/// The state of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TargetState {
    /// The address, as it was bound.
    pub addr: String,
    /// The weight, 0 to 100.
    #[serde(default = "default_weight")]
    pub weight: u8,
    /// The parameters, as the driver last set them.
    #[serde(default)]
    pub parameters: StringMap,
    /// The `recordID` of the `ensureBackend` that bound it; none if a user bound it by hand.
    #[serde(rename = "recordID", default, skip_serializing_if = "Option::is_none")]
    pub record_id: Option<String>,
}

impl CloudState {
    /// The targets of all listeners and rules.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Endpoint, &TargetGroupState)> {
        let load_balancers = self.load_balancers.iter();
        load_balancers.flat_map(LoadBalancerState::groups)
    }
}

impl LoadBalancerState {
    /// The targets of all listeners and rules.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Endpoint, &TargetGroupState)> {
        self.listeners.iter().flat_map(|listener| {
            listener.groups().map(|(rule, group)| {
                let endpoint = Endpoint::new(&self.id, &listener.id, rule.as_ref());
                (endpoint, group)
            })
        })
    }
}

impl ListenerState {
    /// The targets by rule; those of a listener without rules have none.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (Option<Rule>, &TargetGroupState)> {
        let direct = self.targets.iter().map(|group| (None, group));
        let rules = self.rules.iter().flatten().map(|it| {
            let rule = Rule::new(Some(&it.domain), Some(&it.url));
            (Some(rule), &it.targets)
        });
        direct.chain(rules)
    }
}

/// The network of instances that no driver has created.
pub(super) fn default_vpc() -> String {
    "vpc-default".to_owned()
}

const fn default_weight() -> u8 {
    100
}

// Serde cannot refuse unknown fields of types with flattened ones, so listeners and rules are read by way
// of these.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenListener {
    id: String,
    protocol: ListenerProtocol,
    port: u16,
    attributes: Option<StringMap>,
    used_as: Option<Vec<StringMap>>,
    used_by: Option<BTreeSet<String>>,
    released_by: Option<BTreeSet<String>>,
    targets: Option<Vec<TargetState>>,
    rules: Option<Vec<RuleState>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenRule {
    domain: String,
    url: String,
    #[serde(default)]
    attributes: StringMap,
    #[serde(default)]
    used_as: Vec<StringMap>,
    #[serde(default)]
    used_by: BTreeSet<String>,
    #[serde(default)]
    released_by: BTreeSet<String>,
    #[serde(default)]
    targets: Vec<TargetState>,
}

impl From<GivenListener> for ListenerState {
    fn from(given: GivenListener) -> Self {
        let group = TargetGroupState {
            attributes: given.attributes.unwrap_or_default(),
            used_as: given.used_as.unwrap_or_default(),
            used_by: given.used_by.unwrap_or_default(),
            released_by: given.released_by.unwrap_or_default(),
            targets: given.targets.unwrap_or_default(),
        };
        let has_rules = given.protocol.has_rules() && group == TargetGroupState::default();
        Self {
            id: given.id,
            protocol: given.protocol,
            port: given.port,
            targets: (!has_rules).then_some(group),
            rules: given.rules,
        }
    }
}

impl From<GivenRule> for RuleState {
    fn from(given: GivenRule) -> Self {
        Self {
            domain: given.domain,
            url: given.url,
            targets: TargetGroupState {
                attributes: given.attributes,
                used_as: given.used_as,
                used_by: given.used_by,
                released_by: given.released_by,
                targets: given.targets,
            },
        }
    }
}
