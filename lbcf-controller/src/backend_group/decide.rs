//! Which records a group makes, changes and deletes. No I/O, no clock.

use super::expected;
use super::load_balancer_state::LoadBalancerState;
use crate::api::{
    BackendGroup, BackendGroupStatus, BackendRecord, Conditions, DeregisterPolicy, condition_types,
};
use crate::index::PodView;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What deciding looks at.
#[derive(Debug)]
pub(crate) struct View {
    /// The group.
    pub group: Arc<BackendGroup>,
    /// Its load balancers, by the names it uses.
    pub load_balancers: BTreeMap<String, LoadBalancerState>,
    /// The pods that it selects.
    pub pods: Vec<Arc<PodView>>,
    /// The records that it owns.
    pub records: Vec<Arc<BackendRecord>>,
}

/// What is to be done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// Records to delete.
    pub delete: Vec<Arc<BackendRecord>>,
    /// Records whose spec changes, with the new spec in them.
    pub update: Vec<(Arc<BackendRecord>, BackendRecord)>,
    /// Records to make.
    pub create: Vec<BackendRecord>,
    /// The status that the group shall have.
    pub status: BackendGroupStatus,
}

/// Decides what is to be done. A group that is going does nothing: the cluster collects its
/// records, and their finalizers take the backends away (b106).
#[must_use]
pub(crate) fn decide(view: &View) -> Plan {
    let group = &*view.group;
    if group.metadata.deletion_timestamp.is_some() || !is_supported(group) {
        return Plan {
            status: group.status.clone().unwrap_or_default(),
            ..Plan::default()
        };
    }
    let usable = expected::usable(&view.load_balancers);
    let ports = group
        .spec
        .pods
        .as_ref()
        .map(expected::ports)
        .unwrap_or_default();
    let mut wanted: BTreeMap<String, BackendRecord> = BTreeMap::new();
    let mut protected: BTreeSet<String> = BTreeSet::new();
    for pod in &view.pods {
        let is_kept = !pod.is_available() && keeps_place(pod, group.spec.deregister_policy);
        for lb in &usable {
            for port in &ports {
                if pod.is_available() {
                    let record = expected::record(group, lb, pod, *port);
                    wanted.insert(record.metadata.name.clone().unwrap_or_default(), record);
                } else if is_kept {
                    protected.insert(expected::name(group, lb.name, pod, *port));
                }
            }
        }
    }

    let mut plan = Plan {
        status: status(view, usable.len() * ports.len()),
        ..Plan::default()
    };
    for record in &view.records {
        let name = record.metadata.name.as_deref().unwrap_or_default();
        let wanted = wanted.remove(name);
        if record.metadata.deletion_timestamp.is_some() {
            continue; // What is wanted in its place is made when it is gone.
        }
        match wanted {
            Some(wanted) if !is_same_backend(record, &wanted) => {
                plan.delete.push(Arc::clone(record));
            }
            Some(wanted) if needs_update(record, &wanted) => {
                plan.update
                    .push((Arc::clone(record), updated(record, wanted)));
            }
            Some(_) => {}
            None if protected.contains(name) => {
                let mut kept = (**record).clone();
                kept.spec.parameters = group.spec.parameters.clone();
                kept.spec
                    .ensure_policy
                    .clone_from(&group.spec.ensure_policy);
                if needs_update(record, &kept) {
                    plan.update.push((Arc::clone(record), kept));
                }
            }
            None if is_unknown(view, record) => {}
            None => plan.delete.push(Arc::clone(record)),
        }
    }
    plan.create = wanted.into_values().collect();
    plan
}

/// Services and static addresses are another controller's until this one knows them: what it has
/// registered for them stays.
pub(crate) fn is_supported(group: &BackendGroup) -> bool {
    group.spec.service.is_none() && group.spec.static_addresses.is_empty()
}

/// Whether a pod that may not be registered anew keeps what is registered (b109, b110). One that
/// is being deleted never does.
fn keeps_place(pod: &PodView, policy: Option<DeregisterPolicy>) -> bool {
    !pod.deleting
        && match policy.unwrap_or_default() {
            DeregisterPolicy::IfNotReady => false,
            DeregisterPolicy::IfNotRunning => pod.has_ip && pod.running,
            // As long as no driver is asked, the harmless answer (`DoNothing`) stands.
            DeregisterPolicy::Webhook => true,
        }
}

/// A record whose backend or load balancer became another one under the same name has to go and
/// come back: its address is another one (u13).
fn is_same_backend(record: &BackendRecord, wanted: &BackendRecord) -> bool {
    let owner = |record: &BackendRecord| {
        record
            .metadata
            .owner_references
            .iter()
            .flatten()
            .map(|owner| owner.uid.clone())
            .next()
    };
    record.spec.lb_driver == wanted.spec.lb_driver
        && record.spec.lb_info == wanted.spec.lb_info
        && owner(record) == owner(wanted)
}

/// u36: a change of `lbAttributes` alone is no reason, as no webhook would get to know of it.
fn needs_update(record: &BackendRecord, wanted: &BackendRecord) -> bool {
    record.spec.parameters != wanted.spec.parameters
        || record.spec.ensure_policy != wanted.spec.ensure_policy
}

fn updated(record: &BackendRecord, wanted: BackendRecord) -> BackendRecord {
    let mut updated = record.clone();
    updated.spec.parameters = wanted.spec.parameters;
    updated.spec.ensure_policy = wanted.spec.ensure_policy;
    updated.spec.lb_attributes = wanted.spec.lb_attributes;
    updated
}

fn is_unknown(view: &View, record: &BackendRecord) -> bool {
    view.load_balancers.get(&record.spec.lb_name) == Some(&LoadBalancerState::Unknown)
}

/// d8: a backend counts as registered when all its records are.
fn status(view: &View, records_per_pod: usize) -> BackendGroupStatus {
    let mut registered: BTreeMap<&str, usize> = BTreeMap::new();
    let mut registered_records = 0;
    for record in &view.records {
        let status = record.status.as_ref();
        let is_registered = record.metadata.deletion_timestamp.is_none()
            && status.is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED));
        if is_registered {
            registered_records += 1;
            if let Some(pod) = &record.spec.pod_backend {
                *registered.entry(&pod.name).or_default() += 1;
            }
        }
    }
    let selected = view.pods.iter().filter(|pod| !pod.deleting);
    let done = selected.clone().filter(|pod| {
        records_per_pod > 0
            && registered
                .get(pod.key.name.as_str())
                .is_some_and(|count| *count >= records_per_pod)
    });
    let backends = selected.clone().count();
    BackendGroupStatus {
        backends: to_i32(backends),
        registered_backends: to_i32(done.count()),
        records: to_i32(backends * records_per_pod),
        registered_records,
        observed_generation: view.group.metadata.generation,
    }
}

fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
