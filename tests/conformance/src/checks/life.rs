//! Whole lives: what single calls do not show.

mod rolling;
pub(super) mod walk;
mod whole;
mod wrong_order;

use crate::check::Check;

/// The checks about whole lives.
pub(super) const CHECKS: &[&Check] = &[
    &whole::LIFE_01,
    &whole::LIFE_02,
    &whole::LIFE_03,
    &rolling::LIFE_04,
    &whole::LIFE_05,
    &wrong_order::LIFE_06,
];
