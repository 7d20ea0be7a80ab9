//! Which records a group makes, changes and deletes. No I/O, no clock.

use super::expected::{self, Backend};
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
}

/// Decides what is to be done. A group that is going does nothing: the cluster collects its
/// records, and their finalizers take the backends away (b106).
#[must_use]
pub(crate) fn decide(view: &View) -> Plan {
    let group = &*view.group;
    if group.metadata.deletion_timestamp.is_some() || !is_supported(group) {
        return Plan::default();
    }
    let usable = expected::usable(&view.load_balancers);
    let selected = select(view);
    let mut wanted: BTreeMap<String, BackendRecord> = BTreeMap::new();
    let mut protected: BTreeSet<String> = BTreeSet::new();
    for (lb, backend) in usable
        .iter()
        .flat_map(|lb| selected.backends.iter().map(move |backend| (lb, *backend)))
    {
        match standing(backend, group.spec.deregister_policy) {
            Standing::Wanted => {
                let record = expected::record(group, lb, backend);
                wanted.insert(record.metadata.name.clone().unwrap_or_default(), record);
            }
            Standing::Kept => {
                protected.insert(expected::name(group, lb.name, backend));
            }
            Standing::Unwanted => {}
        }
    }

    let mut plan = Plan::default();
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

/// Services are another controller's until this one knows them: what it has registered for them
/// stays.
pub(crate) fn is_supported(group: &BackendGroup) -> bool {
    group.spec.service.is_none()
}

/// What a group selects.
struct Selected<'a> {
    /// What can be registered, once for each load balancer.
    backends: Vec<Backend<'a>>,
    /// What people count as backends (d8): pods that are there to stay, addresses.
    units: Vec<&'a str>,
    /// How many of `backends` make one of `units`.
    backends_per_unit: usize,
}

/// b21: pods come first; a group that has nothing is one of no addresses.
fn select(view: &View) -> Selected<'_> {
    let Some(selection) = &view.group.spec.pods else {
        let mut units: Vec<&str> = Vec::new();
        for addr in &view.group.spec.static_addresses {
            if !addr.is_empty() && !units.contains(&addr.as_str()) {
                units.push(addr);
            }
        }
        let backends = units.iter().map(|&addr| Backend::Static { addr }).collect();
        return Selected {
            backends,
            units,
            backends_per_unit: 1,
        };
    };
    let ports = expected::ports(selection);
    let pods = view.pods.iter();
    Selected {
        backends: pods
            .clone()
            .flat_map(|pod| ports.iter().map(|port| Backend::Pod { pod, port: *port }))
            .collect(),
        units: pods
            .filter(|pod| !pod.deleting)
            .map(|pod| pod.key.name.as_str())
            .collect(),
        backends_per_unit: ports.len(),
    }
}

/// Whether a backend is to be registered.
enum Standing {
    /// Yes.
    Wanted,
    /// Not anew, but what is registered stays.
    Kept,
    /// No.
    Unwanted,
}

fn standing(backend: Backend<'_>, policy: Option<DeregisterPolicy>) -> Standing {
    match backend {
        Backend::Static { .. } => Standing::Wanted,
        Backend::Pod { pod, .. } if pod.is_available() => Standing::Wanted,
        Backend::Pod { pod, .. } if keeps_place(pod, policy) => Standing::Kept,
        Backend::Pod { .. } => Standing::Unwanted,
    }
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

/// Decides the status that the group shall have. A backend counts as registered when all its
/// records are (d8).
#[must_use]
pub(crate) fn decide_status(view: &View) -> BackendGroupStatus {
    let group = &*view.group;
    if group.metadata.deletion_timestamp.is_some() || !is_supported(group) {
        return group.status.clone().unwrap_or_default();
    }
    let selected = select(view);
    let load_balancers = expected::usable(&view.load_balancers).len();
    let mut registered: BTreeMap<&str, usize> = BTreeMap::new();
    let mut registered_records = 0;
    for record in &view.records {
        let status = record.status.as_ref();
        let is_registered = record.metadata.deletion_timestamp.is_none()
            && status.is_some_and(|status| status.conditions.is_true(condition_types::REGISTERED));
        if is_registered {
            registered_records += 1;
            let pod = record.spec.pod_backend.as_ref().map(|pod| &pod.name);
            if let Some(unit) = pod.or(record.spec.static_addr.as_ref()) {
                *registered.entry(unit).or_default() += 1;
            }
        }
    }
    let records_per_unit = selected.backends_per_unit * load_balancers;
    let is_done = |unit: &&&str| {
        records_per_unit > 0
            && registered
                .get(**unit)
                .is_some_and(|count| *count >= records_per_unit)
    };
    BackendGroupStatus {
        backends: to_i32(selected.units.len()),
        registered_backends: to_i32(selected.units.iter().filter(is_done).count()),
        records: to_i32(selected.units.len() * records_per_unit),
        registered_records,
        observed_generation: group.metadata.generation,
    }
}

fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
