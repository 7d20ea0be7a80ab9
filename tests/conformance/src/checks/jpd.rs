//! judgePodDeregister: which pods stay registered although they are not ready.

mod judged;
mod missing;
mod pods;

use crate::check::Check;
use crate::lab::Call;
use lbcf_driver_sdk::webhook::{JudgePodDeregister, JudgePodDeregisterRequest};
use serde_json::Value;

/// The checks about judgePodDeregister.
pub(super) const CHECKS: &[&Check] = &[
    &judged::JPD_01,
    &judged::JPD_02,
    &judged::JPD_03,
    &missing::JPD_04,
];

/// Which of these pods stay?
fn judge(pods: &[Value]) -> Call {
    Call::of::<JudgePodDeregister>(&JudgePodDeregisterRequest::default())
        .with("notReadyPods", pods.to_vec())
}
