//! That asking changes nothing.

use super::valid;
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Lab, validate_backend, validate_backend_update};
use crate::verdict::Verdict;

/// A question is a question.
pub(super) static VBE_05: Check = Check {
    id: "VBE-05",
    level: Level::Must,
    group: Group::Vbe,
    rule: "However often parameters are validated, the verdict is the same, and the load balancer stays as it is",
    why: "The object may still be refused by others after the driver accepted it. What was \
          registered or changed by then belongs to nobody, and is never put back.",
    source: "LBCF webhook specification, validateBackend; b84, b140",
    typical: "The first question is remembered, and the second refused as a duplicate; or the \
              change is made at once. Only look.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(vbe_05(lab)),
};

async fn vbe_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let before = lab.seen(&load_balancer.lb_info).await?;
    let samples = &lab.fixture().backend;
    let old = valid(lab).into_iter().next().unwrap_or_default();
    for backend_type in lab.backend_types() {
        let call = validate_backend(&load_balancer, backend_type, &old);
        lab.same_verdict(&call, "VBE-01").await?;
        for parameters in samples.invalid.iter().take(1) {
            let parameters = lab.filled(parameters);
            let call = validate_backend(&load_balancer, backend_type, &parameters);
            lab.same_verdict(&call, "VBE-01").await?;
        }
        if let Some(parameters) = &samples.update {
            let parameters = lab.changed(&old, Some(parameters));
            let call = validate_backend_update(&load_balancer, backend_type, &parameters, &old);
            lab.same_verdict(&call, "VBE-01").await?;
        }
    }
    let since = "since it was only asked whether parameters are right";
    lab.is_as_before(&load_balancer.lb_info, before.as_ref(), since)
        .await
}
