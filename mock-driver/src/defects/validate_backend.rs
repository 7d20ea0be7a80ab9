//! `validateBackend` gone wrong.

use super::Defect;
use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::validate_load_balancer::UNSTABLE_AFTER;
use super::view;
use axum::http::StatusCode;

pub(super) fn before(defect: Defect, at: &Context, call: &Call) -> Option<Answer> {
    if !call.is("validateBackend") {
        return None;
    }
    let backend_type = call.text("backendType");
    let is_update = call.text("operation") == "Update";
    match defect {
        Defect::ServiceTypeRefused if backend_type == "Service" && !is_update => {
            Some(Answer::verdict(false, "only pods are supported"))
        }
        Defect::StaticTypeRefused if backend_type == "Static" && !is_update => {
            Some(Answer::verdict(false, "only pods are supported"))
        }
        Defect::ValidateBackendNullLb500 if call.map("lbInfo").is_empty() => {
            Some(Answer::crash("'NoneType' object is not subscriptable"))
        }
        Defect::OldParametersLowercaseOnly if is_update && call.get("oldParameters").is_none() => {
            Some(Answer::verdict(false, "oldParameters is missing"))
        }
        Defect::UnstableBackendVerdict
            if call.existed && at.memory.count(defect.id(), &call.content()) >= UNSTABLE_AFTER =>
        {
            Some(Answer::verdict(false, "try again later"))
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if !call.is("validateBackend") {
        return;
    }
    match defect {
        Defect::InvalidParametersAccepted if answer.is_refusal() => {
            *answer = Answer::verdict(true, "");
        }
        Defect::InvalidParameters400 if answer.is_refusal() => {
            *answer = Answer::error(StatusCode::BAD_REQUEST, answer.message());
        }
        Defect::ValidateBackendBinds if call.existed && !call.dry_run() => {
            if let Some(endpoint) = call.endpoint() {
                let number = at.memory.count(defect.id(), "");
                let address = format!("to-see-whether-it-works-{number}");
                let target = view::stray(call.map("parameters"));
                let _ = at.cloud.bind(&endpoint, &address, target);
            }
        }
        _ => {}
    }
}
