//! Defects of `validateLoadBalancer`.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use axum::http::StatusCode;

/// After how many equal requests an unstable verdict changes.
pub(crate) const UNSTABLE_AFTER: u64 = 6;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &HookRequest) -> Option<Reply> {
    if !request.is("validateLoadBalancer") {
        return None;
    }
    let operation = request.text("operation");
    match defect {
        Defect::ValidLbRefused if operation != "Update" => {
            Some(Reply::verdict(false, "no load balancers today"))
        }
        Defect::ValidHttpLbRefused if request.wants_http() => Some(Reply::verdict(
            false,
            "listeners for HTTP are not supported",
        )),
        Defect::UpdateRefused if operation == "Update" => {
            Some(Reply::verdict(false, "load balancers cannot be changed"))
        }
        Defect::UnknownOperation500 if !["", "Create", "Update"].contains(&operation) => {
            Some(Reply::crash(&format!("KeyError: {operation:?}")))
        }
        Defect::UnstableVerdict
            if driver.memory.count(defect.id(), &request.content()) >= UNSTABLE_AFTER =>
        {
            Some(Reply::verdict(false, "try again later"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if !request.is("validateLoadBalancer") {
        return;
    }
    let operation = request.text("operation");
    let is_create = ["", "Create"].contains(&operation);
    match defect {
        Defect::InvalidLbAccepted if is_create && reply.is_rejection() => {
            *reply = Reply::verdict(true, "");
        }
        Defect::InvalidLb400 if is_create && reply.is_rejection() => {
            *reply = Reply::error(StatusCode::BAD_REQUEST, reply.message());
        }
        Defect::ForbiddenUpdateAccepted if operation == "Update" => {
            *reply = Reply::verdict(true, "");
        }
        Defect::UnknownOperationAccepted if !is_create && operation != "Update" => {
            *reply = Reply::verdict(true, "");
        }
        Defect::ValidateCreates if !request.dry_run() && is_create && !reply.is_rejection() => {
            let number = driver.memory.count(defect.id(), "");
            cloud_lookup::create_another(&driver.cloud, &format!("validation {number}"));
        }
        _ => {}
    }
}
