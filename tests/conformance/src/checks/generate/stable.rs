//! A backend always has the same address.

use super::{COMPLETE, address, given_address};
use crate::check::{Check, Group, Need};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static GEN_03: Check = Check {
    id: "GEN-03",
    rule: "generateBackendAddr returns the same address for the same backend each time",
    why: "The load balancer and the address identify a registered backend. If a response is lost \
          and the next one differs, the first address can stay registered indefinitely.",
    source: "Original controller, backend_controller (b119, b122)",
    typical: "The address contains something random, a counter, the time or the retryID. Derive it \
              only from the pod or the service, the node and the port.",
    needs: &[Need::LoadBalancer, Need::GeneratedBackend],
    ..Check::must(Group::Gen, |lab| Box::pin(gen_03(lab)))
};

async fn gen_03(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for backend in lab.generated_backends(&load_balancer) {
        let first = given_address(lab, &backend).await?;
        for _ in 1..lab.repeats().max(2) {
            let (again, reply) = address(lab, &backend.generate(), COMPLETE).await?;
            if again != first {
                let source = backend.source.backend_type();
                let expected = format!("backendAddr {first:?}, as before for the same {source}");
                return Err(reply.failed(expected, format!("backendAddr {again:?}")));
            }
        }
    }
    Ok(())
}
