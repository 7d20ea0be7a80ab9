//! The writes until a Service has its load balancers. No I/O, no clock.

use super::decide::{Goal, ServiceAction, ServicePlan, ServiceState, name_of, owned};
use super::desired::{DesiredObjects, desired};
use super::ingress;
use crate::api::{
    BackendGroup, Condition, ConditionStatus, Conditions, IngressKeys, LoadBalancer,
    LoadBalancerDriver, NamespacedKind, ObjectExt, condition_types, reasons,
};
use crate::index::{ServiceLoadBalancer, service_of};
use kube::api::ObjectMeta;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Finalizer first, load balancers before groups, and what is made before what is deleted.
pub(super) fn ensure(
    state: &ServiceState,
    part: &ServiceLoadBalancer,
    driver: &LoadBalancerDriver,
) -> ServicePlan {
    let mut plan = ServicePlan {
        goal: Goal::Ensured,
        ..ServicePlan::default()
    };
    let desired = match desired(&state.service, part, driver) {
        Ok(desired) => desired,
        Err(problem) => {
            plan.problems.push(problem);
            return plan;
        }
    };
    plan.problems.clone_from(&desired.problems);
    let is_marked = part.has_finalizer() && part.marked_class().is_some();
    if !is_marked {
        if !desired.load_balancers.is_empty() {
            plan.actions.push(ServiceAction::Mark);
        }
        return plan;
    }
    load_balancers(state, &desired, &mut plan);
    groups(state, &desired, &mut plan);
    remove_others(state, part, &desired, &mut plan);
    let class = driver.spec.service_class.as_ref();
    let keys = class.and_then(|class| class.ingress.as_ref());
    show(state, part, &desired, keys, &mut plan);
    plan
}

fn load_balancers(state: &ServiceState, desired: &DesiredObjects, plan: &mut ServicePlan) {
    for new in &desired.load_balancers {
        let old = state.load_balancers.get(name_of(&new.metadata));
        // Its driver and identity cannot change.
        let change = |old: &LoadBalancer, metadata| {
            let mut changed = LoadBalancer {
                metadata,
                ..old.clone()
            };
            changed.spec.attributes = new.spec.attributes.clone();
            changed.spec.scope.clone_from(&new.spec.scope);
            let policy = &new.spec.ensure_policy;
            changed.spec.ensure_policy.clone_from(policy);
            changed
        };
        let create = ServiceAction::CreateLoadBalancer;
        let update = ServiceAction::UpdateLoadBalancer;
        ensure_one(old, new, change, create, update, plan);
    }
}

/// Groups are made when their load balancers exist, as admission requires.
fn groups(state: &ServiceState, desired: &DesiredObjects, plan: &mut ServicePlan) {
    for new in &desired.groups {
        let lb_exists = |lb| {
            let lb = state.load_balancers.get(lb);
            lb.is_some_and(|lb| !lb.is_deleting())
        };
        if !new.spec.load_balancer_names().all(lb_exists) {
            continue;
        }
        let old = state.groups.get(name_of(&new.metadata));
        let change = |old: &BackendGroup, metadata| BackendGroup {
            metadata,
            spec: new.spec.clone(),
            status: old.status.clone(),
        };
        let (create, update) = (ServiceAction::CreateGroup, ServiceAction::UpdateGroup);
        ensure_one(old, new, change, create, update, plan);
    }
}

/// Plans to create an object, or to change it where `change` differs.
fn ensure_one<K: NamespacedKind + PartialEq>(
    old: Option<&Arc<K>>,
    new: &K,
    change: impl Fn(&K, ObjectMeta) -> K,
    create: impl Fn(K) -> ServiceAction,
    update: impl Fn(Arc<K>, K) -> ServiceAction,
    plan: &mut ServicePlan,
) {
    let Some(old) = old else {
        plan.actions.push(create(new.clone()));
        return;
    };
    if old.is_deleting() {
        return; // Another one is made when it is gone.
    }
    match adopted(old.meta(), new.meta()) {
        Ok(metadata) => {
            let changed = change(old, metadata);
            if changed != **old {
                plan.actions.push(update(Arc::clone(old), changed));
            }
        }
        Err(problem) => {
            let (kind, name) = (K::kind(&()), name_of(new.meta()));
            plan.problems.push(format!("{kind} {name}: {problem}"));
        }
    }
}

