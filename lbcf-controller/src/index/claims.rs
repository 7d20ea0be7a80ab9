//! Which objects have each load balancer of a cloud. The first namespace that has one owns it.

use super::multi_map::MultiMap;
use super::store::Diff;
use super::{Index, is_in_scope};
use crate::api::{
    Bind, Conditions, LoadBalancer, ObjectKey, StringMap, TargetLoadBalancerStatus,
    condition_types, names,
};
use crate::index::request::{BindLoadBalancerKey, RequestKey};
use std::iter;

/// A driver, and what identifies one of its load balancers: its whole `lbInfo`, or the field of it that the driver
/// declares.
type Identity = (ObjectKey, StringMap);

/// By each identity that a load balancer may have: which one it has depends on the driver's annotation.
#[derive(Debug, Default)]
pub(super) struct Claims(MultiMap<Identity, RequestKey>);

impl Claims {
    pub(super) fn load_balancer_changed(&mut self, key: &ObjectKey, diff: &Diff<LoadBalancer>) {
        self.0.update(diff, |lb| {
            let driver = names::resolve(&key.namespace, &lb.spec.lb_driver);
            let lb_info = lb.status.as_ref().map(|status| &status.lb_info);
            let claims = lb_info.map(|lb_info| {
                let object = RequestKey::LoadBalancer(key.clone());
                claims(&driver, lb_info, &object)
            });
            claims.unwrap_or_default()
        });
    }

    pub(super) fn bind_changed(&mut self, key: &ObjectKey, diff: &Diff<Bind>) {
        self.0.update(diff, |bind| {
            let status = bind.status.as_ref();
            let entries = status.map(|status| status.load_balancer_statuses.iter());
            // Before, `lbInfo` is what it is created from.
            let is_created =
                |it: &&TargetLoadBalancerStatus| it.conditions.is_true(condition_types::CREATED);
            let created = entries.into_iter().flatten().filter(is_created);
            let claims = created.flat_map(|entry| {
                let driver = names::resolve(&key.namespace, &entry.driver);
                let object = RequestKey::BindLoadBalancer(BindLoadBalancerKey {
                    bind: key.clone(),
                    name: entry.name.clone(),
                });
                claims(&driver, &entry.lb_info, &object)
            });
            claims.collect::<Vec<_>>()
        });
    }
}

fn claims(
    driver: &ObjectKey,
    lb_info: &StringMap,
    object: &RequestKey,
) -> Vec<(Identity, RequestKey)> {
    if lb_info.is_empty() {
        return Vec::new();
    }
    let fields = lb_info
        .iter()
        .map(|(field, value)| StringMap::from([(field.as_str(), value.as_str())]));
    let identities = fields.chain(iter::once(lb_info.clone()));
    identities
        .map(|identity| ((driver.clone(), identity), object.clone()))
        .collect()
}

impl Index {
    /// Claims a load balancer for an object, unless another namespace owns it and does not admit the object's. Returns
    /// that namespace. A claim lasts as long as the object has the load balancer.
    pub(crate) fn claim(
        &mut self,
        driver: &ObjectKey,
        identity: StringMap,
        object: RequestKey,
    ) -> Option<String> {
        let identity = (driver.clone(), identity);
        let namespace = &object.object().namespace;
        let admits = |other: &RequestKey| match other {
            RequestKey::LoadBalancer(key) => {
                let lb = self.load_balancers.find(key);
                lb.is_some_and(|lb| is_in_scope(lb, namespace))
            }
            _ => false,
        };
        let others = || self.claims.0.get(&identity);
        let first = others().next().map(|other| other.object());
        if let Some(first) = first
            && !others().any(|other| other.object().namespace == *namespace || admits(other))
        {
            return Some(first.namespace.to_string());
        }
        self.claims.0.insert(identity, object);
        None
    }
}
