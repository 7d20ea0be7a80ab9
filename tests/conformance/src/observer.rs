//! The actual state of a driver's cloud, independent of the driver's responses.

mod client;

pub use client::{Observer, ObserverError};

use crate::fixture::or_default;
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};

/// The state of the cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Observation {
    /// All load balancers in the cloud, including foreign ones. Null is empty here and below, as Go writes it.
    #[serde(deserialize_with = "or_default")]
    pub load_balancers: Vec<ObservedLoadBalancer>,
}

/// A load balancer in the cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedLoadBalancer {
    /// The identity as the driver returns it.
    pub lb_info: StringMap,
    /// The attributes that are in effect in the cloud.
    #[serde(deserialize_with = "or_default")]
    pub attributes: StringMap,
    /// The backends that are registered at it.
    #[serde(deserialize_with = "or_default")]
    pub backends: Vec<ObservedBackend>,
}

/// A backend that is registered at a load balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedBackend {
    /// The `backendAddr` by which it was registered.
    pub addr: String,
    /// The parameters that are in effect in the cloud.
    #[serde(deserialize_with = "or_default")]
    pub parameters: StringMap,
}

impl Observation {
    /// The load balancer with this identity: with an equal `lbInfo`, or else the only one whose
    /// `lbInfo` contains all of its fields.
    pub fn load_balancer(&self, lb_info: &StringMap) -> Option<&ObservedLoadBalancer> {
        let mut all = self.load_balancers.iter();
        all.clone()
            .find(|seen| seen.lb_info == *lb_info)
            .or_else(|| {
                let has = |seen: &ObservedLoadBalancer, (key, value): (&String, &String)| {
                    seen.lb_info.get(key) == Some(value)
                };
                let has_all =
                    |seen: &&ObservedLoadBalancer| lb_info.iter().all(|field| has(seen, field));
                let only = all.find(has_all).filter(|_| !lb_info.is_empty())?;
                (!all.any(|seen| has_all(&seen))).then_some(only)
            })
    }

    /// The backend with this address at the load balancer with this identity.
    pub fn backend(&self, lb_info: &StringMap, addr: &str) -> Option<&ObservedBackend> {
        self.load_balancer(lb_info)?.backend(addr)
    }

    /// The load balancers that are missing in `earlier`.
    pub fn since(&self, earlier: &Self) -> Vec<&ObservedLoadBalancer> {
        let is_new = |seen: &&ObservedLoadBalancer| {
            let mut others = earlier.load_balancers.iter();
            !others.any(|other| other.lb_info == seen.lb_info)
        };
        self.load_balancers.iter().filter(is_new).collect()
    }
}

impl ObservedLoadBalancer {
    /// The backend with this address.
    pub fn backend(&self, addr: &str) -> Option<&ObservedBackend> {
        self.backends.iter().find(|backend| backend.addr == addr)
    }

    /// The number of backends with this address.
    pub fn bindings(&self, addr: &str) -> usize {
        let backends = self.backends.iter();
        backends.filter(|backend| backend.addr == addr).count()
    }
}
