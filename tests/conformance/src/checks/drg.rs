//! deregisterBackend: what is gone, or was never there, counts as taken away.

pub(super) mod basis;
mod nothing_there;

use crate::check::Check;

/// The checks about deregisterBackend.
pub(super) const CHECKS: &[&Check] = &[
    &basis::DRG_01,
    &nothing_there::DRG_02,
    &nothing_there::DRG_03,
    &nothing_there::DRG_04,
    &basis::DRG_05,
    &basis::DRG_06,
    &nothing_there::DRG_07,
    &basis::DRG_08,
];
