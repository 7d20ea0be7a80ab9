//! Bad input: what no controller sends, but what scanners, wrong configurations and broken proxies do.
//! A driver says no, does nothing, and goes on.

mod after;
mod broken;
mod judging;
mod large;
mod paths;
mod stage;
mod types;

use crate::check::Check;

/// The checks about bad input.
pub(super) const CHECKS: &[&Check] = &[
    &broken::BAD_01,
    &types::BAD_02,
    &paths::BAD_03,
    &large::BAD_04,
    &after::BAD_05,
];
