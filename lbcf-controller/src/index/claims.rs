//! Which objects have each load balancer of a cloud. The first namespace that has one owns it.

use super::multi_map::MultiMap;
use super::store::Diff;
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
    pub(super) fn add(&mut self, identity: Identity, object: RequestKey) {
        self.0.insert(identity, object);
    }

    /// The namespace that owns a load balancer, unless this one has it too, or an object that has it `admits` this one.
    pub(super) fn owner(
        &self,
        identity: &Identity,
        namespace: &str,
        admits: impl Fn(&RequestKey) -> bool,
    ) -> Option<String> {
        let first = self.0.get(identity).next()?;
        let is_admitted =
            |other: &RequestKey| *other.object().namespace == *namespace || admits(other);
        let is_shared = self.0.get(identity).any(is_admitted);
        (!is_shared).then(|| first.object().namespace.to_string())
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn lb(namespace: &str) -> RequestKey {
        RequestKey::LoadBalancer(ObjectKey::new(namespace, "lb"))
    }

    #[test]
    fn d111_the_first_namespace_has_a_load_balancer_and_those_that_an_owner_admits() {
        let mut claims = Claims::default();
        let identity = (ObjectKey::new("sys", "d"), StringMap::from([("id", "1")]));
        let nobody = |_: &RequestKey| false;
        assert_eq!(claims.owner(&identity, "blue", nobody), None);
        claims.add(identity.clone(), lb("blue"));
        let owner = Some("blue".to_owned());
        assert_eq!(claims.owner(&identity, "green", nobody), owner);
        assert_eq!(claims.owner(&identity, "blue", nobody), None);
        let admitted = |owner: &RequestKey| *owner == lb("blue");
        assert_eq!(claims.owner(&identity, "green", admitted), None);
        claims.add(identity.clone(), lb("green"));
        assert_eq!(claims.owner(&identity, "green", nobody), None);
        assert_eq!(claims.owner(&identity, "red", nobody), owner);
    }

    #[test]
    fn d111_a_load_balancer_is_known_by_each_of_its_fields_and_by_all() {
        let driver = ObjectKey::new("sys", "d");
        let lb_info = StringMap::from([("id", "1"), ("port", "80")]);
        let claims = claims(&driver, &lb_info, &lb("blue"));
        let identities: Vec<_> = claims
            .into_iter()
            .map(|((_, identity), _)| identity)
            .collect();
        let field = |name, value| StringMap::from([(name, value)]);
        assert_eq!(identities, [field("id", "1"), field("port", "80"), lb_info]);
        assert_eq!(
            super::claims(&driver, &StringMap::default(), &lb("blue")),
            []
        );
    }
}
