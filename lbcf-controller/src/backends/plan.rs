//! Comparing an owner's desired records with its existing ones, and those that cannot be created because another one
//! has their name. No I/O, no clock.

use super::backend::source_of;
use crate::api::{BackendRecord, EnsurePolicy, ObjectExt, PodBackendRecord, StringMap};
use crate::index::{Lookup, Owner, Unit, controller_of, counts_as_registered, unit_of};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The old state, and the new one, which has another spec, other labels, or an owner.
pub(crate) type RecordUpdate = (Arc<BackendRecord>, BackendRecord);

#[derive(Debug, Default, PartialEq)]
pub(crate) struct RecordPlan {
    pub delete: Vec<Arc<BackendRecord>>,
    /// Registered ones whose backends are not ready, which is the only reason to delete them, and their updates if they
    /// stay.
    pub unready: Vec<(Arc<BackendRecord>, Option<RecordUpdate>)>,
    pub update: Vec<RecordUpdate>,
    pub create: Vec<BackendRecord>,
    /// By names of records to create: the other name that they may have.
    pub other_names: BTreeMap<String, String>,
}

impl RecordPlan {
    /// True if records without a controller get one.
    pub(super) fn adopts(&self) -> bool {
        self.update.iter().any(|(old, _)| is_orphan(old))
    }
}

fn is_orphan(record: &BackendRecord) -> bool {
    controller_of(record).is_none()
}

#[derive(Debug, Default)]
pub(crate) struct DesiredRecords {
    pub records: BTreeMap<String, BackendRecord>,
    /// The names of records that are kept if they exist, and not created otherwise.
    pub kept: BTreeSet<String>,
    /// The names of records whose backends are not ready, and deregistered for no other reason.
    pub unready: BTreeSet<String>,
    /// Other names that a record may have, and its name here.
    pub aliases: BTreeMap<String, String>,
    /// The names of records that users created: they are deleted, which deregisters nothing.
    pub foreign: BTreeSet<String>,
    /// The names of records that are being deleted, and beside which a new one cancels the deregistration.
    pub revocable: BTreeSet<String>,
}

impl DesiredRecords {
    /// Takes out those whose backends have records that are being deleted. They are created when those are removed, or
    /// now, under the name that is free, if that cancels the deregistration.
    fn take_cancelling(
        &mut self,
        deleting: &[&Arc<BackendRecord>],
        other_names: &BTreeMap<String, String>,
    ) -> Vec<BackendRecord> {
        let taken: BTreeSet<String> = deleting.iter().map(|it| it.name_any()).collect();
        let mut cancelling = Vec::new();
        for record in deleting {
            let name = record.name_any();
            let first = self.aliases.get(&name).unwrap_or(&name);
            let Some(mut new) = self.records.remove(first) else {
                continue;
            };
            let free = if name == *first {
                other_names.get(first)
            } else {
                Some(first)
            };
            if self.revocable.contains(&name)
                && is_same_backend(record, &new)
                && let Some(free) = free.filter(|name| !taken.contains(*name))
            {
                new.metadata.name = Some(free.clone());
                cancelling.push(new);
            }
        }
        cancelling
    }
}

/// Settings of an owner that each of its records has.
#[derive(Debug, Clone)]
pub(crate) struct RecordSettings<'a> {
    /// None for an owner that was never stored.
    pub owner: Option<&'a OwnerReference>,
    pub parameters: &'a StringMap,
    pub ensure_policy: Option<EnsurePolicy>,
}

/// Plans how existing records become the desired ones. Records are kept whose load balancer's state
/// is unknown.
pub(crate) fn compare(
    mut desired: DesiredRecords,
    existing: &[Arc<BackendRecord>],
    settings: &RecordSettings<'_>,
    is_unknown: impl Fn(&BackendRecord) -> bool,
) -> RecordPlan {
    let mut plan = RecordPlan::default();
    let (deleting, existing): (Vec<_>, Vec<_>) = existing.iter().partition(|it| it.is_deleting());
    for record in existing {
        let name = record.metadata.name.as_deref().unwrap_or_default();
        let is_foreign = desired.foreign.contains(name);
        let name = desired.aliases.get(name).map_or(name, String::as_str);
        match desired.records.remove(name) {
            _ if is_foreign => plan.delete.push(Arc::clone(record)),
            Some(new) if !is_same_backend(record, &new) => plan.delete.push(Arc::clone(record)),
            Some(new) => plan.update.extend(updated(record, settings, Some(&new))),
            None if desired.kept.contains(name) => {
                plan.update.extend(updated(record, settings, None));
            }
            None if is_unknown(record) => {}
            None if desired.unready.contains(name) && counts_as_registered(record) => {
                let update = updated(record, settings, None);
                plan.unready.push((Arc::clone(record), update));
            }
            None => plan.delete.push(Arc::clone(record)),
        }
    }
    let names = desired.aliases.iter();
    plan.other_names = names
        .map(|(other, name)| (name.clone(), other.clone()))
        .collect();
    plan.create = desired.take_cancelling(&deleting, &plan.other_names);
    plan.create.extend(desired.records.into_values());
    plan
}

