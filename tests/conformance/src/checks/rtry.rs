//! Repeated calls: what a recordID is and is not, and what happens to calls that somebody gave up.

mod after_failure;
mod given_up;
mod record_ids;

use crate::check::Check;

/// The checks about repeated calls.
pub(super) const CHECKS: &[&Check] = &[
    &record_ids::RTRY_01,
    &given_up::RTRY_02,
    &after_failure::RTRY_03,
    &record_ids::RTRY_04,
    &after_failure::RTRY_05,
    &after_failure::RTRY_06,
];
