//! The declarations of an object of each kind.

use kube::{Resource, ResourceExt};
use lbcf_controller::api::{BackendRecord, Bind, Conditions, LoadBalancer, condition_types};
use mock_driver::{ClusterBackend, ClusterLoadBalancer, ObjectReference};

/// The name of the LoadBalancerDriver whose load balancers are compared; none for all of them.
#[derive(Debug, Clone)]
pub(super) struct DeclaredBy(Option<String>);

impl DeclaredBy {
    pub(super) const fn new(driver: Option<String>) -> Self {
        Self(driver)
    }

    fn includes(&self, driver: &str) -> bool {
        self.0.as_ref().is_none_or(|name| name == driver)
    }
}

pub(super) fn of_load_balancer(
    object: &LoadBalancer,
    driver: &DeclaredBy,
) -> Vec<ClusterLoadBalancer> {
    let declared = driver
        .includes(&object.spec.lb_driver)
        .then(|| ClusterLoadBalancer {
            object: reference(object),
            id: object.uid().unwrap_or_default(),
            lb_info: object
                .status
                .as_ref()
                .map(|status| status.lb_info.to_wire())
                .unwrap_or_default(),
            attributes: object.spec.attributes.to_wire(),
            is_deleting: is_deleting(object),
        });
    Vec::from_iter(declared)
}

/// Those in the spec, and those that were removed from it and are not deleted yet.
pub(super) fn of_bind(object: &Bind, driver: &DeclaredBy) -> Vec<ClusterLoadBalancer> {
    let statuses = object.status.as_ref().map(|it| &it.load_balancer_statuses);
    let statuses = statuses.map(Vec::as_slice).unwrap_or_default();
    let declared = |name: &str| {
        let mut object_reference = reference(object);
        object_reference.name = format!("{}/{name}", object_reference.name);
        let status = statuses.iter().find(|status| status.name == name);
        let target = object.spec.load_balancers.iter().find(|it| it.name == name);
        ClusterLoadBalancer {
            object: object_reference,
            id: format!("{}-{name}", object.uid().unwrap_or_default()),
            lb_info: status.map(|it| it.lb_info.to_wire()).unwrap_or_default(),
            attributes: target.map(|it| it.attributes.to_wire()).unwrap_or_default(),
            is_deleting: is_deleting(object)
                || target.is_none()
                || status.is_some_and(|it| it.deletion_timestamp.is_some()),
        }
    };
    let in_spec = object.spec.load_balancers.iter();
    let in_spec = in_spec.filter(|it| driver.includes(&it.driver));
    let removed = statuses.iter().filter(|status| {
        let mut in_spec = object.spec.load_balancers.iter();
        driver.includes(&status.driver) && !in_spec.any(|it| it.name == status.name)
    });
    let names = in_spec.map(|it| &it.name);
    let names = names.chain(removed.map(|it| &it.name));
    names.map(|name| declared(name)).collect()
}

pub(super) fn backends(object: &BackendRecord, driver: &DeclaredBy) -> Vec<ClusterBackend> {
    let status = object.status.as_ref();
    let declared = driver
        .includes(&object.spec.lb_driver)
        .then(|| ClusterBackend {
            object: reference(object),
            lb_info: object.spec.lb_info.to_wire(),
            address: status.map(|it| it.backend_addr.clone()).unwrap_or_default(),
            parameters: object.spec.parameters.to_wire(),
            is_registered: status
                .is_some_and(|it| it.conditions.is_true(condition_types::REGISTERED)),
            is_deleting: is_deleting(object),
        });
    Vec::from_iter(declared)
}

fn reference<K: Resource<DynamicType = ()>>(object: &K) -> ObjectReference {
    ObjectReference {
        kind: K::kind(&()).into_owned(),
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    }
}

fn is_deleting(object: &impl Resource) -> bool {
    object.meta().deletion_timestamp.is_some()
}

#[cfg(test)]
mod tests;
