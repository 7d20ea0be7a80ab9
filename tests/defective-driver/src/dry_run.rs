//! Defects of dry runs.

use crate::Defect;
use crate::cloud_lookup;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::{Reply, ReplyBody};
use crate::request_form::is_healthz;
use axum::http::StatusCode;
use serde_json::{Value, json};

pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    let acts = match defect {
        Defect::DryRunActsDelete => "deleteLoadBalancer",
        Defect::DryRunActsEnsureLb => "ensureLoadBalancer",
        Defect::DryRunActsEnsureBackend => "ensureBackend",
        Defect::DryRunActsDeregister => "deregisterBackend",
        _ => return before_others(defect, driver, request),
    };
    if request.is(acts) && request.dry_run() {
        request.set("dryRun", false);
    }
    None
}

fn before_others(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    let is_missing =
        request.webhook().is_some() && !is_healthz(request) && request.get("dryRun").is_none();
    match defect {
        Defect::DryRunActsCreate if request.is("createLoadBalancer") && request.dry_run() => {
            let token = format!("dry run of {}", request.record_id());
            cloud_lookup::create_another(&driver.cloud, &token);
            None
        }
        Defect::DryRunCached if !request.dry_run() => {
            match driver.memory.get(defect.id(), &request.operation_key())? {
                done @ Value::Object(_) => Some(Reply::json(StatusCode::OK, done)),
                _ => None,
            }
        }
        Defect::MissingDryRun400 if is_missing => {
            Some(Reply::error(StatusCode::BAD_REQUEST, "dryRun is missing"))
        }
        Defect::MissingDryRunMeansTrue if is_missing => {
            request.set("dryRun", true);
            None
        }
        _ => None,
    }
}

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    if !request.is_operation() || !request.dry_run() {
        return;
    }
    match defect {
        Defect::DryRunCached
            if reply.is_succ()
                && (request.is("createLoadBalancer") || request.is("ensureBackend")) =>
        {
            if let Some(done) = reply.object() {
                driver
                    .memory
                    .put(defect.id(), &request.operation_key(), done.clone());
            }
        }
        Defect::DryRunAlwaysSucc => *reply = Reply::succ(),
        Defect::DryRunBareAnswer => reply.body = ReplyBody::Json(json!({"dryRun": true})),
        _ => {}
    }
}
