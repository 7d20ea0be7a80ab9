//! validateLoadBalancer: whether a load balancer may be created or changed, asked while its user
//! waits.

mod decided;
mod repeated;

use crate::check::Check;
use crate::lab::{Answer, Lab, LoadBalancer};
use crate::verdict::{NotPassed, Verdict};

/// The checks about validateLoadBalancer.
pub(super) const CHECKS: &[&Check] = &[
    &decided::VLB_01,
    &decided::VLB_02,
    &decided::VLB_03,
    &repeated::VLB_04,
    &decided::VLB_05,
];

/// Load balancers as the fixture's valid samples want them; without any, one of which nothing is
/// known.
fn valid(lab: &Lab) -> Vec<LoadBalancer> {
    let samples = &lab.fixture().load_balancer.valid;
    if samples.is_empty() {
        return vec![lab.load_balancer()];
    }
    let wanted = samples.iter();
    wanted
        .map(|wanted| lab.load_balancer_of(Some(wanted)))
        .collect()
}

/// Has to be `succ: true`, unless there is no valid sample: then nobody knows what is right.
fn accepted(lab: &Lab, answer: &Answer, since: &str) -> Verdict {
    let nothing_is_known = lab.fixture().load_balancer.valid.is_empty();
    if nothing_is_known && answer.verdict() == Some(false) {
        return Err(NotPassed::Skipped(
            "the driver refuses an empty lbSpec: needs loadBalancer.valid in the fixture".into(),
        ));
    }
    answer.accepted(since).map(|_| ())
}
