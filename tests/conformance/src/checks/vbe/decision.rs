//! Valid parameters are accepted, invalid ones rejected.

use super::{accepted, valid};
use crate::check::{Check, Group, Need};
use crate::lab::{Lab, validate_backend};
use crate::outcome::CheckOutcome;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

pub(super) static VBE_01: Check = Check {
    id: "VBE-01",
    rule: "validateBackend accepts valid parameters for each of the driver's backend types: succ \
           true",
    why: "The controller calls it while the user's BackendGroup is being stored, and sends Pod, \
          Service or Static. A rejected type cannot be used at all.",
    source: "LBCF webhook specification, validateBackend; b84, b151",
    typical: "Only the type Pod is known, or it is compared in another letter case; or the \
              response has status Succ, as of operations, instead of succ true.",
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Vbe, |lab| Box::pin(vbe_01(lab)))
};

async fn vbe_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for backend_type in lab.backend_types() {
        for parameters in valid(lab) {
            let call = validate_backend(&load_balancer, backend_type, &parameters);
            let reply = lab.call(&call).await;
            let since = format!(
                "since the parameters are valid, and the fixture's features include the type {backend_type}"
            );
            accepted(lab, &reply, &since)?;
        }
    }
    Ok(())
}

pub(super) static VBE_02: Check = Check {
    id: "VBE-02",
    rule: "validateBackend rejects invalid parameters with HTTP 200, succ false and a msg with the \
           reason",
    why: "Users read the msg when their object is rejected. With another HTTP status the \
          controller treats the driver as broken. Parameters that are not rejected here fail again \
          and again in ensureBackend.",
    source: "LBCF webhook specification, validateBackend; b78, b149",
    typical: "The rejection is sent as HTTP 400 or 422, often by the framework's own validation; \
              or parameters are read only in ensureBackend.",
    needs: &[Need::LoadBalancer, Need::Backend, Need::InvalidParameters],
    ..Check::must(Group::Vbe, |lab| Box::pin(vbe_02(lab)))
};

async fn vbe_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for backend_type in lab.backend_types() {
        for parameters in &lab.fixture().backend.invalid {
            let parameters = lab.filled(parameters);
            let call = validate_backend(&load_balancer, backend_type, &parameters);
            let reply = lab.call(&call).await;
            let since = "since the fixture declares these parameters invalid";
            reply.rejected(since)?.has_msg()?;
        }
    }
    Ok(())
}

pub(super) static VBE_03: Check = Check {
    id: "VBE-03",
    rule: "validateBackend validates parameters also before the load balancer is created: lbInfo \
           null or empty",
    why: "Users apply a load balancer and its backends together. A driver that crashes without \
          lbInfo prevents both from being stored.",
    source: "Original controller (b84, b152, u28)",
    typical: "lbInfo is accessed without a check. Validate what does not depend on it.",
    needs: &[Need::Backend],
    ..Check::must(Group::Vbe, |lab| Box::pin(vbe_03(lab)))
};

async fn vbe_03(lab: &Lab) -> CheckOutcome {
    let not_created = lab.load_balancer();
    let mut is_rejected = false;
    for backend_type in lab.backend_types() {
        let sample = valid(lab).into_iter().next();
        let parameters: StringMap = sample.unwrap_or_default();
        let call = validate_backend(&not_created, backend_type, &parameters);
        for lb_info in [Value::Null, json!({})] {
            let since = format!("also with lbInfo {lb_info}, before its load balancer is created");
            let call = call.clone().with("lbInfo", lb_info).unusual();
            is_rejected |= !lab.call(&call).await.any_decision(&since)?;
        }
    }
    if is_rejected && !lab.fixture().backend.valid.is_empty() {
        lab.note(
            "valid parameters are rejected until the load balancer is created: users cannot apply \
             both at once",
        );
    }
    Ok(())
}
