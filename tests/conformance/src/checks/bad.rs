//! Bad input: no controller sends it, but scanners, wrong configurations and broken proxies do. A
//! driver rejects it, changes nothing, and keeps working.

mod broken;
mod large;
mod paths;
mod recovery;
mod types;
mod valid_calls;
mod verify;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &broken::BAD_01,
    &types::BAD_02,
    &paths::BAD_03,
    &large::BAD_04,
    &recovery::BAD_05,
];
