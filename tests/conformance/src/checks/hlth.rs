//! healthz, as probes and controllers call it.

mod busy;
mod response;

use crate::check::Check;
use crate::lab::DriverReply;

pub(super) const CHECKS: &[&Check] = &[&response::HLTH_01, &busy::HLTH_02, &response::HLTH_03];

/// A summary of the driver's health, for people.
fn summary(reply: &DriverReply) -> String {
    if reply.is_object() && reply.healthy().is_none() {
        return "a response without healthy".to_owned();
    }
    reply.summary()
}
