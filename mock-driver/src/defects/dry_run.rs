//! Dry runs gone wrong.

use super::Defect;
use super::answer::{Answer, Content};
use super::call::Call;
use super::context::Context;
use super::request::is_healthz;
use super::view;
use axum::http::StatusCode;
use serde_json::{Value, json};

pub(super) fn before(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    let acts = match defect {
        Defect::DryRunActsDelete => "deleteLoadBalancer",
        Defect::DryRunActsEnsureLb => "ensureLoadBalancer",
        Defect::DryRunActsEnsureBackend => "ensureBackend",
        Defect::DryRunActsDeregister => "deregisterBackend",
        _ => return before_others(defect, at, call),
    };
    if call.is(acts) && call.dry_run() {
        call.set("dryRun", false);
    }
    None
}

fn before_others(defect: Defect, at: &Context, call: &mut Call) -> Option<Answer> {
    let is_missing = call.webhook().is_some() && !is_healthz(call) && call.get("dryRun").is_none();
    match defect {
        Defect::DryRunActsCreate if call.is("createLoadBalancer") && call.dry_run() => {
            let token = format!("rehearsal of {}", call.record_id());
            view::make_one_more(&at.cloud, &token);
            None
        }
        Defect::DryRunCached if !call.dry_run() => {
            match at.memory.get(defect.id(), &call.operation_key())? {
                done @ Value::Object(_) => Some(Answer::json(StatusCode::OK, done)),
                _ => None,
            }
        }
        Defect::MissingDryRun400 if is_missing => {
            Some(Answer::error(StatusCode::BAD_REQUEST, "dryRun is missing"))
        }
        Defect::MissingDryRunMeansTrue if is_missing => {
            call.set("dryRun", true);
            None
        }
        _ => None,
    }
}

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    if !call.is_operation() || !call.dry_run() {
        return;
    }
    match defect {
        Defect::DryRunCached
            if answer.is_succ() && (call.is("createLoadBalancer") || call.is("ensureBackend")) =>
        {
            if let Some(done) = answer.object() {
                at.memory
                    .put(defect.id(), &call.operation_key(), done.clone());
            }
        }
        Defect::DryRunBareAnswer => answer.body = Content::Json(json!({"dryRun": true})),
        _ => {}
    }
}
