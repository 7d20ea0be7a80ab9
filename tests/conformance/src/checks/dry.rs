//! Dry runs: answered like any call, and nothing changes.

mod nothing_changes;
mod real;

use crate::check::Check;

/// The checks about dry runs.
pub(super) const CHECKS: &[&Check] = &[
    &nothing_changes::DRY_01,
    &nothing_changes::DRY_02,
    &real::DRY_03,
    &real::DRY_04,
    &real::DRY_05,
];
