//! Comparing an owner's desired records with its existing ones (b113). No I/O, no clock.

use super::backend::source_of;
use crate::api::{BackendRecord, EnsurePolicy, ObjectExt, PodBackendRecord, StringMap};
use crate::index::controller_of;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct RecordPlan {
    pub delete: Vec<Arc<BackendRecord>>,
    /// The old states, and the new ones, which have another spec, other labels, or an owner.
    pub update: Vec<(Arc<BackendRecord>, BackendRecord)>,
    pub create: Vec<BackendRecord>,
    /// By names of records to create: the name to use instead where another owner's record has it (u21).
    pub other_names: BTreeMap<String, String>,
}

impl RecordPlan {
    /// True if the plan sets the controller reference of a record without one.
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
    /// Other names that a record may have, and its name here.
    pub aliases: BTreeMap<String, String>,
}

/// The settings that an owner copies to each of its records.
#[derive(Debug, Clone)]
pub(crate) struct RecordSettings<'a> {
    /// None for an owner that was never stored.
    pub owner: Option<&'a OwnerReference>,
    pub parameters: &'a StringMap,
    pub ensure_policy: Option<EnsurePolicy>,
}

/// Plans how existing records become the desired ones. Records are kept whose load balancer's state
/// is unknown (u9).
pub(crate) fn compare(
    mut desired: DesiredRecords,
    existing: &[Arc<BackendRecord>],
    settings: &RecordSettings<'_>,
    is_unknown: impl Fn(&BackendRecord) -> bool,
) -> RecordPlan {
    let mut plan = RecordPlan::default();
    for record in existing {
        let name = record.metadata.name.as_deref().unwrap_or_default();
        let name = desired.aliases.get(name).map_or(name, String::as_str);
        let new = desired.records.remove(name);
        if record.is_deleting() {
            continue; // A new record is created when this one is removed.
        }
        match new {
            Some(new) if !is_same_backend(record, &new) => plan.delete.push(Arc::clone(record)),
            Some(new) => plan.update.extend(updated(record, settings, Some(&new))),
            None if desired.kept.contains(name) => {
                plan.update.extend(updated(record, settings, None));
            }
            None if is_unknown(record) => {}
            None => plan.delete.push(Arc::clone(record)),
        }
    }
    plan.create = desired.records.into_values().collect();
    let names = desired.aliases.into_iter();
    plan.other_names = names.map(|(other, name)| (name, other)).collect();
    plan
}

/// A record whose backend or load balancer was replaced by another one of the same name has to be
/// deleted and created again, because it has another address (u13). One without a controller can
/// be adopted (d34).
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
        // The original controller stored no source (d27).
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
/// called with it (u36).
fn updated(
    record: &Arc<BackendRecord>,
    settings: &RecordSettings<'_>,
    desired: Option<&BackendRecord>,
) -> Option<(Arc<BackendRecord>, BackendRecord)> {
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

/// True if a record has the desired labels; it may have others too.
fn has_labels_of(record: &BackendRecord, desired: &BackendRecord) -> bool {
    let (labels, mut desired) = (record.labels(), desired.labels().iter());
    desired.all(|(label, value)| labels.get(label) == Some(value))
}

#[cfg(test)]
mod tests;
