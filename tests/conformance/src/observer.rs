//! Looking into a driver's cloud: what is really there, whatever the driver says.

mod ask;

pub use ask::{Observer, ObserverError};

use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};

/// What is in the cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Observation {
    /// The load balancers.
    pub load_balancers: Vec<ObservedLoadBalancer>,
}

/// A load balancer in the cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedLoadBalancer {
    /// Its identity as the driver tells it.
    pub lb_info: StringMap,
    /// Its attributes.
    pub attributes: StringMap,
    /// What is registered.
    pub backends: Vec<ObservedBackend>,
}

/// A backend in the cloud.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObservedBackend {
    /// Its address.
    pub addr: String,
    /// Its parameters.
    pub parameters: StringMap,
}

impl Observation {
    /// The load balancer with this identity: the one whose `lbInfo` is equal, or else the only one
    /// that has all of its fields.
    #[must_use]
    pub fn load_balancer(&self, lb_info: &StringMap) -> Option<&ObservedLoadBalancer> {
        let equal = self
            .load_balancers
            .iter()
            .find(|seen| seen.lb_info == *lb_info);
        equal.or_else(|| {
            let has_all = |seen: &&ObservedLoadBalancer| {
                lb_info
                    .iter()
                    .all(|(key, value)| seen.lb_info.get(key) == Some(value))
            };
            let mut similar = self.load_balancers.iter().filter(has_all);
            similar
                .next()
                .filter(|_| !lb_info.is_empty() && similar.next().is_none())
        })
    }

    /// The load balancers that `earlier` did not have.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Vec<&ObservedLoadBalancer> {
        let is_new = |seen: &&ObservedLoadBalancer| {
            !earlier
                .load_balancers
                .iter()
                .any(|other| other.lb_info == seen.lb_info)
        };
        self.load_balancers.iter().filter(is_new).collect()
    }
}

impl ObservedLoadBalancer {
    /// The backend with this address.
    #[must_use]
    pub fn backend(&self, addr: &str) -> Option<&ObservedBackend> {
        self.backends.iter().find(|backend| backend.addr == addr)
    }

    /// How often this address is registered.
    #[must_use]
    pub fn bindings(&self, addr: &str) -> usize {
        self.backends
            .iter()
            .filter(|backend| backend.addr == addr)
            .count()
    }
}
