//! WIRE and HLTH: the form of replies.

use crate::support::{Mock, backend, create, delete, order, pod_address, sample};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tower::ServiceExt;

/// A body for each webhook, with which it succeeds.
fn valid(lb_info: &Value) -> Vec<(&'static str, Value)> {
    let weight = json!({"weight": "50"});
    vec![
        ("healthz", json!({})),
        (
            "validateLoadBalancer",
            json!({"lbSpec": order(), "operation": "Create"}),
        ),
        ("createLoadBalancer", create("2", order())),
        (
            "ensureLoadBalancer",
            json!({"recordID": "e", "retryID": "r", "lbInfo": lb_info, "attributes": {"a": "b"}}),
        ),
        (
            "validateBackend",
            json!({"backendType": "Pod", "lbInfo": lb_info, "operation": "Create", "parameters": weight}),
        ),
        ("generateBackendAddr", pod_address("10.0.0.1", 80)),
        ("ensureBackend", backend(lb_info, "a", weight)),
        ("judgePodDeregister", json!({"notReadyPods": []})),
        (
            "listBackends",
            json!({"recordID": "l", "retryID": "r", "lbInfo": lb_info}),
        ),
        ("deregisterBackend", backend(lb_info, "a", Value::Null)),
        ("deleteLoadBalancer", delete("2", lb_info.clone())),
    ]
}

/// A body for each webhook that can say no, with which it does.
fn rejected() -> Vec<(&'static str, Value)> {
    let nowhere = json!({"lbID": "lb-x", "lblID": "l"});
    vec![
        ("validateLoadBalancer", json!({"lbSpec": {}})),
        ("createLoadBalancer", create("3", json!({}))),
        (
            "ensureLoadBalancer",
            json!({"recordID": "e", "lbInfo": nowhere}),
        ),
        ("validateBackend", json!({"parameters": {"weight": "x"}})),
        ("generateBackendAddr", pod_address("10.0.0.1", 0)),
        ("ensureBackend", backend(&nowhere, "a", Value::Null)),
        ("listBackends", json!({"recordID": "l", "lbInfo": nowhere})),
    ]
}

/// What every reply is like (WIRE-01 to 06, 11 and 13).
async fn has_the_form(mock: &Mock, webhook: &str, body: &Value) -> Value {
    let body = Body::from(body.to_string());
    let reply = mock.response("POST", &format!("/{webhook}"), body).await;
    assert_eq!(reply.status(), StatusCode::OK, "{webhook}");
    let media_type = reply.headers()[header::CONTENT_TYPE].to_str().unwrap();
    assert_eq!(media_type.split(';').next(), Some("application/json"));
    let bytes = reply.into_body().collect().await.unwrap().to_bytes();
    let reply: Value = serde_json::from_slice(&bytes).unwrap();
    let fields = reply.as_object().unwrap();
    let has_text = |field: &str| !reply[field].as_str().unwrap_or_default().is_empty();
    match webhook {
        "healthz" => assert!(reply["healthy"].is_boolean()),
        "validateLoadBalancer" | "validateBackend" | "judgePodDeregister" => {
            assert!(reply["succ"] == true || has_text("msg"), "{reply}");
        }
        _ => {
            let status = reply["status"].as_str().unwrap();
            assert!(["Succ", "Fail", "Running"].contains(&status), "{reply}");
            assert!(status == "Succ" || has_text("msg"), "{reply}");
        }
    }
    for (field, value) in fields {
        match field.as_str() {
            "minRetryDelayInSeconds" => assert!((0..=600).contains(&value.as_i64().unwrap())),
            "lbInfo" | "injectedInfo" => {
                let map = value.as_object().cloned().unwrap_or_default();
                assert!(map.values().all(Value::is_string), "{reply}");
            }
            "succ" | "healthy" => assert!(value.is_boolean()),
            "doNotDeregister" | "backends" => assert!(value.is_array()),
            "status" | "msg" | "backendAddr" => assert!(value.is_string(), "{reply}"),
            other => assert_eq!(other, "", "{webhook}: no field of an answer"),
        }
    }
    reply
}

