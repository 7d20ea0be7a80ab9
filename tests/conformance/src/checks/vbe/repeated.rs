//! Validations change nothing.

use super::valid;
use crate::check::{Check, Group, Need, Observer};
use crate::lab::{Lab, validate_backend, validate_backend_update};
use crate::outcome::CheckOutcome;

pub(super) static VBE_05: Check = Check {
    id: "VBE-05",
    rule: "validateBackend returns the same result each time, and leaves the load balancer \
           unchanged",
    why: "The object may still be rejected by others after the driver accepted it. Nothing refers \
          to what was registered or changed by then, and nothing reverts it.",
    source: "LBCF webhook specification, validateBackend; b84, b140",
    typical: "The first request is remembered, and the second rejected as a duplicate; or the \
              change is made at once. Validate only.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Vbe, |lab| Box::pin(vbe_05(lab)))
};

async fn vbe_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let before = lab.observed_created(&load_balancer.lb_info).await?;
    let samples = &lab.fixture().backend;
    let old = valid(lab).into_iter().next().unwrap_or_default();
    for backend_type in lab.backend_types() {
        let mut calls = vec![validate_backend(&load_balancer, backend_type, &old)];
        if let Some(invalid) = samples.invalid.first() {
            let invalid = lab.filled(invalid);
            calls.push(validate_backend(&load_balancer, backend_type, &invalid));
        }
        if let Some(update) = &samples.update {
            let new = lab.changed(&old, Some(update));
            let update = validate_backend_update(&load_balancer, backend_type, &new, &old);
            calls.push(update);
        }
        for call in calls {
            lab.same_decision(&call, "VBE-01").await?;
        }
    }
    let since = "since parameters were only validated";
    lab.is_unchanged(&load_balancer.lb_info, before.as_ref(), since)
        .await
}