/// A record whose backend or load balancer was replaced by another one of the same name has to be
/// deleted and created again, because it has another address. One without a controller can
/// be adopted.
fn is_same_backend(existing: &BackendRecord, desired: &BackendRecord) -> bool {
    let owner = |record| controller_of(record).map(|owner| &owner.uid);
    let source = source_of(existing);
    let (is, wanted) = (&existing.spec, &desired.spec);
    is.lb_driver == wanted.lb_driver
        && is.lb_name == wanted.lb_name
        && is.lb_info == wanted.lb_info
        && is.pod_backend.as_ref().map(pod_of) == wanted.pod_backend.as_ref().map(pod_of)
        && is.service_backend == wanted.service_backend
        && is.endpoint_backend == wanted.endpoint_backend
        && is.static_addr == wanted.static_addr
        // The original controller stored no source.
        && (source.is_none() || source == source_of(desired))
        && (is_orphan(existing) || owner(existing) == owner(desired))
}

/// The pod and port, in whichever field an edition of the original controller wrote the port.
fn pod_of(backend: &PodBackendRecord) -> (&str, i32, Protocol) {
    let port = &backend.port;
    (&backend.name, port.number(), port.protocol())
}

/// The record with its owner, settings and labels; none if it has them. Only a desired record has
/// labels to compare with. A change of `lbAttributes` alone is not written, as no webhook would be
/// called with it.
fn updated(
    record: &Arc<BackendRecord>,
    settings: &RecordSettings<'_>,
    desired: Option<&BackendRecord>,
) -> Option<RecordUpdate> {
    let adopter = settings.owner.filter(|_| is_orphan(record));
    let labels = desired.filter(|desired| !has_labels_of(record, desired));
    let has_settings = record.spec.parameters == *settings.parameters
        && record.spec.ensure_policy == settings.ensure_policy;
    if adopter.is_none() && labels.is_none() && has_settings {
        return None;
    }
    let mut updated = (**record).clone();
    if let Some(owner) = adopter {
        let owners = updated.metadata.owner_references.get_or_insert_default();
        owners.retain(|other| other.uid != owner.uid);
        owners.push(owner.clone());
    }
    if let Some(desired) = labels {
        let labels = desired.labels().clone();
        updated.labels_mut().extend(labels);
    }
    if !has_settings {
        updated.spec.parameters = settings.parameters.clone();
        updated.spec.ensure_policy = settings.ensure_policy.clone();
        if let Some(desired) = desired {
            updated.spec.lb_attributes = desired.spec.lb_attributes.clone();
        }
    }
    Some((Arc::clone(record), updated))
}

/// True if a record has the desired labels, among others.
fn has_labels_of(record: &BackendRecord, desired: &BackendRecord) -> bool {
    let (labels, mut desired) = (record.labels(), desired.labels().iter());
    desired.all(|(label, value)| labels.get(label) == Some(value))
}

/// The creations that a plan does not contain because their names are taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TakenNames {
    /// By unit: the record that has the name, and why it is not the one to create.
    pub(super) units: BTreeMap<Unit, String>,
    count: usize,
}

impl TakenNames {
    /// Gives records their other name if they have one, and takes the others out of a plan. The API server
    /// would refuse them.
    pub(super) fn take_from(
        plan: &mut RecordPlan,
        find: impl Fn(&BackendRecord) -> Lookup<Arc<BackendRecord>>,
    ) -> Self {
        let mut taken = Self::default();
        let mut other_names = std::mem::take(&mut plan.other_names);
        plan.create.retain_mut(|record| {
            let mut holder = find(record);
            if can_collide(record)
                && is_of_other_owner(&holder, record)
                && let Some(other) = other_names.remove(&record.name_any())
            {
                record.metadata.name = Some(other);
                holder = find(record);
            }
            let Some(reason) = conflict_with(&holder) else {
                return true;
            };
            let message = format!("BackendRecord {} exists and {reason}", record.name_any());
            let unit = Unit::from(unit_of(record));
            taken.units.entry(unit).or_insert(message);
            taken.count += 1;
            false
        });
        taken
    }

    /// The message to report; none if no name is taken.
    pub(super) fn message(&self) -> Option<String> {
        let first = self.units.values().next()?;
        Some(taken_message(first, self.count - 1))
    }
}

/// A message about backends that are not registered because the names of their records are taken.
pub(crate) fn taken_message(first: &str, others: usize) -> String {
    let others = match others {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    format!("a backend is not registered until the record of its name is gone: {first}{others}")
}

/// True if a record of another Bind can have the same name, as the original's names can collide.
fn can_collide(record: &BackendRecord) -> bool {
    matches!(Owner::of(record), Some(Owner::Bind(_)))
}

fn is_of_other_owner(holder: &Lookup<Arc<BackendRecord>>, record: &BackendRecord) -> bool {
    match holder {
        Lookup::Found(holder) => Owner::of(holder) != Owner::of(record),
        Lookup::Unreadable => true,
        Lookup::Missing => false,
    }
}

fn conflict_with(holder: &Lookup<Arc<BackendRecord>>) -> Option<String> {
    match holder {
        Lookup::Missing => None,
        Lookup::Unreadable => Some("cannot be parsed".to_owned()),
        Lookup::Found(holder) => Some(match controller_of(holder) {
            Some(owner) => format!("is controlled by {} {}", owner.kind, owner.name),
            None => "has neither an owner nor the labels of this one".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
