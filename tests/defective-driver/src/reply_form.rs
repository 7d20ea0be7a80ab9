//! Replies of the wrong form.

use crate::Defect;
use crate::create::add_to_identity;
use crate::driver::Driver;
use crate::history;
use crate::hook_request::HookRequest;
use crate::latency::is_outage;
use crate::reply::{Reply, ReplyBody};
use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Value, json};

pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    let Some(webhook) = request.webhook() else {
        return;
    };
    match defect {
        Defect::StringDelay => delay(request, reply, "minRetryDelayInSeconds", json!("5")),
        Defect::FractionalDelay => delay(request, reply, "minRetryDelayInSeconds", json!(0.5)),
        Defect::HugeDelay => delay(request, reply, "minRetryDelayInSeconds", json!(86400)),
        Defect::NegativeDelay => delay(request, reply, "minRetryDelayInSeconds", json!(-1)),
        Defect::ProseDelaySpelling => delay(request, reply, "minRetryDelayinSeconds", json!(5)),
        Defect::IntInMap => add_to_identity(driver, request, reply, "port", json!(80)),
        Defect::IntInInjectedInfo if request.is("ensureBackend") && reply.is_succ() => {
            reply.set("injectedInfo", json!({"weight": 50}));
        }
        Defect::ListForMap if request.is("ensureBackend") && reply.is_succ() => {
            reply.set("injectedInfo", json!([]));
        }
        Defect::StatusLowercase => {
            let status = reply.get("status").and_then(Value::as_str);
            if let Some(lower) = status.map(str::to_lowercase) {
                reply.set("status", lower);
            }
        }
        Defect::StatusWords => {
            let words = [("Succ", "Success"), ("Fail", "Failed")];
            let found = words
                .into_iter()
                .find(|(status, _)| reply.has_status(status));
            if let Some((_, word)) = found {
                reply.set("status", word);
            }
        }
        Defect::StatusMissing
            if request.does("deregisterBackend") && history::was_never_ensured(driver, request) =>
        {
            reply.remove("status");
        }
        Defect::Http201 => replace_ok(reply, StatusCode::CREATED),
        Defect::Http201OnCreate if request.does("createLoadBalancer") && reply.is_succ() => {
            replace_ok(reply, StatusCode::CREATED);
        }
        Defect::Http202Running
            if reply.has_status("Running") && !request.dry_run() && !is_outage(reply) =>
        {
            replace_ok(reply, StatusCode::ACCEPTED);
        }
        Defect::ArrayBody if webhook.class == Class::Health => {
            if let ReplyBody::Json(body) = &mut reply.body {
                *body = json!([body.take()]);
            }
        }
        Defect::HealthzPlainText if webhook.class == Class::Health => {
            let plain = HeaderValue::from_static("text/plain");
            reply.headers.insert(header::CONTENT_TYPE, plain);
            reply.body = ReplyBody::Other(Bytes::from_static(b"ok"));
        }
        Defect::MsgAsObject if reply.get("msg") == Some(&json!("")) => {
            reply.set("msg", json!({}));
        }
        Defect::SuccAsString if request.is("validateBackend") && reply.is_rejection() => {
            reply.set("succ", "false");
        }
        Defect::HealthyAsString if reply.get("healthy") == Some(&json!(true)) => {
            reply.set("healthy", "true");
        }
        Defect::HtmlMediaType => {
            let html = HeaderValue::from_static("text/html; charset=utf-8");
            reply.headers.insert(header::CONTENT_TYPE, html);
        }
        Defect::NoMediaType => {
            reply.headers.remove(header::CONTENT_TYPE);
        }
        Defect::EmptyMsg if reply.has_status("Fail") || reply.is_rejection() => {
            reply.set("msg", "");
        }
        Defect::ReasonOfSuccess if reply.is_succ() => reply.set("reason", "Internal"),
        Defect::FeaturesAsText if webhook.class == Class::Health => {
            reply.set("features", "cancel,pages");
        }
        Defect::MsgMissing if request.text("operation") == "Update" && reply.is_rejection() => {
            reply.remove("msg");
        }
        _ => {}
    }
}

/// Adds a delay to an operation that has ended: no caller waits for it, but every caller reads it.
fn delay(request: &HookRequest, reply: &mut Reply, field: &str, value: Value) {
    if request.is_operation() && reply.get("status").is_some() && !reply.has_status("Running") {
        reply.set(field, value);
    }
}

fn replace_ok(reply: &mut Reply, status: StatusCode) {
    if reply.status == StatusCode::OK {
        reply.status = status;
    }
}
