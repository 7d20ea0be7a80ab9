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
    condition.since()
}

/// The condition of an owner whose backends are being replaced. It keeps when that began, for the next process.
pub(super) fn condition(generation: Option<i64>) -> Condition {
    let message =
        "backends that are not selected any more stay registered until those that replace them are";
    let (type_, reason) = (condition_types::REPLACING, reasons::AWAITING_REPLACEMENT);
    Condition::unmet(type_, reason, message, generation).with_status(ConditionStatus::True)
}

#[cfg(test)]
mod tests;
