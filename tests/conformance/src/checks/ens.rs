//! ensureBackend: registering backends and setting their parameters.

mod other_backends;
pub(super) mod registration;
mod repeated;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &registration::ENS_01,
    &repeated::ENS_02,
    &registration::ENS_03,
    &repeated::ENS_04,
    &repeated::ENS_05,
    &other_backends::ENS_06,
    &other_backends::ENS_07,
    &registration::ENS_08,
    &repeated::ENS_09,
];
