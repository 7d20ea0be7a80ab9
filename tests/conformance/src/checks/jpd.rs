//! judgePodDeregister: pods that stay registered although they are not ready.

mod pods;
mod supported;
mod unsupported;

pub(super) use pods::not_ready;

use crate::check::Check;
use crate::lab::WebhookCall;
use lbcf_driver_sdk::webhook::{JudgePodDeregister, JudgePodDeregisterRequest};
use serde_json::Value;

pub(super) const CHECKS: &[&Check] = &[
    &supported::JPD_01,
    &supported::JPD_02,
    &supported::JPD_03,
    &unsupported::JPD_04,
];

/// `judgePodDeregister` for these pods.
pub(super) fn judge(pods: &[Value]) -> WebhookCall {
    WebhookCall::of::<JudgePodDeregister>(&JudgePodDeregisterRequest::default())
        .with("notReadyPods", pods.to_vec())
}
