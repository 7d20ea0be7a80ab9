//! The cloud as LBCF sees it: load balancers by the identity that the controller holds, with their
//! backends. Tests read from it whether anything was lost or left behind.
//!
//! It lists what LBCF uses, what is being created, and everything that has targets, but no instance
//! that existed from the start and is unused: a cloud that LBCF has left as it was is empty here.

use crate::azure::{AzureLbInfo, FrontendTag};
use crate::cloud::Cloud;
use crate::resources::azure::{ResourceId, SharedLoadBalancer};
use crate::resources::{CloudState, LoadBalancerState};
use lbcf_driver_sdk::fields;
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

impl Cloud {
    /// The cloud as LBCF sees it.
    #[must_use]
    pub fn observe(&self) -> Observation {
        Observation::of(&self.state())
    }
}

impl Observation {
    fn of(state: &CloudState) -> Self {
        let clb = state.load_balancers.iter();
        let clb = clb.flat_map(|it| being_created(it).into_iter().chain(used(it)));
        let azure = state.azure.iter().flat_map(|azure| {
            let shared = azure.load_balancers.iter();
            shared.flat_map(|(id, it)| services(id, &it.resource))
        });
        Self {
            load_balancers: clb.chain(azure).collect(),
        }
    }

    /// The load balancer with this `lbInfo`.
    #[must_use]
    pub fn load_balancer(&self, lb_info: &StringMap) -> Option<&ObservedLoadBalancer> {
        self.load_balancers
            .iter()
            .find(|load_balancer| load_balancer.lb_info == *lb_info)
    }
}

impl ObservedBackend {
    fn new((addr, parameters): (&String, &StringMap)) -> Self {
        Self {
            addr: addr.clone(),
            parameters: parameters.clone(),
        }
    }
}

fn being_created(instance: &LoadBalancerState) -> Option<ObservedLoadBalancer> {
    let creation = instance.creation.as_ref().filter(|it| !it.complete)?;
    Some(ObservedLoadBalancer {
        lb_info: StringMap::from([("lbID".to_owned(), instance.id.clone())]),
        attributes: creation.attributes.clone(),
        backends: Vec::new(),
    })
}

/// The listeners and rules that LBCF uses, or that have targets.
fn used(instance: &LoadBalancerState) -> impl Iterator<Item = ObservedLoadBalancer> {
    let groups = instance.groups();
    let used = groups.filter(|(_, it)| !it.used_by.is_empty() || !it.targets.is_empty());
    used.map(|(endpoint, group)| {
        let targets = group.targets.iter().map(|it| (&it.addr, &it.parameters));
        ObservedLoadBalancer {
            lb_info: endpoint.lb_info(),
            attributes: group.attributes.clone(),
            backends: targets.map(ObservedBackend::new).collect(),
        }
    })
}

/// The frontends of a shared load balancer whose tags say that LBCF asked for them.
fn services(
    id: &ResourceId,
    load_balancer: &SharedLoadBalancer,
) -> impl Iterator<Item = ObservedLoadBalancer> {
    load_balancer.pools.iter().filter_map(|(name, pool)| {
        let tag = FrontendTag::read(load_balancer.tags.get(name)?)?;
        let frontend = load_balancer.frontends.get(name);
        let address = frontend.map(|it| it.address.clone()).unwrap_or_default();
        let lb_info = AzureLbInfo::new(name.clone(), id.group.clone(), tag.spec, address);
        let members = pool.members.iter();
        let members = members.map(|(addr, member)| (addr, &member.parameters));
        Some(ObservedLoadBalancer {
            lb_info: fields::write("lbInfo", &lb_info).ok()?,
            attributes: tag.attributes,
            backends: members.map(ObservedBackend::new).collect(),
        })
    })
}
