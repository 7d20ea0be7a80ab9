//! healthz: whether the driver can work, as probes and controllers ask.

mod asked;
mod at_work;

use crate::check::Check;
use crate::lab::{Answer, Call};
use lbcf_driver_sdk::webhook::{Healthz, HealthzRequest};

/// The checks about healthz.
pub(super) const CHECKS: &[&Check] = &[&asked::HLTH_01, &at_work::HLTH_02, &asked::HLTH_03];

/// Can the driver work?
fn health() -> Call {
    Call::of::<Healthz>(&HealthzRequest {})
}

/// What an answer says about the driver's health, for people.
fn said(answer: &Answer) -> String {
    if answer.is_answer() && answer.healthy().is_none() {
        return "an answer without healthy".to_owned();
    }
    answer.said()
}
