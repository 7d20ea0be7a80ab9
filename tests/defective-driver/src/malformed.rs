//! Defects of malformed requests.

use crate::Defect;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use crate::request_form::is_healthz;
use axum::http::{Method, StatusCode};
use lbcf_driver_sdk::webhook::Class;

/// Set once bad JSON has corrupted the driver.
const CORRUPTED: &str = "corrupted";

pub(crate) fn before(defect: Defect, driver: &Driver, request: &HookRequest) -> Option<Reply> {
    let webhook = request.webhook_of_path();
    let is_bad_json = webhook.is_some() && request.is_not_json() && !request.raw().is_empty();
    match defect {
        Defect::DiesOnBadJson if is_bad_json => {
            driver.crash.cancel();
            Some(Reply::crash("Segmentation fault"))
        }
        Defect::BadJson500 if is_bad_json => Some(Reply::crash("JSONDecodeError")),
        Defect::BadJsonSucc if is_bad_json => Some(success(request)),
        Defect::TextAfterJson if is_bad_json && begins_with_json(request.raw()) => {
            Some(success(request))
        }
        Defect::UnhealthyAfterBadJson | Defect::CreateFailsAfterBadJson if is_bad_json => {
            driver.memory.put(CORRUPTED, "", true);
            None
        }
        Defect::CreateFailsAfterBadJson
            if request.is("createLoadBalancer") && driver.memory.contains(CORRUPTED, "") =>
        {
            Some(Reply::fail("the connection to the database is closed"))
        }
        Defect::GetExecutes
            if request.method == Method::GET && webhook.is_some() && !is_healthz(request) =>
        {
            Some(success(request))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    let wrong_types = reply.status == StatusCode::BAD_REQUEST && request.json().is_some();
    match defect {
        Defect::WrongTypesAccepted if wrong_types => *reply = success(request),
        Defect::WrongTypes500 if wrong_types => *reply = Reply::crash("TypeError"),
        Defect::UnknownPath200 if reply.status == StatusCode::NOT_FOUND => {
            *reply = Reply::succ();
        }
        Defect::BigBody500 if reply.status == StatusCode::PAYLOAD_TOO_LARGE => {
            *reply = Reply::crash("MemoryError");
        }
        Defect::HealthzUnhealthy if is_healthz(request) => reply.set("healthy", false),
        Defect::UnhealthyAfterBadJson
            if is_healthz(request) && driver.memory.contains(CORRUPTED, "") =>
        {
            reply.set("healthy", false);
        }
        _ => {}
    }
}

fn begins_with_json(body: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<serde_json::Value>();
    matches!(values.next(), Some(Ok(value)) if value.is_object())
}

/// A success of the webhook that the path names.
fn success(request: &HookRequest) -> Reply {
    match request.webhook_of_path().map(|webhook| webhook.class) {
        Some(Class::Verdict) => Reply::verdict(true, ""),
        Some(Class::Health) => Reply::json(StatusCode::OK, serde_json::json!({"healthy": true})),
        Some(Class::Operation) | None => Reply::succ(),
    }
}
