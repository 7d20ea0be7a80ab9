//! Faults by rule: which calls of the driver's webhooks fail, and how. Rules are data, the first one
//! that matches a call wins, and the cloud behind the driver stays right.
//!
//! [`decide`] is a pure function of rules and call; [`crate::calls`] carries its result out. The
//! rules belong to the cloud, so they outlive restarts of the driver. An outage of the cloud's own
//! API is something else: there the driver works, and says that the cloud does not.

mod decide;
mod read;
mod rule;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use decide::{Effect, Fault, FaultTarget};
pub use read::{FaultPreset, IN_BAND_FAULT};
pub(crate) use read::{parse_rules, read_file};
pub use rule::{
    DelayFault, FailFault, FaultAction, FaultMatch, FaultRule, HttpStatusFault, RunningFault,
};
pub use table::{FaultStatus, FaultTable};
