//! Everything that the cloud holds, as a document for users, and for tests that compare. It is in
//! the order of the IDs, so equal clouds have equal documents.

use super::creation::CreationStage;
use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::model::{Forwarding, Listener, Model, TargetGroup};
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Everything that the cloud holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CloudState {
    /// All CLB instances, by ID.
    pub load_balancers: Vec<LoadBalancerState>,
}

/// The state of a CLB instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerState {
    /// The ID of the instance.
    pub id: String,
    /// The ID of the network.
    pub vpc: String,
    /// From where it can be reached.
    #[serde(rename = "type")]
    pub kind: LoadBalancerType,
    /// The current stage, while it is being created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creating: Option<CreationStage>,
    /// The client token of its creation; none for one that existed from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_token: Option<String>,
    /// The listeners, by ID.
    pub listeners: Vec<ListenerState>,
}

/// The state of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListenerState {
    /// The ID of the listener.
    pub id: String,
    /// The protocol of the listener.
    pub protocol: ListenerProtocol,
    /// The port of the listener.
    pub port: u16,
    /// The targets of a TCP or UDP listener.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub targets: Option<TargetGroupState>,
    /// The rules of an HTTP or HTTPS listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<RuleState>>,
}

/// The state of a forwarding rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetGroupState {
    /// The attributes, as the driver last set them.
    pub attributes: StringMap,
    /// The identity, if LBCF uses the endpoint.
    pub used_as: Vec<StringMap>,
    /// The targets, by address.
    pub targets: Vec<TargetState>,
}

/// The state of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetState {
    /// The address, as it was bound.
    pub addr: String,
    /// The weight, 0 to 100.
    pub weight: u8,
    /// The parameters, as the driver last set them.
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
                listeners: instance
                    .listeners
                    .iter()
                    .map(|(listener_id, listener)| listener_state(id, listener_id, listener))
                    .collect(),
            })
            .collect();
        Self { load_balancers }
    }
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
