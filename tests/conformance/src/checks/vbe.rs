//! validateBackend, called while a user waits.

mod decision;
mod repeated;
mod update;

use crate::check::Check;
use crate::lab::{DriverReply, Lab};
use crate::outcome::{CheckError, CheckOutcome};
use lbcf_driver_sdk::webhook::StringMap;

pub(super) const CHECKS: &[&Check] = &[
    &decision::VBE_01,
    &decision::VBE_02,
    &decision::VBE_03,
    &update::VBE_04,
    &repeated::VBE_05,
];

/// The fixture's valid parameters, or else empty ones.
fn valid(lab: &Lab) -> Vec<StringMap> {
    let samples = &lab.fixture().backend.valid;
    if samples.is_empty() {
        return vec![StringMap::new()];
    }
    samples.iter().map(|map| lab.filled(map)).collect()
}

/// Requires `succ: true`, unless the fixture has no valid sample.
fn accepted(lab: &Lab, reply: &DriverReply, since: &str) -> CheckOutcome {
    if lab.fixture().backend.valid.is_empty() && reply.decision() == Some(false) {
        return Err(CheckError::Skipped(
            "the driver rejects backends without parameters: needs backend.parameters.valid in \
             the fixture"
                .into(),
        ));
    }
    reply.accepted(since).map(drop)
}
