//! Repeated calls: the meaning of recordIDs, and calls whose connection was closed.

mod after_failure;
mod closed;
mod record_ids;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &record_ids::RTRY_01,
    &closed::RTRY_02,
    &after_failure::RTRY_03,
    &record_ids::RTRY_04,
    &after_failure::RTRY_05,
    &after_failure::RTRY_06,
];
