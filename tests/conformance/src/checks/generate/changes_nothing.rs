//! That asking for an address registers nothing.

use super::given_address;
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};

/// Asking is not registering.
pub(super) static GEN_06: Check = Check {
    id: "GEN-06",
    level: Level::Must,
    group: Group::Gen,
    rule: "Asking for an address registers nothing and leaves the load balancer as it is",
    why: "The address is stored before anything is registered, so that whatever is registered can \
          be taken away. What is registered too early is nobody's if the controller dies then.",
    source: "LBCF webhook specification, generateBackendAddr; b119, b123",
    typical: "The backend is bound while its address is made, as one call to the cloud does both. \
              Bind in ensureBackend.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    company: Company::Any,
    code: |lab| Box::pin(gen_06(lab)),
};

async fn gen_06(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let lb_info = &load_balancer.lb_info;
    let before = lab.seen(lb_info).await?;
    let mut addresses = Vec::new();
    for backend in lab.generated_backends(&load_balancer) {
        for _ in 0..lab.repeats().max(1) {
            addresses.push(given_address(lab, &backend).await?);
        }
    }
    let since = "since nothing but an address was asked for";
    if let Some(now) = lab.seen(lb_info).await?
        && let Some(addr) = addresses.iter().find(|addr| now.bindings(addr) > 0)
    {
        let expected = format!("{addr} not registered, {since}");
        return Err(Failure::new(expected, "the observer shows it registered").into());
    }
    lab.is_as_before(lb_info, before.as_ref(), since).await
}
