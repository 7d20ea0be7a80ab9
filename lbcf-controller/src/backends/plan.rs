//! What is to be done about an owner's records: the difference between those that shall be and
//! those that are (b113). No I/O, no clock.

use crate::api::{BackendRecord, EnsurePolicy, StringMap};
use crate::names::ANNOTATION_SOURCE;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

/// The records that shall be.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// Those that are made where they are missing, by name.
    pub wanted: BTreeMap<String, BackendRecord>,
    /// The names of those that stay where they are there.
    pub protected: BTreeSet<String>,
    /// Other names that a record may stand under, and the name that it has here.
    pub aliases: BTreeMap<String, String>,
}

/// What every record of an owner has from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    /// What backends are registered with.
    pub parameters: &'a StringMap,
    /// Whether they are ensured again and again.
    pub ensure_policy: Option<&'a EnsurePolicy>,
}

/// Compares what shall be with what is. `is_unknown` says of a record that nothing can be told
/// about its load balancer, so that it stays (u9).
#[must_use]
pub(crate) fn compare(
    mut expected: Expected,
    records: &[Arc<BackendRecord>],
    settings: Settings<'_>,
    is_unknown: impl Fn(&BackendRecord) -> bool,
) -> Plan {
    let mut plan = Plan::default();
    for record in records {
        let name = record.metadata.name.as_deref().unwrap_or_default();
        let name = expected.aliases.get(name).map_or(name, String::as_str);
        let wanted = expected.wanted.remove(name);
        if record.metadata.deletion_timestamp.is_some() {
            continue; // What is wanted in its place is made when it is gone.
        }
        match wanted {
            Some(wanted) if !is_same_backend(record, &wanted) => {
                plan.delete.push(Arc::clone(record));
            }
            Some(wanted) => {
                let updated = updated(record, settings, Some(wanted.spec.lb_attributes));
                plan.update.extend(updated);
            }
            None if expected.protected.contains(name) => {
                plan.update.extend(updated(record, settings, None));
            }
            None if is_unknown(record) => {}
            None => plan.delete.push(Arc::clone(record)),
        }
    }
    plan.create = expected.wanted.into_values().collect();
    plan
}

/// A record whose backend or load balancer became another one under the same name has to go and
/// come back: its address is another one (u13).
fn is_same_backend(record: &BackendRecord, wanted: &BackendRecord) -> bool {
    let owner = |record: &BackendRecord| {
        let owners = record.metadata.owner_references.iter().flatten();
        owners.map(|owner| owner.uid.clone()).next()
    };
    record.spec.lb_driver == wanted.spec.lb_driver
        && record.spec.lb_info == wanted.spec.lb_info
        && record.spec.service_backend == wanted.spec.service_backend
        && is_same_source(record, wanted)
        && owner(record) == owner(wanted)
}

/// Whether the address was made of what it would be made of now. The original controller did not
/// say what it was made of: that is let be (d27).
fn is_same_source(record: &BackendRecord, wanted: &BackendRecord) -> bool {
    let source = |record: &BackendRecord| {
        let annotations = record.metadata.annotations.as_ref();
        annotations.and_then(|annotations| annotations.get(ANNOTATION_SOURCE).cloned())
    };
    source(record).is_none_or(|said| Some(said) == source(wanted))
}

/// The record with its owner's settings; none where it has them. u36: a change of `lbAttributes`
/// alone is no reason, as no webhook would get to know of it.
fn updated(
    record: &Arc<BackendRecord>,
    settings: Settings<'_>,
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
