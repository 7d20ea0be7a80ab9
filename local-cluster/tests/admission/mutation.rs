//! Mutating webhooks.

use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, widget};
use crate::webhook::{WebhookCall, Webhooks, install};

/// Appends the last part of the path to a label, in order of the calls.
fn sign(call: &WebhookCall) -> axum::response::Response {
    let who = call.path.trim_start_matches('/');
    let labels = &call.request["object"]["metadata"]["labels"];
    let before = labels["seen"].as_str().unwrap_or_default();
    let mut labels = labels.as_object().cloned().unwrap_or_default();
    labels.insert("seen".to_owned(), Value::from(format!("{before}{who}")));
    call.patch(json!([{"op": "add", "path": "/metadata/labels", "value": labels}]))
}

async fn seen(webhooks: &[(&str, &str, Value)]) -> Value {
    let cluster = cluster(quick()).await;
    let server = Webhooks::start(|call| match call.path.as_str() {
        "/nothing" => call.patch(json!([])),
        "/same" => call.patch(json!([{"op": "replace", "path": "/spec/colour", "value": "red"}])),
        _ => sign(call),
    })
    .await;
    for (configuration, paths, change) in webhooks {
        let hooks: Vec<Value> = paths
            .split(' ')
            .map(|path| {
                let name = format!("{path}.{configuration}.x");
                server.webhook(&name, &format!("/{path}"), change.clone())
            })
            .collect();
        install(&cluster, "Mutating", configuration, &hooks).await;
    }
    let (status, created) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(status, 201, "{created}");
    created["metadata"]["labels"]["seen"].clone()
}

#[tokio::test]
async fn webhooks_are_called_one_after_the_other() {
    let order = [("b", "d c", json!({})), ("a", "a b", json!({}))];
    assert_eq!(seen(&order).await, "abdc");
}

#[tokio::test]
async fn webhooks_are_reinvoked_once() {
    let again = || json!({"reinvocationPolicy": "IfNeeded"});
    // `a` is called again for the change of `b`, `b` for that of `c`; `c` was the last.
    let all = [("1", "a b", again()), ("2", "c", json!({}))];
    assert_eq!(seen(&all).await, "abcab");
    // Nothing changed after `b`.
    let last = [("1", "a b", again()), ("2", "nothing same", json!({}))];
    assert_eq!(seen(&last).await, "aba");
    let never = [("1", "a b c", json!({}))];
    assert_eq!(seen(&never).await, "abc");
}

#[tokio::test]
async fn a_webhook_receives_the_object_with_defaults() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    let mut body = widget("a");
    body["metadata"]["uid"] = json!("mine");
    body["spec"]["colr"] = json!("x");
    let (_, created) = call(&cluster, "POST", WIDGETS, Some(body)).await;
    let mut seen = webhooks.calls()[0].request["object"].clone();
    let managers = seen["metadata"].as_object_mut().unwrap();
    assert!(managers.remove("managedFields").is_some());
    assert_eq!(
        seen,
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"colour": "red", "size": 1},
        })
    );
    assert_ne!(created["metadata"]["uid"], "mine");
    // Strict field validation rejects the object before any webhook is called.
    let mut odd = widget("b");
    odd["spec"]["colr"] = json!("x");
    let path = format!("{WIDGETS}?fieldValidation=Strict");
    assert_eq!(call(&cluster, "POST", &path, Some(odd)).await.0, 400);
    assert_eq!(webhooks.calls().len(), 1);
}

