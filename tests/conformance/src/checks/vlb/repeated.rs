//! Validations change nothing.

use super::valid;
use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static VLB_04: Check = Check {
    id: "VLB-04",
    rule: "validateLoadBalancer returns the same result each time, and creates and changes nothing",
    why: "The object may still be rejected by others after the driver accepted it. Nothing refers \
          to what was created by then: it costs money and is never deleted.",
    source: "LBCF webhook specification, validateLoadBalancer; b72, b140",
    typical: "Names or ports are reserved during validation, so that the second request is \
              rejected; or the load balancer is created or updated at once. Validate only.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Vlb, |lab| Box::pin(vlb_04(lab)))
};

async fn vlb_04(lab: &Lab) -> CheckOutcome {
    let given = lab.given_load_balancer().await?;
    let before = lab.observe().await?;
    let own_before = lab.observed_created(&given.lb_info).await?;

    // Two of each kind, because validations may be slow, and each is repeated many times.
    let samples = &lab.fixture().load_balancer;
    let valid = valid(lab).into_iter();
    let mut calls: Vec<_> = valid.take(2).map(|one| one.validate()).collect();
    for sample in samples.invalid.iter().take(2) {
        calls.push(lab.load_balancer_of(Some(sample)).validate());
    }
    for attributes in samples.update.iter().chain(samples.forbidden.first()) {
        let attributes = lab.changed(&given.sample.attributes, Some(attributes));
        calls.push(given.validate_update(&attributes));
    }
    for call in calls {
        lab.same_decision(&call, "VLB-01").await?;
    }

    let since = "since load balancers were only validated";
    lab.is_unchanged(&given.lb_info, own_before.as_ref(), since)
        .await?;
    let expected = "no new load balancer in the cloud";
    lab.created_since(before.as_ref(), 0, expected).await
}
