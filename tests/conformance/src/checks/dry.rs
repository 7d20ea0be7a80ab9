//! Dry runs: with the response of a real call, and without changes.

mod real;
mod unchanged;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &unchanged::DRY_01,
    &unchanged::DRY_02,
    &real::DRY_03,
    &real::DRY_04,
    &real::DRY_05,
];