#[tokio::test]
async fn patched_objects_are_pruned_defaulted_and_validated() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/object/metadata/name") {
        "pruned" => call.patch(json!([
            {"op": "add", "path": "/spec/unknown", "value": 1},
            {"op": "remove", "path": "/spec/size"},
        ])),
        "wrong" => call.patch(json!([{"op": "replace", "path": "/spec/colour", "value": "green"}])),
        "other" => call.patch(json!([{"op": "replace", "path": "/kind", "value": "Gadget"}])),
        "unfit" => call.patch(json!([{"op": "add", "path": "/metadata/labels/a", "value": "b"}])),
        "typed" => call.patch(json!([{"op": "replace", "path": "/metadata", "value": 1}])),
        "merge" => call.respond(json!({"response": {"patch": "e30=", "patchType": "MergePatch"}})),
        "junk" => call.respond(json!({"response": {"patch": "e30=", "patchType": "JSONPatch"}})),
        _ => call.allow(),
    })
    .await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    let (_, pruned) = call(&cluster, "POST", WIDGETS, Some(widget("pruned"))).await;
    assert_eq!(pruned["spec"], json!({"colour": "red", "size": 1}));
    let failed = "Internal error occurred: failed calling webhook \"mutate.example.com\": ";
    for (name, code, expected) in [
        (
            "wrong",
            422,
            "Widget.example.com \"wrong\" is invalid: spec.colour: Unsupported value: \"green\"".to_owned(),
        ),
        (
            "other",
            500,
            "Internal error occurred: admission webhook \"mutate.example.com\" turned a Widget".to_owned(),
        ),
        (
            "unfit",
            500,
            "Internal error occurred: add operation does not apply: doc is missing path: \"/metadata/labels/a\": missing value".to_owned(),
        ),
        (
            "typed",
            500,
            "Internal error occurred: Widget in version \"v1\" cannot be handled as a Widget".to_owned(),
        ),
        (
            "merge",
            500,
            format!("{failed}unsupported patch type \"MergePatch\""),
        ),
        (
            "junk",
            500,
            format!("{failed}received undecodable patch in webhook response: "),
        ),
    ] {
        let (status, body) = call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
        assert_eq!(status, code, "{body}");
        let message = body["message"].as_str().unwrap();
        assert!(message.starts_with(&expected), "{message}");
        let path = format!("{WIDGETS}/{name}");
        assert_eq!(call(&cluster, "GET", &path, None).await.0, 404);
    }
}

#[tokio::test]
async fn the_next_webhook_receives_no_unknown_fields() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.path.as_str() {
        "/1" => call.patch(json!([
            {"op": "add", "path": "/spec/unknown", "value": 1},
            {"op": "remove", "path": "/spec/size"},
        ])),
        _ => call.allow(),
    })
    .await;
    let hooks = ["1", "2"].map(|n| {
        let (name, path) = (format!("n{n}.x.y"), format!("/{n}"));
        webhooks.webhook(&name, &path, json!({}))
    });
    install(&cluster, "Mutating", "m", &hooks).await;
    let path = format!("{WIDGETS}?fieldValidation=Strict");
    assert_eq!(
        call(&cluster, "POST", &path, Some(widget("a"))).await.0,
        201
    );
    let spec = &webhooks.calls()[1].request["object"]["spec"];
    assert_eq!(spec, &json!({"colour": "red", "size": 1}));
}

#[tokio::test]
async fn a_denial_by_a_mutating_webhook_ends_the_review() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.deny(json!({"message": "no"}))).await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let (status, body) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    assert_eq!(status, 400);
    assert_eq!(
        body["message"],
        "admission webhook \"mutate.example.com\" denied the request: no"
    );
    assert_eq!(webhooks.calls().len(), 1);
}

#[tokio::test]
async fn validating_webhooks_receive_the_object_to_store() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.path.as_str() {
        "/m" => sign(call),
        _ => call.allow(),
    })
    .await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    webhooks.validate(&cluster, "/v", json!({})).await;
    let (_, mut created) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let calls = webhooks.calls();
    assert_eq!(
        (calls[0].path.as_str(), calls[1].path.as_str()),
        ("/m", "/v")
    );
    created["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    assert_eq!(calls[1].request["object"], created);
    assert_ne!(calls[0].request["uid"], calls[1].request["uid"]);
}

#[tokio::test]
async fn a_deletion_cannot_be_changed() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/operation") {
        "DELETE" => call.patch(json!([{"op": "add", "path": "/metadata", "value": {}}])),
        _ => call.allow(),
    })
    .await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let path = format!("{WIDGETS}/a");
    let (status, body) = call(&cluster, "DELETE", &path, None).await;
    assert_eq!(status, 500);
    assert_eq!(
        body["message"],
        "Internal error occurred: admission webhook \"mutate.example.com\" attempted to modify the object, which is not supported for this operation"
    );
    assert_eq!(call(&cluster, "GET", &path, None).await.0, 200);
}
