//! Updates of parameters.

use super::{accepted, valid};
use crate::check::{Check, Group, Need};
use crate::lab::{Lab, validate_backend, validate_backend_update};
use crate::outcome::{CheckError, CheckOutcome};
use serde_json::json;

pub(super) static VBE_04: Check = Check {
    id: "VBE-04",
    rule: "validateBackend accepts a valid update of parameters with OldParameters, with \
           oldParameters, and with both",
    why: "The original controller writes OldParameters, the specification oldParameters, and newer \
          controllers both. A driver that requires one of them rejects each change of a group, \
          even of its pods alone.",
    source: "LBCF webhook specification, validateBackend; b151, d2",
    typical: "oldParameters is required, as the specification writes it. Read either, and accept a \
              request without both.",
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Vbe, |lab| Box::pin(vbe_04(lab)))
};

async fn vbe_04(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let old = valid(lab).into_iter().next().unwrap_or_default();
    let update = lab.fixture().backend.update.as_ref();
    // A change of a group's pods is an update with unchanged parameters.
    let updates = [
        Some(old.clone()),
        update.map(|map| lab.changed(&old, Some(map))),
    ];
    for parameters in updates.into_iter().flatten() {
        for backend_type in lab.backend_types() {
            let create = validate_backend(&load_balancer, backend_type, &parameters);
            let reply = lab.call(&create).await;
            accepted(lab, &reply, "since the parameters are valid")
                .map_err(|e| e.blocked_by("VBE-01"))?;
            let original = validate_backend_update(&load_balancer, backend_type, &parameters, &old);
            let both = original.clone().with("oldParameters", json!(old));
            let specified = both.clone().without("OldParameters").unusual();
            for (spelling, call) in [
                ("both OldParameters and oldParameters", both),
                ("OldParameters alone", original),
                ("oldParameters alone", specified),
            ] {
                let reply = lab.call(&call).await;
                let change = if parameters == old { "no" } else { "a valid" };
                let since = format!("since it is {change} change of parameters, with {spelling}");
                accepted(lab, &reply, &since).map_err(|failed| hint(failed, spelling))?;
            }
        }
    }
    if update.is_none() {
        lab.note("no change was tested: backend.parameters.update is not in the fixture");
    }
    Ok(())
}

/// The driver accepted both spellings together, so it reads one of them.
fn hint(failed: CheckError, spelling: &str) -> CheckError {
    match spelling {
        "OldParameters alone" => failed.hint(
            "The driver reads oldParameters only, as the specification's text spells it. The \
             original controller writes OldParameters: read either.",
        ),
        "oldParameters alone" => failed.hint(
            "The driver reads OldParameters only. The specification's text spells it \
             oldParameters: read either.",
        ),
        _ => failed,
    }
}
