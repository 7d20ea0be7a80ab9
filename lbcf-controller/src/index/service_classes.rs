//! Which drivers serve the Services of a class, which Services have it, and what was made for them.

use super::ServiceView;
use super::multi_map::MultiMap;
use super::store::Diff;
use crate::api::names::is_draining;
use crate::api::{BackendGroup, LoadBalancer, LoadBalancerDriver, ObjectExt, ObjectKey};
use crate::index::request::{Request, RequestKey};
use kube::Resource;
use kube::api::ObjectMeta;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct ServiceClasses {
    pub(super) drivers: MultiMap<String, ObjectKey>,
    services: MultiMap<String, ObjectKey>,
    pub(super) by_address: MultiMap<String, ObjectKey>,
    pub(super) load_balancers: MultiMap<ObjectKey, ObjectKey>,
    pub(super) groups: MultiMap<ObjectKey, ObjectKey>,
}

/// The Service that is the controller of an object, in the sense of owner references.
pub(crate) fn service_of(metadata: &ObjectMeta) -> Option<(ObjectKey, &str)> {
    let mut owners = metadata.owner_references.iter().flatten();
    let owner = owners.find(|owner| {
        owner.controller == Some(true) && owner.kind == "Service" && owner.api_version == "v1"
    })?;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let key = ObjectKey::new(namespace, owner.name.as_str());
    Some((key, &owner.uid))
}

/// True for an object whose controller is the Service with this uid.
pub(crate) fn is_owned(metadata: &ObjectMeta, uid: &str) -> bool {
    service_of(metadata).is_some_and(|(_, owner)| owner == uid)
}

fn claim_of(driver: &LoadBalancerDriver) -> impl PartialEq + use<> {
    (
        driver.spec.service_class.clone(),
        driver.is_deleting(),
        is_draining(driver.metadata.labels.as_ref()),
        driver.metadata.creation_timestamp.clone(),
    )
}

impl ServiceClasses {
    /// Updates the classes with a changed driver; returns the requests for everything that has one of its
    /// classes, among it the drivers that lose or gain the class.
    pub(super) fn driver_changed(
        &mut self,
        key: &ObjectKey,
        diff: &Diff<LoadBalancerDriver>,
    ) -> Vec<Request> {
        let class_of = |driver: &LoadBalancerDriver| {
            let class = driver.spec.service_class.as_ref();
            class.map(|class| class.name.clone())
        };
        self.drivers.update(diff, |driver| {
            class_of(driver).map(|class| (class, key.clone()))
        });
        if !diff.is_change(|old, new| claim_of(old) != claim_of(new)) {
            return Vec::new();
        }
        let states = [&diff.old, &diff.new].into_iter().flatten();
        let classes: BTreeSet<String> = states.filter_map(|driver| class_of(driver)).collect();
        let keys = classes.iter().flat_map(|class| {
            let drivers = self.drivers.get(class).cloned().map(RequestKey::Driver);
            drivers.chain(self.services.get(class).cloned().map(RequestKey::Service))
        });
        keys.map(Request::normal).collect()
    }

    /// Updates the classes with a changed Service; returns its request if it has, had or may get load
    /// balancers of a class and something changed.
    pub(super) fn service_changed(
        &mut self,
        key: &ObjectKey,
        diff: &Diff<ServiceView>,
    ) -> Option<Request> {
        let class_of = |service: &ServiceView| service.load_balancer.as_ref()?.class.clone();
        self.services.update(diff, |service| {
            class_of(service).map(|class| (class, key.clone()))
        });
        self.by_address.update(diff, |service| {
            let addresses = service.addresses.clone().into_iter();
            addresses.map(|address| (address, key.clone()))
        });
        let mut states = [&diff.old, &diff.new].into_iter().flatten();
        let is_concerned = states.any(|service| service.load_balancer.is_some());
        let is_changed = diff.is_change(|old, new| {
            old.load_balancer != new.load_balancer || !old.is_equivalent(new)
        });
        (is_concerned && is_changed).then(|| Request::normal(RequestKey::Service(key.clone())))
    }

    pub(super) fn load_balancer_changed(
        &mut self,
        key: &ObjectKey,
        diff: &Diff<LoadBalancer>,
    ) -> Vec<Request> {
        owned_changed(&mut self.load_balancers, key, diff)
    }

    pub(super) fn group_changed(
        &mut self,
        key: &ObjectKey,
        diff: &Diff<BackendGroup>,
    ) -> Vec<Request> {
        let requests = owned_changed(&mut self.groups, key, diff);
        let is_changed = diff.is_change(|old, new| {
            old.spec != new.spec
                || old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
                || old.metadata.uid != new.metadata.uid
                || old.metadata.owner_references != new.metadata.owner_references
        });
        // Its status does not concern the Service.
        if is_changed { requests } else { Vec::new() }
    }
}

fn owned_changed<K: Resource>(
    owned: &mut MultiMap<ObjectKey, ObjectKey>,
    key: &ObjectKey,
    diff: &Diff<K>,
) -> Vec<Request> {
    let service = |object: &K| service_of(object.meta()).map(|(service, _)| service);
    owned.update(diff, |object| service(object).map(|it| (it, key.clone())));
    let states = [&diff.old, &diff.new].into_iter().flatten();
    let services: BTreeSet<ObjectKey> = states.filter_map(|object| service(object)).collect();
    let keys = services.into_iter().map(RequestKey::Service);
    keys.map(Request::normal).collect()
}

/// The driver that has a class: the oldest, or of equal age the first by name. One that is being deleted
/// has none, and one that accepts nothing new only where there is no other.
pub(crate) fn claimant(drivers: &[Arc<LoadBalancerDriver>]) -> Option<&Arc<LoadBalancerDriver>> {
    let alive = drivers.iter().filter(|driver| !driver.is_deleting());
    alive.min_by_key(|driver| {
        let meta = &driver.metadata;
        let created = meta.creation_timestamp.as_ref().map(|time| time.0);
        (
            is_draining(meta.labels.as_ref()),
            created,
            &meta.name,
            &meta.namespace,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn driver(name: &str, created: u8, meta: &Value) -> Arc<LoadBalancerDriver> {
        let mut driver = json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "LoadBalancerDriver",
            "metadata": {
                "name": name, "namespace": "ns",
                "creationTimestamp": format!("2026-01-01T00:00:{created:02}Z"),
            },
            "spec": {"driverType": "Webhook", "url": "http://driver"},
        });
        json_patch::merge(&mut driver["metadata"], meta);
        Arc::new(serde_json::from_value(driver).unwrap())
    }

    #[test]
    fn d72_the_oldest_driver_has_the_class() {
        let plain = json!({});
        let deleting = json!({"deletionTimestamp": "2026-01-02T00:00:00Z"});
        let draining = json!({"labels": {"lbcf.tkestack.io/driver-draining": "True"}});
        for (drivers, expected) in [
            (vec![], None),
            (
                vec![driver("a", 2, &plain), driver("b", 1, &plain)],
                Some("b"),
            ),
            (
                vec![driver("b", 1, &plain), driver("a", 1, &plain)],
                Some("a"),
            ),
            (
                vec![driver("a", 1, &deleting), driver("b", 2, &plain)],
                Some("b"),
            ),
            (
                vec![driver("a", 1, &draining), driver("b", 2, &plain)],
                Some("b"),
            ),
            (vec![driver("a", 1, &draining)], Some("a")),
            (vec![driver("a", 1, &deleting)], None),
        ] {
            let found = claimant(&drivers).map(|driver| driver.metadata.name.clone().unwrap());
            assert_eq!(found.as_deref(), expected);
        }
    }
}
