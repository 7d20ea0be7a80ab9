//! validateBackend, called while a user waits.

use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[&VBE_01, &VBE_02, &VBE_03, &VBE_04, &VBE_05];

/// Requires `succ: true`, unless the fixture has no valid sample.
fn accepted(lab: &Lab, reply: &DriverReply, since: &str) -> CheckOutcome {
    if lab.run.fixture.backend.parameters.valid.is_empty() && reply.decision() == Some(false) {
        return Err(CheckError::Skipped(
            "the driver rejects backends without parameters: needs backend.parameters.valid in \
             the fixture"
                .into(),
        ));
    }
    reply.accepted(since).map(drop)
}

check! { VBE_01 = vbe_01, Vbe, needs [LoadBalancer, Backend],
    why "The controller calls it while the user's BackendGroup is being stored, and sends Pod, \
         Service or Static. A rejected type cannot be used at all.",
    source "LBCF webhook specification, validateBackend; b84, b151",
    typical "Only the type Pod is known, or it is compared in another letter case; or the \
             response has status Succ, as of operations, instead of succ true.",
}

async fn vbe_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for backend_type in lab.backend_types() {
        for parameters in lab.valid_parameters() {
            let call = validate_backend(&lb, backend_type, &parameters);
            let reply = lab.call(&call).await;
            let since = format!(
                "since the parameters are valid, and the fixture's features include the type {backend_type}"
            );
            accepted(lab, &reply, &since)?;
        }
    }
    Ok(())
}

check! { VBE_02 = vbe_02, Vbe, needs [LoadBalancer, Backend, InvalidParameters],
    why "Users read the msg when their object is rejected. With another HTTP status the \
         controller treats the driver as broken. Parameters that are not rejected here fail again \
         and again in ensureBackend.",
    source "LBCF webhook specification, validateBackend; b78, b149",
    typical "The rejection is sent as HTTP 400 or 422, often by the framework's own validation; \
             or parameters are read only in ensureBackend.",
}

async fn vbe_02(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for backend_type in lab.backend_types() {
        for parameters in &lab.run.fixture.backend.parameters.invalid {
            let call = validate_backend(&lb, backend_type, &lab.filled(parameters));
            let since = "since the fixture declares these parameters invalid";
            lab.call(&call).await.rejected(since)?.has_msg()?;
        }
    }
    Ok(())
}

check! { VBE_03 = vbe_03, Vbe, needs [Backend],
    why "Users apply a load balancer and its backends together. A driver that crashes without \
         lbInfo prevents both from being stored.",
    source "Original controller (b84, b152, u28)",
    typical "lbInfo is accessed without a check. Validate what does not depend on it.",
}

async fn vbe_03(lab: &Lab) -> CheckOutcome {
    let not_created = lab.load_balancer();
    let mut is_rejected = false;
    for backend_type in lab.backend_types() {
        let call = validate_backend(&not_created, backend_type, &lab.valid_parameters()[0]);
        for lb_info in [Value::Null, json!({})] {
            let since = format!("also with lbInfo {lb_info}, before its load balancer is created");
            let call = call.clone().with("lbInfo", lb_info).unusual();
            is_rejected |= !lab.call(&call).await.any_decision(&since)?;
        }
    }
    if is_rejected && !lab.run.fixture.backend.parameters.valid.is_empty() {
        lab.note(
            "valid parameters are rejected until the load balancer is created: users cannot apply \
             both at once",
        );
    }
    Ok(())
}

check! { VBE_04 = vbe_04, Vbe, needs [LoadBalancer, Backend],
    why "The original controller writes OldParameters, the specification oldParameters, and newer \
         controllers both. A driver that requires one of them rejects each change of a group, \
         even of its pods alone.",
    source "LBCF webhook specification, validateBackend; b151, d2",
    typical "oldParameters is required, as the specification writes it. Read either, and accept a \
             request without both.",
}

async fn vbe_04(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let old = lab.valid_parameters().swap_remove(0);
    let update = lab.run.fixture.backend.parameters.update.as_ref();
    // A change of a group's pods is an update with unchanged parameters.
    let updates = [
        Some(old.clone()),
        update.map(|map| lab.changed(&old, Some(map))),
    ];
    for parameters in updates.into_iter().flatten() {
        for backend_type in lab.backend_types() {
            let call = validate_backend(&lb, backend_type, &parameters);
            let reply = lab.call(&call).await;
            accepted(lab, &reply, "since the parameters are valid").blocked_by("VBE-01")?;
            let original = validate_backend_update(&lb, backend_type, &parameters, &old);
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

check! { VBE_05 = vbe_05, Vbe, observer Improves, needs [LoadBalancer, Backend],
    why "The object may still be rejected by others after the driver accepted it. Nothing refers \
         to what was registered or changed by then, and nothing reverts it.",
    source "LBCF webhook specification, validateBackend; b84, b140",
    typical "The first request is remembered, and the second rejected as a duplicate; or the \
             change is made at once. Validate only.",
}

async fn vbe_05(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let before = lab.given_observed(&lb.lb_info).await?;
    let samples = &lab.run.fixture.backend.parameters;
    let old = &lab.valid_parameters()[0];
    for backend_type in lab.backend_types() {
        let mut calls = vec![validate_backend(&lb, backend_type, old)];
        if let Some(invalid) = samples.invalid.first() {
            calls.push(validate_backend(&lb, backend_type, &lab.filled(invalid)));
        }
        if let Some(update) = &samples.update {
            let new = lab.changed(old, Some(update));
            calls.push(validate_backend_update(&lb, backend_type, &new, old));
        }
        for call in calls {
            lab.same_decision(&call, "VBE-01").await?;
        }
    }
    let since = "since parameters were only validated";
    lab.is_unchanged(&lb.lb_info, before.as_ref(), since).await
}
