//! Parameters that are to be changed.

use super::{accepted, valid};
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Lab, validate_backend, validate_backend_update};
use crate::verdict::{NotPassed, Verdict};
use serde_json::json;

/// The parameters of before have two spellings.
pub(super) static VBE_04: Check = Check {
    id: "VBE-04",
    level: Level::Must,
    group: Group::Vbe,
    rule: "An update of parameters that is right is accepted, whether what they were comes as OldParameters, as oldParameters, or as both",
    why: "The original controller writes OldParameters, the specification oldParameters, and newer \
          controllers both. A driver that insists on one of them refuses each change of a group, \
          also one of its pods alone.",
    source: "LBCF webhook specification, validateBackend; b151, d2",
    typical: "oldParameters is required, as the specification writes it. Read either, and do \
              without where neither is there.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(vbe_04(lab)),
};

async fn vbe_04(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let old = valid(lab).into_iter().next().unwrap_or_default();
    let update = lab.fixture().backend.update.as_ref();
    // A change of a group's pods is an update, too, with the parameters as they are.
    let wanted = [
        Some(old.clone()),
        update.map(|map| lab.changed(&old, Some(map))),
    ];
    for parameters in wanted.into_iter().flatten() {
        for backend_type in lab.backend_types() {
            let created = validate_backend(&load_balancer, backend_type, &parameters);
            let answer = lab.call(&created).await;
            accepted(lab, &answer, "since the parameters are right")
                .map_err(|e| e.blocked_by("VBE-01"))?;
            let upstream = validate_backend_update(&load_balancer, backend_type, &parameters, &old);
            let both = upstream.clone().with("oldParameters", json!(old));
            let prose = both.clone().without("OldParameters").unusual();
            for (spelled, call) in [
                ("both OldParameters and oldParameters", both),
                ("OldParameters alone", upstream),
                ("oldParameters alone", prose),
            ] {
                let answer = lab.call(&call).await;
                let change = if parameters == old { "no" } else { "a right" };
                let since =
                    format!("since it is {change} change of parameters, which came with {spelled}");
                accepted(lab, &answer, &since).map_err(|failed| hint(failed, spelled))?;
            }
        }
    }
    if update.is_none() {
        lab.note("no change was tried: backend.parameters.update is not in the fixture");
    }
    Ok(())
}

/// Both spellings together were accepted before one of them alone is tried.
fn hint(failed: NotPassed, spelled: &str) -> NotPassed {
    match spelled {
        "OldParameters alone" => failed.hint(
            "The driver reads oldParameters only, as the specification's prose spells it. The \
             original controller writes OldParameters: read either.",
        ),
        "oldParameters alone" => failed.hint(
            "The driver reads OldParameters only. The specification's prose spells it \
             oldParameters: read either.",
        ),
        _ => failed,
    }
}
