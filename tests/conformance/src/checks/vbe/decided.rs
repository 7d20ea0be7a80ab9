//! That what is right is accepted, and what is wrong refused.

use super::{accepted, valid};
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Lab, validate_backend};
use crate::verdict::Verdict;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

/// What is right is accepted.
pub(super) static VBE_01: Check = Check {
    id: "VBE-01",
    level: Level::Must,
    group: Group::Vbe,
    rule: "Right parameters are accepted for each type of backends that the driver has: succ true",
    why: "The controller asks while the user's BackendGroup is being stored, and sends Pod, \
          Service or Static. A type that is refused cannot be used at all.",
    source: "LBCF webhook specification, validateBackend; b84, b151",
    typical: "Only the type Pod is known, or it is compared in another letter case; or the answer \
              has status Succ, as operations have it, instead of succ true.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(vbe_01(lab)),
};

async fn vbe_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    for backend_type in lab.backend_types() {
        for parameters in valid(lab) {
            let call = validate_backend(&load_balancer, backend_type, &parameters);
            let answer = lab.call(&call).await;
            let since = format!(
                "since the parameters are right, and the fixture's features have the type {backend_type}"
            );
            accepted(lab, &answer, &since)?;
        }
    }
    Ok(())
}

/// What is wrong is refused with a reason.
pub(super) static VBE_02: Check = Check {
    id: "VBE-02",
    level: Level::Must,
    group: Group::Vbe,
    rule: "Wrong parameters are refused with HTTP 200, succ false and a msg that says why",
    why: "The msg is what users read when their object is refused. By another HTTP status the \
          controller takes the driver for broken. What is not refused here fails again and again \
          when backends are registered.",
    source: "LBCF webhook specification, validateBackend; b78, b149",
    typical: "A refusal is sent as HTTP 400 or 422, often by the framework's own validation; or \
              parameters are read only when a backend is registered.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend, Need::InvalidParameters],
    company: Company::Any,
    code: |lab| Box::pin(vbe_02(lab)),
};

async fn vbe_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    for backend_type in lab.backend_types() {
        for parameters in &lab.fixture().backend.invalid {
            let parameters = lab.filled(parameters);
            let call = validate_backend(&load_balancer, backend_type, &parameters);
            let answer = lab.call(&call).await;
            let since = "since the fixture says that these parameters are wrong";
            answer.refused(since)?.has_msg()?;
        }
    }
    Ok(())
}

/// There may be no load balancer yet.
pub(super) static VBE_03: Check = Check {
    id: "VBE-03",
    level: Level::Must,
    group: Group::Vbe,
    rule: "Parameters are judged also while the load balancer is not created yet: lbInfo null or empty",
    why: "Users apply a load balancer and its backends together. A driver that crashes over the \
          lbInfo that does not exist yet keeps both from being stored.",
    source: "The original's code (b84, b152, u28)",
    typical: "lbInfo is indexed before it is looked at. Judge what can be judged without it.",
    observer: Observer::Unused,
    needs: &[Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(vbe_03(lab)),
};

async fn vbe_03(lab: &Lab) -> Verdict {
    let not_created = lab.load_balancer();
    let mut refused = Vec::new();
    for backend_type in lab.backend_types() {
        let sample = valid(lab).into_iter().next();
        let parameters: StringMap = sample.unwrap_or_default();
        let call = validate_backend(&not_created, backend_type, &parameters);
        for lb_info in [Value::Null, json!({})] {
            let since = format!("also with lbInfo {lb_info}, as its load balancer is not created");
            let call = call.clone().with("lbInfo", lb_info).unusual();
            let answer = lab.call(&call).await;
            if !answer.any_verdict(&since)? {
                refused.push(backend_type);
            }
        }
    }
    if !refused.is_empty() && !lab.fixture().backend.valid.is_empty() {
        lab.note(
            "right parameters are refused until the load balancer is created: users cannot apply \
             both at once",
        );
    }
    Ok(())
}
