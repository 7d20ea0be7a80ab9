//! Life cycles, which show more than single calls.

pub(super) mod cycle;
mod deletion_order;
mod rolling_update;
mod variants;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &variants::LIFE_01,
    &variants::LIFE_02,
    &variants::LIFE_03,
    &rolling_update::LIFE_04,
    &variants::LIFE_05,
    &deletion_order::LIFE_06,
];
