//! That asking changes nothing.

use super::valid;
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};

/// A question is a question.
pub(super) static VLB_04: Check = Check {
    id: "VLB-04",
    level: Level::Must,
    group: Group::Vlb,
    rule: "However often a load balancer is validated, the verdict is the same, and nothing is created or changed",
    why: "The object may still be refused by others after the driver accepted it. What was made \
          by then belongs to nobody, costs money and is never deleted.",
    source: "LBCF webhook specification, validateLoadBalancer; b72, b140",
    typical: "Names or ports are reserved while validating, so that the second question is \
              refused; or the load balancer is created or updated at once. Only look.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(vlb_04(lab)),
};

async fn vlb_04(lab: &Lab) -> Verdict {
    let given = lab.given_load_balancer().await?;
    let before = lab.look().await?;
    let own_before = lab.seen(&given.lb_info).await?;

    // Two of each kind: a validation may take its time, and each is asked for many times.
    for load_balancer in valid(lab).into_iter().take(2) {
        lab.same_verdict(&load_balancer.validate(), "VLB-01")
            .await?;
    }
    let samples = &lab.fixture().load_balancer;
    for wanted in samples.invalid.iter().take(2) {
        let call = lab.load_balancer_of(Some(wanted)).validate();
        lab.same_verdict(&call, "VLB-01").await?;
    }
    for attributes in samples.update.iter().chain(samples.forbidden.first()) {
        let attributes = lab.changed(&given.wanted.attributes, Some(attributes));
        let call = given.validate_update(&attributes);
        lab.same_verdict(&call, "VLB-01").await?;
    }

    let since = "since it was only asked whether it may be so";
    lab.is_as_before(&given.lb_info, own_before.as_ref(), since)
        .await?;
    if let (Some(before), Some(now)) = (before, lab.look().await?) {
        let new = now.since(&before);
        if let Some(first) = new.first() {
            let got = format!(
                "{} that were not there, the first with lbInfo {}",
                new.len(),
                serde_json::to_string(&first.lb_info).unwrap_or_default()
            );
            let expected = "no load balancer in the cloud that was not there before";
            return Err(Failure::new(expected, got).into());
        }
    }
    Ok(())
}
