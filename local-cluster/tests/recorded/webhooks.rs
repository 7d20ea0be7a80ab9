//! The admission webhooks of the recorded configurations.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::webhook::{WebhookCall, Webhooks};

pub(super) async fn start() -> Webhooks {
    Webhooks::start(response).await
}

fn response(call: &WebhookCall) -> Response {
    let creates = call.at("/operation") == "CREATE";
    if call.path.starts_with("/mutate") && creates {
        return call.patch(json!([{
            "op": "add", "path": "/metadata/finalizers",
            "value": ["lbcf.tkestack.io/delete-load-loadbalancer"],
        }]));
    }
    if !call.path.starts_with("/validate") {
        return call.allow();
    }
    let has = |pointer: &str| call.request.pointer(pointer).is_some();
    if has("/object/spec/lbSpec/deny") {
        let message = "invalid LoadBalancer: clb instance lb-notexist not found";
        return call.deny(json!({"message": message, "code": 403}));
    }
    if call.at("/operation") == "DELETE"
        && has("/oldObject/metadata/labels/lbcf.tkestack.io~1do-not-delete")
    {
        return call.deny(json!({"message": "object has label do-not-delete"}));
    }
    if creates && has("/object/metadata/labels/warn") {
        let warning = "spec.lbName is deprecated: use spec.loadBalancers";
        return call.respond(json!({"response": {"warnings": [warning]}}));
    }
    call.allow()
}

/// Sets the URLs of a recorded configuration to these webhooks.
pub(super) fn point(configuration: &mut Value, webhooks: &Webhooks) {
    let all = configuration["webhooks"].as_array_mut().unwrap();
    for webhook in all {
        let config = &mut webhook["clientConfig"];
        let url = config["url"].as_str().unwrap();
        let (_, path) = url.trim_start_matches("https://").split_once('/').unwrap();
        config["url"] = format!("https://{}/{path}", webhooks.address).into();
        config["caBundle"] = STANDARD.encode(&webhooks.authority).into();
    }
}
