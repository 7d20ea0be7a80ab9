//! validateLoadBalancer, called while a user waits.

mod decision;
mod repeated;

use crate::check::Check;
use crate::lab::{DriverReply, Lab, LoadBalancer};
use crate::outcome::{CheckError, CheckOutcome};

pub(super) const CHECKS: &[&Check] = &[
    &decision::VLB_01,
    &decision::VLB_02,
    &decision::VLB_03,
    &repeated::VLB_04,
    &decision::VLB_05,
];

/// Load balancers from the fixture's valid samples, or else an empty one.
fn valid(lab: &Lab) -> Vec<LoadBalancer> {
    let samples = &lab.fixture().load_balancer.valid;
    if samples.is_empty() {
        return vec![lab.load_balancer()];
    }
    let samples = samples.iter();
    samples
        .map(|sample| lab.load_balancer_of(Some(sample)))
        .collect()
}

/// Requires `succ: true`, unless the fixture has no valid sample.
fn accepted(lab: &Lab, reply: &DriverReply, since: &str) -> CheckOutcome {
    if lab.fixture().load_balancer.valid.is_empty() && reply.decision() == Some(false) {
        return Err(CheckError::Skipped(
            "the driver rejects an empty lbSpec: needs loadBalancer.valid in the fixture".into(),
        ));
    }
    reply.accepted(since).map(drop)
}
