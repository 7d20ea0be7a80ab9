//! Generating an address registers nothing.

use super::given_address;
use crate::check::{Check, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::{CheckOutcome, Failure};

pub(super) static GEN_06: Check = Check {
    id: "GEN-06",
    rule: "generateBackendAddr registers nothing and leaves the load balancer unchanged",
    why: "The controller stores the address before it registers anything, so that it can \
          deregister what it registered. If it crashes before, nothing refers to a backend that is \
          registered already.",
    source: "LBCF webhook specification, generateBackendAddr; b119, b123",
    typical: "The backend is registered together with the generation of its address, because one \
              call to the cloud does both. Register it in ensureBackend.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_06(lab)))
};

async fn gen_06(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let lb_info = &load_balancer.lb_info;
    let before = lab.observed_created(lb_info).await?;
    let mut addresses = Vec::new();
    for backend in lab.generated_backends(&load_balancer) {
        for _ in 0..lab.repeats().max(1) {
            addresses.push(given_address(lab, &backend).await?);
        }
    }
    let since = "since the check only requested addresses";
    if let Some(now) = lab.observed_created(lb_info).await?
        && let Some(addr) = addresses.iter().find(|addr| now.bindings(addr) > 0)
    {
        let expected = format!("{addr} not registered, {since}");
        return Err(Failure::new(expected, "the observer shows it registered").into());
    }
    lab.is_unchanged(lb_info, before.as_ref(), since).await
}
