//! Defects of `validateBackend`.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use crate::validate_load_balancer::UNSTABLE_AFTER;
use axum::http::StatusCode;

pub(crate) fn before(defect: Defect, driver: &Driver, request: &HookRequest) -> Option<Reply> {
    if !request.is("validateBackend") {
        return None;
    }
    let backend_type = request.text("backendType");
    let is_update = request.text("operation") == "Update";
    match defect {
        Defect::ServiceTypeRefused if backend_type == "Service" && !is_update => {
            Some(Reply::verdict(false, "only pods are supported"))
        }
        Defect::StaticTypeRefused if backend_type == "Static" && !is_update => {
            Some(Reply::verdict(false, "only pods are supported"))
        }
        Defect::ValidateBackendNullLb500 if request.map("lbInfo").is_empty() => {
            Some(Reply::crash("'NoneType' object is not subscriptable"))
        }
        Defect::OldParametersLowercaseOnly
            if is_update && request.get("oldParameters").is_none() =>
        {
            Some(Reply::verdict(false, "oldParameters is missing"))
        }
        Defect::UnstableBackendVerdict
            if request.existed
                && driver.memory.count(defect.id(), &request.content()) >= UNSTABLE_AFTER =>
        {
            Some(Reply::verdict(false, "try again later"))
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if !request.is("validateBackend") {
        return;
    }
    match defect {
        Defect::InvalidParametersAccepted if reply.is_rejection() => {
            *reply = Reply::verdict(true, "");
        }
        Defect::InvalidParameters400 if reply.is_rejection() => {
            *reply = Reply::error(StatusCode::BAD_REQUEST, reply.message());
        }
        Defect::ValidateBackendBinds if request.existed && !request.dry_run() => {
            if let Some(endpoint) = request.endpoint() {
                let number = driver.memory.count(defect.id(), "");
                let address = format!("validation-{number}");
                let target = cloud_lookup::stray(request.map("parameters"));
                let _ = driver.cloud.bind(&endpoint, &address, target);
            }
        }
        _ => {}
    }
}
