//! That there is an address at all.

use super::{POSSIBLE, address};
use crate::check::{Check, Company, Feature, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;

/// A pod has an address.
pub(super) static GEN_01: Check = Check {
    id: "GEN-01",
    level: Level::Must,
    group: Group::Gen,
    rule: "A pod and its port have an address: status Succ with a backendAddr that is not empty",
    why: "The address is stored before anything is registered. With an empty one the controller \
          asks again for ever, and the pod gets no traffic.",
    source: "LBCF webhook specification, generateBackendAddr; b119, b120",
    typical: "podBackend.pod is read as a JSON text, as the prose's sample shows it, while it is \
              an object; parameters are taken for granted, while controllers in the field send \
              null; or the address is returned under another name.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Feature(Feature::PodBackends)],
    company: Company::Any,
    code: |lab| Box::pin(gen_01(lab)),
};

async fn gen_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.pod_backend(&load_balancer);
    address(lab, &backend.generate(), POSSIBLE).await?;
    Ok(())
}

/// A service's node port has an address.
pub(super) static GEN_02: Check = Check {
    id: "GEN-02",
    level: Level::Must,
    group: Group::Gen,
    rule: "A service's node port on a node has an address: status Succ with a backendAddr that is not empty",
    why: "The address is stored before anything is registered. With an empty one the controller \
          asks again for ever, and the node gets no traffic.",
    source: "LBCF webhook specification, generateBackendAddr; b112, b120, b153",
    typical: "serviceBackend.service is read as a JSON text, as the prose's sample shows it, \
              while it is an object; or the node's addresses are looked for under nodeAddress, \
              while the field is nodeAddresses.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Feature(Feature::ServiceBackends)],
    company: Company::Any,
    code: |lab| Box::pin(gen_02(lab)),
};

async fn gen_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.service_backend(&load_balancer);
    address(lab, &backend.generate(), POSSIBLE).await?;
    Ok(())
}
