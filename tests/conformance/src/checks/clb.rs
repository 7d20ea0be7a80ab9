//! createLoadBalancer: making load balancers, once.

mod basis;
mod refused;
mod repeated;

use crate::check::Check;

/// The checks about createLoadBalancer.
pub(super) const CHECKS: &[&Check] = &[
    &basis::CLB_01,
    &basis::CLB_02,
    &repeated::CLB_03,
    &repeated::CLB_04,
    &refused::CLB_05,
    &repeated::CLB_06,
    &basis::CLB_07,
];
