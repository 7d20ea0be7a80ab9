//! The writes that a Service's load balancers need. No I/O, no clock.

use super::ensure::ensure;
use crate::api::{
    BackendGroup, Conditions, LoadBalancer, LoadBalancerDriver, ObjectExt, condition_types, reasons,
};
use crate::index::{Ingress, ServiceLoadBalancer, ServiceView, is_owned};
use kube::Resource;
use kube::api::ObjectMeta;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A Service and the objects that it depends on.
#[derive(Debug)]
pub(super) struct ServiceState {
    pub(super) service: Arc<ServiceView>,
    /// The driver that has the Service's class.
    pub(super) driver: Option<Arc<LoadBalancerDriver>>,
    /// The objects that the Service owns, and those that have the name of something that it should own.
    pub(super) load_balancers: BTreeMap<String, Arc<LoadBalancer>>,
    pub(super) groups: BTreeMap<String, Arc<BackendGroup>>,
    /// Why addresses that its load balancers announce are not shown.
    pub(super) refused: BTreeMap<String, String>,
}

#[derive(Debug, PartialEq)]
pub(super) enum ServiceAction {
    /// Adds the finalizer and the annotation, before anything is made.
    Mark,
    CreateLoadBalancer(LoadBalancer),
    UpdateLoadBalancer(Arc<LoadBalancer>, LoadBalancer),
    DeleteLoadBalancer(Arc<LoadBalancer>),
    CreateGroup(BackendGroup),
    UpdateGroup(Arc<BackendGroup>, BackendGroup),
    DeleteGroup(Arc<BackendGroup>),
    SetIngress(Vec<Ingress>),
    /// Removes the annotation and, unless the Service belongs to another class now, the finalizer.
    Release {
        keeps_finalizer: bool,
    },
}

/// The state that a Service is on the way to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Goal {
    /// It is none of this controller's Services.
    #[default]
    None,
    /// It should have load balancers.
    Ensured,
    /// It should have none.
    Deleted,
}

/// The writes that are due now; those that depend on them follow when they are done.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ServicePlan {
    pub(super) goal: Goal,
    pub(super) actions: Vec<ServiceAction>,
    /// True if all load balancers are created and have their attributes.
    pub(super) is_complete: bool,
    pub(super) problems: Vec<String>,
    /// True if an address is not shown that may be shown later.
    pub(super) is_refused: bool,
}

pub(super) fn decide(state: &ServiceState) -> ServicePlan {
    let Some(part) = state.service.load_balancer.as_deref() else {
        return ServicePlan::default();
    };
    let marked = part.marked_class();
    let has_other_class =
        marked.is_some() && part.class.is_some() && part.class.as_deref() != marked;
    let is_wanted = part.class.is_some() && !state.service.deleting && !has_other_class;
    match (&state.driver, is_wanted) {
        (Some(driver), true) => ensure(state, part, driver),
        // Nobody else has the class: what the Service has goes on, but nothing follows its changes.
        (None, true) if marked.is_some() => ServicePlan {
            problems: vec![format!(
                "no LoadBalancerDriver has the class {} any more; the load balancers stay as they are until the Service is deleted",
                part.class.as_deref().unwrap_or_default()
            )],
            ..ServicePlan::default()
        },
        (None, true) => ServicePlan::default(),
        (_, false) => clean_up(state, part),
    }
}

/// Groups, load balancers, addresses, and the finalizer last.
fn clean_up(state: &ServiceState, part: &ServiceLoadBalancer) -> ServicePlan {
    let groups: Vec<_> = owned(&state.groups, part).collect();
    let lbs: Vec<_> = owned(&state.load_balancers, part).collect();
    let is_ours = part.marked_class().is_some()
        || !groups.is_empty()
        || !lbs.is_empty()
        || (state.driver.is_some() && part.has_finalizer());
    if !is_ours {
        return ServicePlan::default();
    }
    let mut plan = ServicePlan {
        goal: Goal::Deleted,
        ..ServicePlan::default()
    };
    if !groups.is_empty() {
        let groups = groups.into_iter().filter(|group| !group.is_deleting());
        let delete = |group| ServiceAction::DeleteGroup(Arc::clone(group));
        plan.actions.extend(groups.map(delete));
        return plan;
    }
    if !lbs.is_empty() {
        for lb in lbs {
            if !lb.is_deleting() {
                plan.actions
                    .push(ServiceAction::DeleteLoadBalancer(Arc::clone(lb)));
            }
            let deleted = lb.status.as_ref().and_then(|status| {
                let condition = status.conditions.find(condition_types::DELETED)?;
                let is_failure = condition.reason != reasons::RECORDS_REMAINING;
                let name = name_of(&lb.metadata);
                is_failure.then(|| format!("LoadBalancer {name}: {}", condition.message))
            });
            plan.problems.extend(deleted);
        }
        return plan;
    }
    // A Service of another class belongs to that one's controller, which may rely on the finalizer.
    let is_of_another = part.is_load_balancer && !state.service.deleting;
    plan.actions
        .push(if !is_of_another && !part.ingress.is_empty() {
            ServiceAction::SetIngress(Vec::new())
        } else {
            ServiceAction::Release {
                keeps_finalizer: is_of_another,
            }
        });
    plan
}

/// The objects of a kind that the Service owns.
pub(super) fn owned<'a, K: Resource>(
    objects: &'a BTreeMap<String, Arc<K>>,
    part: &'a ServiceLoadBalancer,
) -> impl Iterator<Item = &'a Arc<K>> {
    let objects = objects.values();
    objects.filter(|object| is_owned(object.meta(), &part.uid))
}

pub(super) fn name_of(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
