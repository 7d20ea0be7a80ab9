//! listBackends: the backends of a load balancer, with which controllers find what was left over.

mod listed;
mod origin;
mod registered;

pub(super) use listed::list;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &registered::LST_01,
    &registered::LST_02,
    &registered::LST_03,
    &origin::LST_04,
    &origin::LST_05,
    &registered::LST_06,
];
