//! One backend, one address.

use super::{POSSIBLE, address, given_address, kind};
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;

/// The address follows from the backend alone.
pub(super) static GEN_03: Check = Check {
    id: "GEN-03",
    level: Level::Must,
    group: Group::Gen,
    rule: "The same backend has the same address each time it is asked for",
    why: "The controller knows a registered backend by its load balancer and its address. If an \
          answer is lost and the next one differs, the first address can stay registered without \
          anybody to take it away.",
    source: "The original's code, backend_controller (b119, b122)",
    typical: "The address has something random in it, a counter, the time or the retryID. Make it \
              from the pod or the service, the node and the port, and from nothing else.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    company: Company::Any,
    code: |lab| Box::pin(gen_03(lab)),
};

async fn gen_03(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&load_balancer) {
        let first = given_address(lab, &backend).await?;
        for _ in 1..lab.repeats().max(2) {
            let (again, answer) = address(lab, &backend.generate(), POSSIBLE).await?;
            if again != first {
                let expected = format!(
                    "backendAddr {first:?}, as it was for the same {}",
                    kind(&backend)
                );
                return Err(answer.failed(expected, format!("backendAddr {again:?}")));
            }
        }
    }
    Ok(())
}
