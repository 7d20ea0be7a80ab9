//! Reasons of conditions and events, as docs/reasons.md lists them: what each means and what helps.

mod conditions;
mod events;
mod row;

pub use conditions::*;
pub use events::*;
use lbcf_driver_sdk::webhook::Reason;
pub use row::ReportReason;

/// Every reason of conditions and events.
pub fn all() -> impl Iterator<Item = &'static ReportReason> {
    let results = OPERATIONS
        .iter()
        .flat_map(|it| [it.running, it.failed, it.invalid]);
    CONDITIONS.iter().chain(EVENTS).copied().chain(results)
}

/// The row of a reason of conditions or events.
#[must_use]
pub fn find(name: &str) -> Option<&'static ReportReason> {
    all().find(|row| ***row == *name)
}

/// The reason of a driver's failure.
pub(crate) fn of_driver(reason: Reason) -> &'static ReportReason {
    let named = CONDITIONS.iter().find(|it| ***it == *reason.name());
    named.copied().unwrap_or(OPERATION_FAILED)
}
