//! Allowed and denied requests, and warnings.

use serde_json::{Value, json};

use super::warned;
use crate::fixture::{WIDGETS, call, cluster, quick, widget};
use crate::webhook::{Webhooks, install};

#[tokio::test]
async fn a_denial_names_the_webhook_and_the_reason() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/object/metadata/name") {
        "plain" => call.deny(json!({"message": "because"})),
        "coded" => call.deny(json!({
            "message": "because", "reason": "Forbidden", "code": 403,
            "details": {"causes": [{"message": "c"}]},
        })),
        "reasoned" => call.deny(json!({"reason": "TooRed", "code": 422})),
        "success" => call.deny(json!({"message": "because", "code": 200, "status": "Success"})),
        "silent" => call.respond(json!({"response": {"allowed": false}})),
        _ => call.allow(),
    })
    .await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let denied = "admission webhook \"validate.example.com\" denied the request";
    for (name, code, message, reason, details) in [
        (
            "plain",
            400,
            format!("{denied}: because"),
            Value::Null,
            Value::Null,
        ),
        (
            "coded",
            403,
            format!("{denied}: because"),
            json!("Forbidden"),
            json!({"causes": [{"message": "c"}]}),
        ),
        (
            "reasoned",
            422,
            format!("{denied}: TooRed"),
            json!("TooRed"),
            Value::Null,
        ),
        (
            "success",
            400,
            format!("{denied}: because"),
            Value::Null,
            Value::Null,
        ),
        (
            "silent",
            400,
            format!("{denied} without explanation"),
            Value::Null,
            Value::Null,
        ),
    ] {
        let (status, body) = call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
        assert_eq!(
            (status.as_u16(), &body["code"]),
            (code, &json!(code)),
            "{name}"
        );
        assert_eq!(body["message"], json!(message));
        assert_eq!(
            (&body["reason"], &body["details"]),
            (&reason, &details),
            "{name}"
        );
        assert_eq!(body["status"], "Failure");
        let path = format!("{WIDGETS}/{name}");
        assert_eq!(call(&cluster, "GET", &path, None).await.0, 404, "{name}");
    }
    let (status, _) = call(&cluster, "POST", WIDGETS, Some(widget("fine"))).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn one_denial_among_many_is_enough() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.path.as_str() {
        "/no" | "/never-again" => call.deny(json!({"message": call.path})),
        _ => call.allow(),
    })
    .await;
    let hook = |name: &str, path| webhooks.webhook(&format!("{name}.x.y"), path, json!({}));
    let hooks = [
        hook("a", "/yes"),
        hook("b", "/no"),
        hook("c", "/never-again"),
    ];
    install(&cluster, "Validating", "v", &hooks).await;
    let (_, body) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    // All are called; the client receives the first denial.
    assert_eq!(
        body["message"],
        "admission webhook \"b.x.y\" denied the request: /no"
    );
    assert_eq!(webhooks.calls().len(), 3);
}

#[tokio::test]
async fn warnings_reach_the_client_with_any_decision() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| {
        let warnings = json!(["old \"name\"", "旧字段", "old \"name\"", "", "two\nlines"]);
        call.respond(json!({"response": {
            "allowed": call.at("/object/metadata/name") != "bad", "warnings": warnings,
        }}))
    })
    .await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let expected = ["299 - \"old \\\"name\\\"\"", "299 - \"旧字段\""];
    let (status, _, warnings) = warned(&cluster, "POST", WIDGETS, Some(widget("good"))).await;
    assert_eq!(
        (status, warnings.as_slice()),
        (201, &expected.map(str::to_owned)[..])
    );
    let mut odd = widget("bad");
    odd["spec"]["colr"] = json!("x");
    let (status, _, warnings) = warned(&cluster, "POST", WIDGETS, Some(odd)).await;
    let mut all = vec!["299 - \"unknown field \\\"spec.colr\\\"\"".to_owned()];
    all.extend(expected.map(str::to_owned));
    assert_eq!((status, warnings), (400, all));
    let path = format!("{WIDGETS}/good");
    let (status, _, warnings) = warned(&cluster, "DELETE", &path, None).await;
    assert_eq!((status, warnings.len()), (200, 2));
}

#[tokio::test]
async fn many_warnings_are_truncated() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| {
        let warnings: Vec<String> = (0..100)
            .map(|n| format!("{n:03}{}", "x".repeat(500)))
            .collect();
        call.respond(json!({"response": {"warnings": warnings}}))
    })
    .await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let (_, _, warnings) = warned(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(warnings.len(), 16);
    assert!(warnings.iter().all(|w| w.len() == "299 - \"\"".len() + 256));
}
