//! createLoadBalancer.

mod creation;
mod rejected;
mod repeated;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &creation::CLB_01,
    &creation::CLB_02,
    &repeated::CLB_03,
    &repeated::CLB_04,
    &rejected::CLB_05,
    &repeated::CLB_06,
    &creation::CLB_07,
];
