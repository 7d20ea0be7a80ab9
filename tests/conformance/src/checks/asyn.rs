//! Running: long operations that controllers poll.

mod interrupted;
mod polling;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &polling::ASYN_01,
    &polling::ASYN_02,
    &polling::ASYN_03,
    &polling::ASYN_04,
    &polling::ASYN_05,
    &interrupted::ASYN_06,
    &interrupted::ASYN_07,
];
