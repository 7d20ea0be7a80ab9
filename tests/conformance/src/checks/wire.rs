//! The wire format. Most of these checks make hardly a call: they judge every answer that the
//! driver gave in the whole run.

mod form;
mod judging;
mod requests;
mod status;

use crate::check::Check;

/// The checks about the wire format.
pub(super) const CHECKS: &[&Check] = &[
    &status::WIRE_01,
    &form::WIRE_02,
    &form::WIRE_03,
    &form::WIRE_04,
    &form::WIRE_05,
    &form::WIRE_06,
    &requests::WIRE_07,
    &requests::WIRE_08,
    &status::WIRE_09,
    &requests::WIRE_10,
    &form::WIRE_11,
    &requests::WIRE_12,
    &form::WIRE_13,
];
