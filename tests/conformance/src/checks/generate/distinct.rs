//! Different backends have different addresses.

use super::given_address;
use super::variants::{self, Variant};
use crate::check::{Check, Feature, Group, Need};
use crate::lab::Lab;
use crate::outcome::{CheckOutcome, Failure};
use std::collections::HashMap;

pub(super) static GEN_04: Check = Check {
    id: "GEN-04",
    rule: "Backends that differ in the pod, the node or the port have different addresses",
    why: "For the load balancer two backends with one address are the same. One of them gets no \
          traffic of its own, and deregistering either deregisters both.",
    source: "Original controller, backend_controller (b122, u20)",
    typical: "The address omits the port, uses the pod's name without its namespace, or uses a \
              service's port instead of its node port.",
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_04(lab)))
};

async fn gen_04(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    if lab.has(Feature::PodBackends) {
        all_differ(lab, variants::pods(lab, &load_balancer)).await?;
    }
    if lab.has(Feature::ServiceBackends) {
        all_differ(lab, variants::services(lab, &load_balancer)).await?;
    }
    Ok(())
}

async fn all_differ(lab: &Lab, variants: Vec<Variant>) -> CheckOutcome {
    let mut owners: HashMap<String, &'static str> = HashMap::new();
    for Variant { what, backend } in variants {
        let addr = given_address(lab, &backend).await?;
        if let Some(other) = owners.insert(addr.clone(), what) {
            let expected = "a different address for each backend";
            let got = format!("backendAddr {addr:?} for {other} and for {what}");
            return Err(Failure::new(expected, got).into());
        }
    }
    Ok(())
}