/// The metadata of an object with its owner, which a user may have removed.
fn adopted(old: &ObjectMeta, new: &ObjectMeta) -> Result<ObjectMeta, String> {
    let mut owners = old.owner_references.iter().flatten();
    let mut metadata = old.clone();
    match owners.find(|owner| owner.controller == Some(true)) {
        None => {
            let owners = metadata.owner_references.get_or_insert_default();
            owners.extend(new.owner_references.iter().flatten().cloned());
        }
        Some(owner) => {
            let owned_by = |meta| service_of(meta).map(|(key, uid)| (key, uid.to_owned()));
            if owned_by(old) != owned_by(new) {
                return Err(format!(
                    "the name is taken: its controller is {} {}",
                    owner.kind, owner.name
                ));
            }
        }
    }
    Ok(metadata)
}

/// Deletes the objects of ports that the Service no longer has.
fn remove_others(
    state: &ServiceState,
    part: &ServiceLoadBalancer,
    desired: &DesiredObjects,
    plan: &mut ServicePlan,
) {
    let groups = desired.groups.iter();
    let names: BTreeSet<&str> = groups.map(|it| name_of(&it.metadata)).collect();
    for group in owned(&state.groups, part).filter(|it| !names.contains(name_of(&it.metadata))) {
        if !group.is_deleting() {
            plan.actions
                .push(ServiceAction::DeleteGroup(Arc::clone(group)));
        }
    }
    let lbs = desired.load_balancers.iter();
    let names: BTreeSet<&str> = lbs.map(|it| name_of(&it.metadata)).collect();
    for lb in owned(&state.load_balancers, part).filter(|it| !names.contains(name_of(&it.metadata)))
    {
        // Its records are deregistered by the groups that use it.
        let name = name_of(&lb.metadata);
        let is_used = owned(&state.groups, part)
            .any(|group| group.spec.load_balancer_names().any(|lb| lb == name));
        if !lb.is_deleting() && !is_used {
            plan.actions
                .push(ServiceAction::DeleteLoadBalancer(Arc::clone(lb)));
        }
    }
}

fn show(
    state: &ServiceState,
    part: &ServiceLoadBalancer,
    desired: &DesiredObjects,
    keys: Option<&IngressKeys>,
    plan: &mut ServicePlan,
) {
    let mut ingress = Vec::new();
    plan.is_complete = plan.problems.is_empty();
    for lb in &desired.load_balancers {
        let name = name_of(&lb.metadata);
        let ports = desired.ports.get(name).map_or(&[][..], Vec::as_slice);
        let Some(lb) = state.load_balancers.get(name) else {
            plan.is_complete = false;
            continue;
        };
        if let Err(problem) = ingress::add(&mut ingress, lb, keys, ports, &state.refused) {
            plan.problems.push(problem);
        }
        plan.is_complete &= is_synced(lb);
        plan.problems.extend(failures(lb));
    }
    plan.is_complete &= plan.problems.is_empty();
    plan.is_refused = !state.refused.is_empty();
    if ingress != part.ingress {
        plan.actions.push(ServiceAction::SetIngress(ingress));
    }
}

fn is_synced(lb: &LoadBalancer) -> bool {
    lb.status.as_ref().is_some_and(|status| {
        status.conditions.is_true(condition_types::CREATED)
            && status
                .conditions
                .is_true(condition_types::ATTRIBUTES_SYNCED)
            && status.has_synced(&lb.spec.attributes)
    })
}

/// Why a load balancer is not as it should be, if that is more than that it takes its time.
fn failures(lb: &LoadBalancer) -> Option<String> {
    let conditions = &lb.status.as_ref()?.conditions;
    let is_failure = |condition: &&Condition| {
        let types = [condition_types::CREATED, condition_types::ATTRIBUTES_SYNCED];
        types.contains(&condition.type_.as_str())
            && condition.status == ConditionStatus::False
            && condition.reason != reasons::CREATING
            && !condition.message.is_empty()
    };
    let failure = conditions.iter().find(is_failure)?;
    let name = name_of(&lb.metadata);
    Some(format!("LoadBalancer {name}: {}", failure.message))
}
