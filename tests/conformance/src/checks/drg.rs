//! deregisterBackend: also of backends that were never registered or are deregistered already.

pub(super) mod registered;
mod unregistered;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &registered::DRG_01,
    &unregistered::DRG_02,
    &unregistered::DRG_03,
    &unregistered::DRG_04,
    &registered::DRG_05,
    &registered::DRG_06,
    &unregistered::DRG_07,
    &registered::DRG_08,
];
