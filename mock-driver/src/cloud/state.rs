//! Everything that the cloud holds, as a document: for users, for tests that compare, and to be
//! [restored](super::restore). It is in the order of the IDs, so equal clouds have equal documents.

mod given;

use super::creation::CreationStage;
use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::ids::Ids;
use super::model::{DEFAULT_VPC, Forwarding, Listener, Model, TargetGroup};
use crate::azure::AzureState;
use given::{GivenListener, GivenRule};
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

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
        let azure = |state: &Self| state.azure.as_ref().map(AzureState::contents);
        self.load_balancers == other.load_balancers && azure(self) == azure(other)
    }
}

impl Eq for CloudState {}

/// The version of the format, 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct StateVersion;

/// A time in milliseconds that passes by itself, so all of them count as equal.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Elapsed(pub u64);

impl PartialEq for Elapsed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Elapsed {}

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

/// How an instance was created, beside what its listeners show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreationState {
    /// The protocol of the listener.
    pub protocol: ListenerProtocol,
    /// The port of the listener.
    pub port: u16,
    /// The domain of the rule of an HTTP or HTTPS listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The path of that rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The attributes that the load balancer gets.
    #[serde(default)]
    pub attributes: StringMap,
    /// The ID of the listener, once it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener: Option<String>,
    /// Whether it is complete.
    #[serde(default)]
    pub complete: bool,
    /// Whether a call has returned the result.
    #[serde(default)]
    pub returned: bool,
    /// How long each stage takes, in milliseconds, if it is a matter of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage_ms: Option<u64>,
    /// How many calls it takes, if they count; without either it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<u32>,
    /// How many calls there were.
    #[serde(default)]
    pub polled: u32,
    /// How long ago it began, in milliseconds; only while it runs.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub elapsed_ms: Elapsed,
    /// Whether it was released by hand.
    #[serde(default)]
    pub released: bool,
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
    pub(super) fn of(model: &Model, now: Duration) -> Self {
        let load_balancers = model
            .load_balancers
            .iter()
            .map(|(id, instance)| LoadBalancerState {
                id: id.clone(),
                vpc: instance.vpc.clone(),
                kind: instance.kind,
                creating: instance
                    .being_created()
                    .and_then(|origin| Some(origin.running(now)?.0)),
                client_token: instance.origin.as_ref().map(|origin| origin.token.clone()),
                creation: instance.origin.as_ref().map(|origin| origin.state(now)),
                listeners: instance
                    .listeners
                    .iter()
                    .map(|(listener_id, listener)| listener_state(id, listener_id, listener))
                    .collect(),
            })
            .collect();
        Self {
            version: StateVersion,
            load_balancers,
            azure: model.azure.clone(),
            last_ids: model.ids,
        }
    }
}

fn default_vpc() -> String {
    DEFAULT_VPC.to_owned()
}

const fn default_weight() -> u8 {
    100
}

fn listener_state(load_balancer: &str, id: &str, listener: &Listener) -> ListenerState {
    let endpoint = |rule: Option<&Rule>| Endpoint::new(load_balancer, id, rule);
    let (targets, rules) = match &listener.forwarding {
        Forwarding::Direct(group) => (Some(group_state(&endpoint(None), group)), None),
        Forwarding::ByRule(rules) => {
            let rules = rules.iter().map(|(rule, group)| RuleState {
                domain: rule.domain.clone(),
                url: rule.url.clone(),
                targets: group_state(&endpoint(Some(rule)), group),
            });
            (None, Some(rules.collect()))
        }
    };
    ListenerState {
        id: id.to_owned(),
        protocol: listener.protocol,
        port: listener.port,
        targets,
        rules,
    }
}

fn group_state(endpoint: &Endpoint, group: &TargetGroup) -> TargetGroupState {
    TargetGroupState {
        attributes: group.attributes.clone(),
        used_as: Vec::from_iter(group.is_in_use().then(|| endpoint.lb_info())),
        used_by: group.used_by.clone(),
        released_by: group.released_by.clone(),
        targets: group
            .targets
            .iter()
            .map(|(addr, target)| TargetState {
                addr: addr.clone(),
                weight: target.weight,
                parameters: target.parameters.clone(),
                record_id: target.record_id.clone(),
            })
            .collect(),
    }
}
