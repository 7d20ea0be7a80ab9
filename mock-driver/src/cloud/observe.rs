//! The cloud as LBCF sees it: load balancers by the identity that the controller holds, with their
//! backends. Tests read from it whether anything was lost or left behind.
//!
//! It lists what LBCF uses, what is being created, and everything that has targets, but no instance
//! that existed from the start and is unused: a cloud that LBCF has left as it was is empty here.

use super::endpoint::{Endpoint, Rule};
use super::model::{Forwarding, Model, TargetGroup};
use crate::azure;
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};

/// All load balancers that LBCF uses, has asked for, or has left targets on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// In the order of their IDs.
    pub load_balancers: Vec<ObservedLoadBalancer>,
}

/// A load balancer by the identity that LBCF stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservedLoadBalancer {
    /// The identity, exactly as `createLoadBalancer` has returned it; only `lbID` while it is being
    /// created.
    pub lb_info: StringMap,
    /// The attributes, as the driver last set them.
    pub attributes: StringMap,
    /// All targets, whether or not LBCF has registered them.
    pub backends: Vec<ObservedBackend>,
}

/// A target of a load balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservedBackend {
    /// The address, as `generateBackendAddr` has returned it.
    pub addr: String,
    /// The parameters, as the driver last set them.
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
        load_balancers.extend(model.azure.iter().flat_map(azure::observed));
        Self { load_balancers }
    }

    /// The load balancer with this `lbInfo`.
    #[must_use]
    pub fn load_balancer(&self, lb_info: &StringMap) -> Option<&ObservedLoadBalancer> {
        self.load_balancers
            .iter()
            .find(|load_balancer| load_balancer.lb_info == *lb_info)
    }
}

fn observe_group(endpoint: &Endpoint, group: &TargetGroup) -> Option<ObservedLoadBalancer> {
    (group.is_in_use() || !group.targets.is_empty()).then(|| ObservedLoadBalancer {
        lb_info: endpoint.lb_info(),
        attributes: group.attributes.clone(),
        backends: group
            .targets
            .iter()
            .map(|(addr, target)| ObservedBackend {
                addr: addr.clone(),
                parameters: target.parameters.clone(),
            })
            .collect(),
    })
}
