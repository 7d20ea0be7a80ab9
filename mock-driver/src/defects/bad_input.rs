//! What is no proper call, gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::request::is_healthz;
use axum::http::{Method, StatusCode};
use lbcf_driver_sdk::webhook::Class;

/// The scope of what bad JSON leaves behind.
const CORRUPTED: &str = "corrupted";

pub(super) fn before(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    let webhook = call.webhook_of_path();
    let is_bad_json = webhook.is_some() && call.is_broken() && !call.raw().is_empty();
    match defect {
        Defect::DiesOnBadJson if is_bad_json => {
            at.death.come();
            Some(Answer::crash("Segmentation fault"))
        }
        Defect::BadJson500 if is_bad_json => Some(Answer::crash("JSONDecodeError")),
        Defect::BadJsonSucc if is_bad_json => Some(success(call)),
        Defect::UnhealthyAfterBadJson | Defect::CreateFailsAfterBadJson if is_bad_json => {
            at.memory.put(CORRUPTED, "", true);
            None
        }
        Defect::CreateFailsAfterBadJson
            if call.is("createLoadBalancer") && at.memory.knows(CORRUPTED, "") =>
        {
            Some(Answer::fail("the connection to the database is closed"))
        }
        Defect::GetExecutes
            if call.method == Method::GET && webhook.is_some() && !is_healthz(call) =>
        {
            Some(success(call))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    let wrong_types = answer.status == StatusCode::BAD_REQUEST && call.json().is_some();
    match defect {
        Defect::WrongTypesAccepted if wrong_types => *answer = success(call),
        Defect::WrongTypes500 if wrong_types => *answer = Answer::crash("TypeError"),
        Defect::UnknownPath200 if answer.status == StatusCode::NOT_FOUND => {
            *answer = Answer::succ();
        }
        Defect::BigBody500 if answer.status == StatusCode::PAYLOAD_TOO_LARGE => {
            *answer = Answer::crash("MemoryError");
        }
        Defect::HealthzUnhealthy if is_healthz(call) => answer.set("healthy", false),
        Defect::UnhealthyAfterBadJson if is_healthz(call) && at.memory.knows(CORRUPTED, "") => {
            answer.set("healthy", false);
        }
        _ => {}
    }
}

/// A success of the webhook that the path names.
fn success(call: &Call) -> Answer {
    match call.webhook_of_path().map(|webhook| webhook.class) {
        Some(Class::Verdict) => Answer::verdict(true, ""),
        Some(Class::Health) => Answer::json(StatusCode::OK, serde_json::json!({"healthy": true})),
        Some(Class::Operation) | None => Answer::succ(),
    }
}
