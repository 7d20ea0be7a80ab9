//! The load balancers that are listed for the audit (d53).

use super::{Index, binds};
use crate::api::{LoadBalancerDriver, ObjectKey};
use crate::index::request::{BindLoadBalancerKey, RequestKey};
use std::collections::{BTreeSet, HashSet};

impl Index {
    /// The load balancers of LoadBalancers and Binds whose driver is accepted. This goes through all
    /// of them, unless no driver is accepted.
    pub(crate) fn load_balancers_of(
        &self,
        accepts: impl Fn(&LoadBalancerDriver) -> bool,
    ) -> BTreeSet<RequestKey> {
        let is_accepted = |key: &&ObjectKey| self.drivers.find(key).is_some_and(|it| accepts(it));
        let drivers: HashSet<&ObjectKey> = self.drivers.keys().filter(is_accepted).collect();
        if drivers.is_empty() {
            return BTreeSet::new();
        }
        let load_balancers = self.load_balancers.keys().cloned();
        let of_binds = self.binds.keys().flat_map(|bind| {
            let names = self.binds.find(bind).map(|it| binds::names_of(it));
            let key = |name: String| BindLoadBalancerKey {
                bind: bind.clone(),
                name,
            };
            names.into_iter().flatten().map(key)
        });
        load_balancers
            .map(RequestKey::LoadBalancer)
            .chain(of_binds.map(RequestKey::BindLoadBalancer))
            .filter(|key| {
                let target = self.target_of(key);
                target.is_some_and(|(driver, _)| drivers.contains(&driver))
            })
            .collect()
    }
}
