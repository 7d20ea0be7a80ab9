//! The wire format. Most of these checks make hardly any calls: they verify every response of the run.

mod requests;
mod responses;
mod status;
mod verify;

use crate::check::Check;

pub(super) const CHECKS: &[&Check] = &[
    &status::WIRE_01,
    &responses::WIRE_02,
    &responses::WIRE_03,
    &responses::WIRE_04,
    &responses::WIRE_05,
    &responses::WIRE_06,
    &requests::WIRE_07,
    &requests::WIRE_08,
    &status::WIRE_09,
    &requests::WIRE_10,
    &responses::WIRE_11,
    &requests::WIRE_12,
    &responses::WIRE_13,
];
