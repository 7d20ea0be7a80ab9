//! Make before break: backends that an owner no longer wants and that still serve stay registered until those that
//! replace them are. No I/O, no clock.

use super::backend::source_of;
use super::counts::BackendCounts;
use crate::api::{BackendRecord, Condition, ConditionStatus, Conditions, condition_types, reasons};
use crate::index::{PodView, counts_as_registered};
use jiff::Timestamp;

/// True if the backend of a record can still serve. It is known of a pod at the address that the record was
/// created for, and of an address in a spec.
pub(super) fn may_wait(record: &BackendRecord, pod: Option<&PodView>) -> bool {
    let spec = &record.spec;
    let address = match &spec.endpoint_backend {
        Some(endpoint) => Some(&endpoint.address),
        None => source_of(record),
    };
    let serves = match pod {
        Some(pod) => pod.is_available() && address == Some(&pod.ip),
        None => spec.static_addr.is_some(),
    };
    serves && counts_as_registered(record)
}

/// True if everything is registered that an owner wants, which may be nothing.
pub(super) const fn is_replaced(counts: &BackendCounts) -> bool {
    counts.registered >= counts.backends
}

/// When the replacement began that is stored.
pub(super) fn began(conditions: &[Condition]) -> Option<Timestamp> {
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
