//! Two backends, two addresses.

use super::given_address;
use super::variants::{self, Variant};
use crate::check::{Check, Company, Feature, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, NotPassed, Verdict};
use std::collections::HashMap;

/// No two backends have one address.
pub(super) static GEN_04: Check = Check {
    id: "GEN-04",
    level: Level::Must,
    group: Group::Gen,
    rule: "Backends that differ in the pod, the node or the port have different addresses",
    why: "To the load balancer two backends with one address are one. One of them gets no traffic \
          of its own, and when either goes, the other is taken away with it.",
    source: "The original's code, backend_controller (b122, u20)",
    typical: "The port is left out of the address, or the pod's name is used without its \
              namespace, or a service's port instead of its node port.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    company: Company::Any,
    code: |lab| Box::pin(gen_04(lab)),
};

async fn gen_04(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    if lab.has(Feature::PodBackends) {
        all_differ(lab, variants::pods(lab, &load_balancer)).await?;
    }
    if lab.has(Feature::ServiceBackends) {
        all_differ(lab, variants::services(lab, &load_balancer)).await?;
    }
    Ok(())
}

async fn all_differ(lab: &Lab, variants: Vec<Variant>) -> Result<(), NotPassed> {
    let mut whose: HashMap<String, &'static str> = HashMap::new();
    for Variant { what, backend } in variants {
        let addr = given_address(lab, &backend).await?;
        if let Some(other) = whose.insert(addr.clone(), what) {
            let expected = "an address of its own for each backend";
            let got = format!("backendAddr {addr:?} for {other} and for {what}");
            return Err(Failure::new(expected, got).into());
        }
    }
    Ok(())
}
