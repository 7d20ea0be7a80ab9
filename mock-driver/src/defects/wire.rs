//! Answers of the wrong form.

use super::Defect;
use super::answer::{Answer, Content};
use super::call::Call;
use super::context::Context;
use super::create::hand_out;
use super::ledger;
use super::slow::cloud_is_out;
use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, header};
use lbcf_driver_sdk::webhook::Class;
use serde_json::{Value, json};

pub(super) fn after(defect: Defect, at: &Context, call: &Call, answer: &mut Answer) {
    let Some(webhook) = call.webhook() else {
        return;
    };
    match defect {
        Defect::StringDelay => delay(call, answer, "minRetryDelayInSeconds", json!("5")),
        Defect::FractionalDelay => delay(call, answer, "minRetryDelayInSeconds", json!(0.5)),
        Defect::HugeDelay => delay(call, answer, "minRetryDelayInSeconds", json!(86400)),
        Defect::NegativeDelay => delay(call, answer, "minRetryDelayInSeconds", json!(-1)),
        Defect::ProseDelaySpelling => delay(call, answer, "minRetryDelayinSeconds", json!(5)),
        Defect::IntInMap => hand_out(at, call, answer, "port", json!(80)),
        Defect::IntInInjectedInfo if call.is("ensureBackend") && answer.is_succ() => {
            answer.set("injectedInfo", json!({"weight": 50}));
        }
        Defect::ListForMap if call.is("ensureBackend") && answer.is_succ() => {
            answer.set("injectedInfo", json!([]));
        }
        Defect::StatusLowercase => {
            let status = answer.get("status").and_then(Value::as_str);
            if let Some(lower) = status.map(str::to_lowercase) {
                answer.set("status", lower);
            }
        }
        Defect::StatusWords => {
            let words = [("Succ", "Success"), ("Fail", "Failed")];
            let found = words.into_iter().find(|(status, _)| answer.says(status));
            if let Some((_, word)) = found {
                answer.set("status", word);
            }
        }
        Defect::StatusMissing
            if call.does("deregisterBackend") && ledger::was_never_bound(at, call) =>
        {
            answer.remove("status");
        }
        Defect::Http201 => ok_becomes(answer, StatusCode::CREATED),
        Defect::Http201OnCreate if call.does("createLoadBalancer") && answer.is_succ() => {
            ok_becomes(answer, StatusCode::CREATED);
        }
        Defect::Http202Running
            if answer.says("Running") && !call.dry_run() && !cloud_is_out(answer) =>
        {
            ok_becomes(answer, StatusCode::ACCEPTED);
        }
        Defect::ArrayBody if webhook.class == Class::Health => {
            if let Content::Json(body) = &mut answer.body {
                *body = json!([body.take()]);
            }
        }
        Defect::HealthzPlainText if webhook.class == Class::Health => {
            let plain = HeaderValue::from_static("text/plain");
            answer.headers.insert(header::CONTENT_TYPE, plain);
            answer.body = Content::Other(Bytes::from_static(b"ok"));
        }
        Defect::MsgAsObject if answer.get("msg") == Some(&json!("")) => {
            answer.set("msg", json!({}));
        }
        Defect::SuccAsString if call.is("validateBackend") && answer.is_refusal() => {
            answer.set("succ", "false");
        }
        Defect::HealthyAsString if answer.get("healthy") == Some(&json!(true)) => {
            answer.set("healthy", "true");
        }
        Defect::HtmlMediaType => {
            let html = HeaderValue::from_static("text/html; charset=utf-8");
            answer.headers.insert(header::CONTENT_TYPE, html);
        }
        Defect::NoMediaType => {
            answer.headers.remove(header::CONTENT_TYPE);
        }
        Defect::EmptyMsg if answer.says("Fail") || answer.is_refusal() => answer.set("msg", ""),
        Defect::MsgMissing if call.text("operation") == "Update" && answer.is_refusal() => {
            answer.remove("msg");
        }
        _ => {}
    }
}

/// Adds a delay to an operation that is over: nobody waits for it, but everybody reads it.
fn delay(call: &Call, answer: &mut Answer, field: &str, value: Value) {
    if call.is_operation() && answer.get("status").is_some() && !answer.says("Running") {
        answer.set(field, value);
    }
}

fn ok_becomes(answer: &mut Answer, status: StatusCode) {
    if answer.status == StatusCode::OK {
        answer.status = status;
    }
}
