//! Which drivers serve the Services of a class, which Services have it, and what was made for them (d72).

use super::multi_map::MultiMap;
use super::store::Diff;
use super::{Index, ServiceView};
use crate::api::names::{SYSTEM_NAMESPACE, is_draining};
use crate::api::{BackendGroup, LoadBalancer, LoadBalancerDriver, ObjectExt, ObjectKey};
use crate::index::request::{Request, RequestKey};
use kube::Resource;
use kube::api::ObjectMeta;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct ServiceClasses {
    drivers: MultiMap<String, ObjectKey>,
    services: MultiMap<String, ObjectKey>,
    load_balancers: MultiMap<ObjectKey, ObjectKey>,
    groups: MultiMap<ObjectKey, ObjectKey>,
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

impl Index {
    /// The drivers that name a class and may serve a namespace: its own, and those for all namespaces.
    pub(crate) fn drivers_of_class(
        &self,
        class: &str,
        namespace: &str,
    ) -> Vec<Arc<LoadBalancerDriver>> {
        let keys = self.service_classes.drivers.get(&class.to_owned());
        let keys =
            keys.filter(|key| *key.namespace == *namespace || *key.namespace == *SYSTEM_NAMESPACE);
        keys.filter_map(|key| self.find(key)).collect()
    }

    /// The load balancers and groups whose controller is a Service with this uid.
    pub(crate) fn owned_by_service(
        &self,
        service: &ObjectKey,
        uid: &str,
    ) -> (Vec<Arc<LoadBalancer>>, Vec<Arc<BackendGroup>>) {
        let classes = &self.service_classes;
        let lbs = classes.load_balancers.get(service);
        let groups = classes.groups.get(service);
        (
            lbs.filter_map(|key| self.find::<LoadBalancer>(key))
                .filter(|lb| is_owned(&lb.metadata, uid))
                .collect(),
            groups
                .filter_map(|key| self.find::<BackendGroup>(key))
                .filter(|group| is_owned(&group.metadata, uid))
                .collect(),
        )
    }
}

fn is_owned(metadata: &ObjectMeta, uid: &str) -> bool {
    service_of(metadata).is_some_and(|(_, owner)| owner == uid)
}
