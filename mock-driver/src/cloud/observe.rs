//! The cloud as LBCF sees it: load balancers by the identity that the controller holds, and what
//! is registered to each. From it a test reads whether anything was lost or left behind.
//!
//! Listed is what LBCF uses, what it is having made, and everything that has targets. An instance
//! that was there before and that nobody uses is not listed: a cloud that LBCF has left as it
//! found it is empty here.

use super::endpoint::{Endpoint, Rule};
use super::model::{Forwarding, Model, TargetGroup};
use super::twice::address_of;
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};

/// What LBCF has in the cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// The load balancers.
    pub load_balancers: Vec<ObservedLoadBalancer>,
}

/// A load balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedLoadBalancer {
    /// Its identity, exactly as `createLoadBalancer` gave it to the controller. One that is being
    /// created has no more than `lbID`.
    pub lb_info: StringMap,
    /// Its attributes.
    pub attributes: StringMap,
    /// What is registered to it, by whomever.
    pub backends: Vec<ObservedBackend>,
}

/// A backend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedBackend {
    /// Its address.
    pub addr: String,
    /// Its parameters, as given.
    pub parameters: StringMap,
}

impl Observation {
    pub(super) fn of(model: &Model) -> Self {
        let mut load_balancers = Vec::new();
        for (id, instance) in &model.load_balancers {
            if let Some(origin) = instance.being_created() {
                load_balancers.push(ObservedLoadBalancer {
                    lb_info: StringMap::from([("lbID".to_owned(), id.clone())]),
                    attributes: origin.attributes.clone(),
                    backends: Vec::new(),
                });
                continue;
            }
            for (listener_id, listener) in &instance.listeners {
                let endpoint = |rule: Option<&Rule>| Endpoint::new(id, listener_id, rule);
                match &listener.forwarding {
                    Forwarding::Direct(group) => {
                        load_balancers.extend(observe_group(&endpoint(None), group));
                    }
                    Forwarding::ByRule(rules) => {
                        for (rule, group) in rules {
                            load_balancers.extend(observe_group(&endpoint(Some(rule)), group));
                        }
                    }
                }
            }
        }
        Self { load_balancers }
    }

    /// The load balancer with this identity.
    #[must_use]
    pub fn load_balancer(&self, lb_info: &StringMap) -> Option<&ObservedLoadBalancer> {
        self.load_balancers
            .iter()
            .find(|load_balancer| load_balancer.lb_info == *lb_info)
    }
}

/// One entry for each identity; one in the cloud's own spelling for targets that nobody knows.
fn observe_group(endpoint: &Endpoint, group: &TargetGroup) -> Vec<ObservedLoadBalancer> {
    let mut identities: Vec<StringMap> = group.known_as.keys().cloned().collect();
    if identities.is_empty() && !group.targets.is_empty() {
        identities.push(endpoint.lb_info());
    }
    identities
        .into_iter()
        .map(|lb_info| ObservedLoadBalancer {
            lb_info,
            attributes: group.attributes.clone(),
            backends: group
                .targets
                .iter()
                .map(|(addr, target)| ObservedBackend {
                    addr: address_of(addr).to_owned(),
                    parameters: target.parameters.clone(),
                })
                .collect(),
        })
        .collect()
}
