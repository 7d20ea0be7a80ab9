//! Everything that the cloud holds, as a document: for people who look, and for tests that
//! compare. The order is that of the names, so equal clouds give equal documents.

use super::creation::Stage;
use super::endpoint::{ListenerProtocol, LoadBalancerType};
use super::model::{Forwarding, Model, TargetGroup, Use};
use super::twice::address_of;
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The whole cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudState {
    /// Its CLB instances.
    pub load_balancers: Vec<LoadBalancerState>,
}

/// A CLB instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerState {
    /// Its name.
    pub id: String,
    /// The network that it stands in.
    pub vpc: String,
    /// Who can reach it.
    #[serde(rename = "type")]
    pub kind: LoadBalancerType,
    /// What is being made of it, while it is being created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creating: Option<Stage>,
    /// The token that it was created with; nothing for one that was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// Its listeners.
    pub listeners: Vec<ListenerState>,
}

/// A listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListenerState {
    /// Its name.
    pub id: String,
    /// What it speaks.
    pub protocol: ListenerProtocol,
    /// Where it listens.
    pub port: u16,
    /// The targets of a TCP or UDP listener.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub targets: Option<TargetGroupState>,
    /// The rules of an HTTP or HTTPS listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<RuleState>>,
}

/// A forward rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleState {
    /// The domain; `*` is any.
    pub domain: String,
    /// The path.
    pub url: String,
    /// Its targets.
    #[serde(flatten)]
    pub targets: TargetGroupState,
}

/// Targets and what belongs to them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetGroupState {
    /// The attributes, as given.
    pub attributes: StringMap,
    /// The identities under which LBCF uses it.
    pub used_as: Vec<StringMap>,
    /// The targets.
    pub targets: Vec<TargetState>,
}

/// A target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetState {
    /// Its address.
    pub addr: String,
    /// Its weight.
    pub weight: u8,
    /// The parameters that it was bound with, as given.
    pub parameters: StringMap,
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
                listeners: instance
                    .listeners
                    .iter()
                    .map(|(id, listener)| {
                        let (targets, rules) = match &listener.forwarding {
                            Forwarding::Direct(group) => (Some(group.into()), None),
                            Forwarding::ByRule(rules) => {
                                let state = |(rule, group): (&super::Rule, _)| RuleState {
                                    domain: rule.domain.clone(),
                                    url: rule.url.clone(),
                                    targets: TargetGroupState::from(group),
                                };
                                (None, Some(rules.iter().map(state).collect()))
                            }
                        };
                        ListenerState {
                            id: id.clone(),
                            protocol: listener.protocol,
                            port: listener.port,
                            targets,
                            rules,
                        }
                    })
                    .collect(),
            })
            .collect();
        Self { load_balancers }
    }
}

impl From<&TargetGroup> for TargetGroupState {
    fn from(group: &TargetGroup) -> Self {
        Self {
            attributes: group.attributes.clone(),
            used_as: group
                .known_as
                .iter()
                .filter(|(_, usage)| **usage == Use::Current)
                .map(|(lb_info, _)| lb_info.clone())
                .collect(),
            targets: group
                .targets
                .iter()
                .map(|(addr, target)| TargetState {
                    addr: address_of(addr).to_owned(),
                    weight: target.weight,
                    parameters: target.parameters.clone(),
                })
                .collect(),
        }
    }
}
