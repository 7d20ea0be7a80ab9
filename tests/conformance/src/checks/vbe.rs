//! validateBackend: whether backends may be registered with these parameters, asked while their
//! user waits.

mod decided;
mod repeated;
mod updated;

use crate::check::Check;
use crate::lab::{Answer, Lab};
use crate::verdict::{NotPassed, Verdict};
use lbcf_driver_sdk::webhook::StringMap;

/// The checks about validateBackend.
pub(super) const CHECKS: &[&Check] = &[
    &decided::VBE_01,
    &decided::VBE_02,
    &decided::VBE_03,
    &updated::VBE_04,
    &repeated::VBE_05,
];

/// The fixture's valid parameters; none at all, where it has no sample.
fn valid(lab: &Lab) -> Vec<StringMap> {
    let samples = &lab.fixture().backend.valid;
    if samples.is_empty() {
        return vec![StringMap::new()];
    }
    samples.iter().map(|map| lab.filled(map)).collect()
}

/// Has to be `succ: true`, unless there is no valid sample: then nobody knows what is right.
fn accepted(lab: &Lab, answer: &Answer, since: &str) -> Verdict {
    let nothing_is_known = lab.fixture().backend.valid.is_empty();
    if nothing_is_known && answer.verdict() == Some(false) {
        return Err(NotPassed::Skipped(
            "the driver refuses backends without parameters: needs backend.parameters.valid in \
             the fixture"
                .into(),
        ));
    }
    answer.accepted(since).map(|_| ())
}