#[tokio::test]
async fn wire_01_to_06_11_13_every_reply_has_the_right_form() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    for (webhook, body) in rejected() {
        let reply = has_the_form(&mock, webhook, &body).await;
        assert!(reply["status"] == "Fail" || reply["succ"] == false);
    }
    for (webhook, body) in valid(&created["lbInfo"]) {
        let reply = has_the_form(&mock, webhook, &body).await;
        let good = ["status", "succ", "healthy"].map(|field| reply[field].clone());
        assert!(
            good.contains(&json!("Succ")) || good.contains(&json!(true)),
            "{webhook}: {reply}"
        );
    }
    let slow = Mock::with_stages_of(Duration::from_secs(3));
    let reply = has_the_form(&slow, "createLoadBalancer", &create("1", order())).await;
    assert_eq!(reply["status"], "Running");
    slow.cloud.set_outage(true);
    has_the_form(&slow, "createLoadBalancer", &create("1", order())).await;
}

#[tokio::test]
async fn wire_08_unknown_fields_are_ignored() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    for (webhook, mut body) in valid(&created["lbInfo"]) {
        body["futureText"] = "x".into();
        body["futureList"] = json!([{"deep": [1, null]}]);
        body["status"] = "Fail".into();
        has_the_form(&mock, webhook, &body).await;
    }
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
}

#[tokio::test]
async fn wire_09_a_trailing_slash_is_not_redirected() {
    let mock = Mock::new();
    let before = mock.cloud.state();
    for (webhook, body) in valid(&Value::Null) {
        for path in [format!("/{webhook}/"), format!("//{webhook}")] {
            let (status, _) = mock.send("POST", &path, Body::from(body.to_string())).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        }
    }
    assert_eq!(mock.cloud.state(), before);
}

#[tokio::test]
async fn wire_12_any_media_type_of_a_request() {
    let mock = Mock::new();
    let created = mock.succ("createLoadBalancer", create("1", order())).await;
    for media_type in [
        Some("application/json; charset=utf-8"),
        Some("application/json"),
        Some("text/plain"),
        None,
    ] {
        for (webhook, body) in valid(&created["lbInfo"]) {
            let mut request = Request::post(format!("/{webhook}"));
            if let Some(media_type) = media_type {
                request = request.header(header::CONTENT_TYPE, media_type);
            }
            let request = request.body(Body::from(body.to_string())).unwrap();
            let reply = mock.router.clone().oneshot(request).await.unwrap();
            assert_eq!(reply.status(), StatusCode::OK, "{webhook} {media_type:?}");
        }
        mock.succ("createLoadBalancer", create("1", order())).await;
    }
}

#[tokio::test]
async fn hlth_03_no_body_is_needed() {
    let mock = Mock::new();
    for body in ["", " \n", "{}"] {
        let reply = mock.send("POST", "/healthz", Body::from(body)).await;
        assert_eq!(reply, (StatusCode::OK, json!({"healthy": true})));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hlth_02_healthy_under_load() {
    let mock = Arc::new(Mock::with_stages_of(Duration::from_secs(60)));
    let reply = mock.call("createLoadBalancer", create("1", order())).await;
    assert_eq!(reply["status"], "Running");
    let mut tasks = JoinSet::new();
    for n in 0..20 {
        let (busy, asked) = (Arc::clone(&mock), Arc::clone(&mock));
        tasks.spawn(async move {
            let call = backend(&sample(), &n.to_string(), Value::Null);
            busy.succ("ensureBackend", call).await
        });
        tasks.spawn(async move {
            let health = asked.call("healthz", json!({})).await;
            assert_eq!(health, json!({"healthy": true}));
            health
        });
    }
    assert_eq!(tasks.join_all().await.len(), 40);
}
