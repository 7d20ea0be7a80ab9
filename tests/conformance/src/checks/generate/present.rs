//! Backends have an address.

use super::{COMPLETE, address};
use crate::check::{Check, Feature, Group, Need};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static GEN_01: Check = Check {
    id: "GEN-01",
    rule: "generateBackendAddr returns Succ with a non-empty backendAddr for a pod and its port",
    why: "The address is stored before anything is registered. If it is empty, the controller \
          retries indefinitely, and the pod gets no traffic.",
    source: "LBCF webhook specification, generateBackendAddr; b119, b120",
    typical: "podBackend.pod is parsed as JSON text, as in the specification's sample, but it is \
              an object; parameters are required, but controllers in the field send null; or the \
              address is returned under another name.",
    needs: &[Need::LoadBalancer, Need::Feature(Feature::PodBackends)],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_01(lab)))
};

async fn gen_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.pod_backend(&load_balancer);
    address(lab, &backend.generate(), COMPLETE).await.map(drop)
}

pub(super) static GEN_02: Check = Check {
    id: "GEN-02",
    rule: "generateBackendAddr returns Succ with a non-empty backendAddr for a service's node port \
           on a node",
    why: "The address is stored before anything is registered. If it is empty, the controller \
          retries indefinitely, and the node gets no traffic.",
    source: "LBCF webhook specification, generateBackendAddr; b112, b120, b153",
    typical: "serviceBackend.service is parsed as JSON text, as in the specification's sample, but \
              it is an object; or the node's addresses are read from nodeAddress, but the field is \
              nodeAddresses.",
    needs: &[Need::LoadBalancer, Need::Feature(Feature::ServiceBackends)],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_02(lab)))
};

async fn gen_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.service_backend(&load_balancer);
    address(lab, &backend.generate(), COMPLETE).await.map(drop)
}
