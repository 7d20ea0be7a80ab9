//! Invalid load balancers.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::{CheckError, CheckOutcome};

pub(super) static CLB_05: Check = Check {
    id: "CLB-05",
    rule: "createLoadBalancer returns Fail with a msg for an invalid lbSpec or invalid attributes, \
           and creates nothing",
    why: "The object may not have been validated: by an older controller, or because the driver's \
          rules changed. Nothing refers to a load balancer that is created anyway, and it costs \
          money.",
    source: "LBCF webhook specification, createLoadBalancer",
    typical: "The first resource is created before all fields are read, or an exception becomes \
              500.",
    observer: Observer::Improves,
    needs: &[Need::InvalidLoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Clb, |lab| Box::pin(clb_05(lab)))
};

async fn clb_05(lab: &Lab) -> CheckOutcome {
    for sample in &lab.fixture().load_balancer.invalid {
        let before = lab.observe().await?;
        let load_balancer = lab.load_balancer_of(Some(sample));
        let reply = lab.until_done(&load_balancer.create()).await?;
        reply.fail(&format!(
            "since the fixture declares it invalid: {}",
            sample.reason
        ))?;
        reply.has_msg()?;
        let expected = "no load balancer created from an invalid lbSpec";
        let unchanged = lab.created_since(before.as_ref(), 0, expected).await;
        unchanged.map_err(|error| match error {
            CheckError::Failed(failure) => reply.failed(failure.expected, failure.got),
            other => other,
        })?;
    }
    Ok(())
}
