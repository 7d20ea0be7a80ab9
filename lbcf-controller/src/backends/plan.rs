//! Comparing an owner's desired records with its existing ones (b113). No I/O, no clock.

use super::source_of;
use crate::api::{BackendRecord, EnsurePolicy, StringMap};
use crate::object::ObjectExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct RecordPlan {
    pub delete: Vec<Arc<BackendRecord>>,
    /// The old states, and the new ones, which have another spec.
    pub update: Vec<(Arc<BackendRecord>, BackendRecord)>,
    pub create: Vec<BackendRecord>,
}

#[derive(Debug, Default)]
pub(crate) struct DesiredRecords {
    pub records: BTreeMap<String, BackendRecord>,
    /// The names of records that are kept if they exist, and not created otherwise.
    pub kept: BTreeSet<String>,
    /// Other names that a record may have, and its name here.
    pub aliases: BTreeMap<String, String>,
}

/// What an owner sets in each of its records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordSettings<'a> {
    pub parameters: &'a StringMap,
    pub ensure_policy: Option<&'a EnsurePolicy>,
}

/// Plans how existing records become the desired ones. Records are kept whose load balancer's state
/// is unknown (u9).
pub(crate) fn compare(
    mut desired: DesiredRecords,
    existing: &[Arc<BackendRecord>],
    settings: RecordSettings<'_>,
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
            Some(new) => {
                let attributes = Some(new.spec.lb_attributes);
                plan.update.extend(updated(record, settings, attributes));
            }
            None if desired.kept.contains(name) => {
                plan.update.extend(updated(record, settings, None));
            }
            None if is_unknown(record) => {}
            None => plan.delete.push(Arc::clone(record)),
        }
    }
    plan.create = desired.records.into_values().collect();
    plan
}

/// A record whose backend or load balancer was replaced by another one of the same name has to be
/// deleted and created again, because it has another address (u13).
fn is_same_backend(existing: &BackendRecord, desired: &BackendRecord) -> bool {
    let owner = |record: &BackendRecord| {
        let owners = record.metadata.owner_references.iter().flatten();
        owners.map(|owner| owner.uid.clone()).next()
    };
    let source = source_of(existing);
    existing.spec.lb_driver == desired.spec.lb_driver
        && existing.spec.lb_info == desired.spec.lb_info
        && existing.spec.service_backend == desired.spec.service_backend
        // The original controller stored no source (d27).
        && (source.is_none() || source == source_of(desired))
        && owner(existing) == owner(desired)
}

/// The record with its owner's settings; none if it has them. A change of `lbAttributes` alone is
/// not written, as no webhook would be called with it (u36).
fn updated(
    record: &Arc<BackendRecord>,
    settings: RecordSettings<'_>,
    lb_attributes: Option<StringMap>,
) -> Option<(Arc<BackendRecord>, BackendRecord)> {
    if record.spec.parameters == *settings.parameters
        && record.spec.ensure_policy.as_ref() == settings.ensure_policy
    {
        return None;
    }
    let mut updated = (**record).clone();
    updated.spec.parameters = settings.parameters.clone();
    updated.spec.ensure_policy = settings.ensure_policy.cloned();
    if let Some(attributes) = lb_attributes {
        updated.spec.lb_attributes = attributes;
    }
    Some((Arc::clone(record), updated))
}
