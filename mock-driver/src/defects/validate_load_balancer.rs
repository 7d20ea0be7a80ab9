//! `validateLoadBalancer` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::view;
use axum::http::StatusCode;

/// From which equal call on an unstable verdict is another one.
pub(super) const UNSTABLE_AFTER: u64 = 6;

pub(super) fn before(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    if !call.is("validateLoadBalancer") {
        return None;
    }
    let operation = call.text("operation");
    match defect {
        Defect::ValidLbRefused if operation != "Update" => {
            Some(Answer::verdict(false, "no load balancers today"))
        }
        Defect::ValidHttpLbRefused if call.wants_http() => Some(Answer::verdict(
            false,
            "listeners for HTTP are not supported",
        )),
        Defect::UpdateRefused if operation == "Update" => {
            Some(Answer::verdict(false, "load balancers cannot be changed"))
        }
        Defect::UnknownOperation500 if !["", "Create", "Update"].contains(&operation) => {
            Some(Answer::crash(&format!("KeyError: {operation:?}")))
        }
        Defect::UnstableVerdict
            if at.memory.count(defect.id(), &call.content()) >= UNSTABLE_AFTER =>
        {
            Some(Answer::verdict(false, "try again later"))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if !call.is("validateLoadBalancer") {
        return;
    }
    let operation = call.text("operation");
    let is_create = ["", "Create"].contains(&operation);
    match defect {
        Defect::InvalidLbAccepted if is_create && answer.is_refusal() => {
            *answer = Answer::verdict(true, "");
        }
        Defect::InvalidLb400 if is_create && answer.is_refusal() => {
            *answer = Answer::error(StatusCode::BAD_REQUEST, answer.message());
        }
        Defect::ForbiddenUpdateAccepted if operation == "Update" => {
            *answer = Answer::verdict(true, "");
        }
        Defect::UnknownOperationAccepted if !is_create && operation != "Update" => {
            *answer = Answer::verdict(true, "");
        }
        Defect::ValidateCreates if !call.dry_run() && is_create && !answer.is_refusal() => {
            let number = at.memory.count(defect.id(), "");
            view::make_one_more(&at.cloud, &format!("to see whether it works: {number}"));
        }
        _ => {}
    }
}
