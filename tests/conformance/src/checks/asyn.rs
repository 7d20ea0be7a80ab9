//! Running: operations that take their time, and are asked about until they are done.

mod interrupted;
mod polled;

use crate::check::Check;

/// The checks about Running.
pub(super) const CHECKS: &[&Check] = &[
    &polled::ASYN_01,
    &polled::ASYN_02,
    &polled::ASYN_03,
    &polled::ASYN_04,
    &polled::ASYN_05,
    &interrupted::ASYN_06,
    &interrupted::ASYN_07,
];
