//! ensureBackend: registering backends, and bringing their parameters to what is wanted.

pub(super) mod basis;
mod others;
mod repeated;

use crate::check::Check;

/// The checks about ensureBackend.
pub(super) const CHECKS: &[&Check] = &[
    &basis::ENS_01,
    &repeated::ENS_02,
    &basis::ENS_03,
    &repeated::ENS_04,
    &repeated::ENS_05,
    &others::ENS_06,
    &others::ENS_07,
    &basis::ENS_08,
    &repeated::ENS_09,
];
