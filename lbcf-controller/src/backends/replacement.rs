//! Make before break: backends that an owner no longer wants and that still serve stay registered until those that
//! replace them are, or for [`Options::replacement_timeout`](crate::Options).

use super::counts::BackendCounts;
use super::decide::BackendsState;
use super::plan::RecordPlan;
use super::status::{OwnerKind, counts};
use crate::api::{
    BackendRecord, Condition, ConditionStatus, Conditions, ObjectKey, condition_types, reasons,
};
use crate::cluster::EventType::Warning;
use crate::cluster::Regarding;
use crate::index::{Owner, PodView, controller_of, counts_as_registered};
use crate::runtime::Context;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Takes the deletions out of a plan that have to wait.
pub(super) fn hold<K: OwnerKind>(context: &Context, state: &BackendsState, plan: &mut RecordPlan) {
    let owner = &state.owner;
    let mut index = context.index();
    if index.has_leaving() {
        let deleted: BTreeSet<ObjectKey> = keys(&plan.delete).collect();
        for key in keys(&state.records).filter(|key| !deleted.contains(key)) {
            index.stay(owner, &key);
        }
    }
    let object = index.find::<K>(owner.key());
    let Some(object) = object.filter(|_| !context.options.replacement_timeout.is_zero()) else {
        return;
    };
    if state.is_deleting() {
        return;
    }
    let status = object.status().cloned().unwrap_or_default();
    plan.delete.retain(|record| {
        let pod = record.spec.pod_backend.as_ref();
        let pod = pod.map(|pod| ObjectKey::new(owner.key().namespace.clone(), pod.name.as_str()));
        let pod = pod.and_then(|pod| index.find::<PodView>(&pod));
        let waits = is_own(record, &*object)
            && may_wait(record, pod.as_deref())
            && object.has_load_balancer_of(&index, &status, record);
        !(waits && index.leave(owner, ObjectKey::of(&**record)))
    });
}

fn keys(records: &[Arc<BackendRecord>]) -> impl Iterator<Item = ObjectKey> {
    records.iter().map(|record| ObjectKey::of(&**record))
}

/// An object of the same name as the owner of a record cannot replace its backend before the record is gone.
fn is_own<K: OwnerKind>(record: &BackendRecord, object: &K) -> bool {
    let owner = controller_of(record).map(|owner| owner.uid.as_str());
    owner.is_none() || owner == object.meta().uid.as_deref()
}

/// True if the backend of a record can still serve. It is known of a pod at the address that the record was
/// created for, and of an address in a spec.
fn may_wait(record: &BackendRecord, pod: Option<&PodView>) -> bool {
    let spec = &record.spec;
    let address = match &spec.endpoint_backend {
        Some(endpoint) => Some(&endpoint.address),
        None => super::source_of(record),
    };
    let serves = match pod {
        Some(pod) => pod.is_available() && address == Some(&pod.ip),
        None => spec.static_addr.is_some(),
    };
    serves && counts_as_registered(record)
}

/// Lets the records of an owner go whose wait is over. Returns the rest of the wait of those that stay.
pub(super) fn advance<K: OwnerKind>(context: &Context, owner: &Owner) -> Option<Duration> {
    let key = owner.request_key();
    let mut index = context.index();
    let object = index.find::<K>(owner.key())?;
    if !index.is_replacing(owner) {
        context.memory.end_replacement(&key);
        return None;
    }
    let mut status = object.status().cloned().unwrap_or_default();
    let load_balancers = object.load_balancers(&index, &status);
    let (_, counts) = counts(&index, owner, &*object, &load_balancers);
    let is_replaced = is_replaced(&counts);
    let stored = began(K::conditions(&mut status));
    let lasted = context.memory.replacing(&key, stored);
    let left = context.options.replacement_timeout.saturating_sub(lasted);
    if !is_replaced && !left.is_zero() {
        return Some(left);
    }
    let released = index.release_leaving(owner);
    drop(index);
    context.memory.end_replacement(&key);
    if !is_replaced {
        let timeout = lbcf_serving::duration::display(context.options.replacement_timeout);
        let message = format!(
            "{released} backends that are not selected any more leave after {timeout}, although what replaces them is not registered yet"
        );
        let regarding = Regarding::owner(&*object);
        let recorder = &context.recorder;
        recorder.record(
            &regarding,
            Warning,
            reasons::REPLACEMENT_TIMED_OUT,
            &message,
        );
    }
    Some(Duration::ZERO)
}

/// True if everything is registered that an owner wants, which may be nothing.
const fn is_replaced(counts: &BackendCounts) -> bool {
    counts.registered >= counts.backends
}

/// When the replacement began that is stored.
fn began(conditions: &[Condition]) -> Option<Timestamp> {
    let condition = conditions.find(condition_types::REPLACING);
    let condition = condition.filter(|it| it.status == ConditionStatus::True)?;
    condition.last_transition_time.as_deref()?.parse().ok()
}

/// The condition of an owner. It keeps when the replacement began, for the next process.
pub(super) fn condition(
    conditions: &[Condition],
    is_replacing: bool,
    generation: Option<i64>,
) -> Option<Condition> {
    let type_ = condition_types::REPLACING;
    if is_replacing {
        let message = "backends that are not selected any more stay registered until those that replace them are";
        let condition = Condition::unmet(type_, reasons::AWAITING_REPLACEMENT, message, generation);
        return Some(condition.with_status(ConditionStatus::True));
    }
    let is_stored = conditions.is_true(type_);
    is_stored.then(|| Condition::unmet(type_, reasons::RESOLVED, "", generation))
}

#[cfg(test)]
mod tests;
