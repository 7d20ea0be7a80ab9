//! The router without a socket.

use crate::support::{actor, ensure, ok, post, read, send, stage};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::{ALL, Class};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn d24_every_webhook_of_the_table_is_served() {
    let (router, _) = stage();
    let pod = json!({"metadata": {"name": "pod"}});
    for webhook in ALL {
        let body = json!({
            "recordID": "r", "operation": "Create", "notReadyPods": [],
            "podBackend": {"pod": pod, "port": {"port": 80}},
        });
        let answer = ok(&router, &format!("/{}", webhook.name), &body).await;
        let field = match webhook.class {
            Class::Health => "healthy",
            Class::Verdict => "succ",
            Class::Operation => "status",
        };
        assert!(answer.get(field).is_some(), "{}: {answer}", webhook.name);
    }
}

#[tokio::test]
async fn b149_the_router_works_under_a_prefix_with_its_own_errors() {
    let (router, _) = stage();
    let nested = axum::Router::new().nest("/clb/v1", router);
    let body = ensure("1", json!({}));
    let answer = ok(&nested, "/clb/v1/ensureBackend", &body).await;
    assert_eq!(answer["status"], "Succ");
    let (status, answer) = post(&nested, "/clb/v1/nothing", "{}").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(answer["error"].as_str().unwrap().contains("ensureBackend"));
}

#[tokio::test]
async fn b156_healthz_answers_post_get_and_an_empty_body() {
    let (router, _) = stage();
    let healthy = (
        StatusCode::OK,
        json!({"healthy": true, "specification": "1", "features": ["pages", "reasons"]}),
    );
    assert_eq!(post(&router, "/healthz", "").await, healthy);
    assert_eq!(post(&router, "/healthz", "{}").await, healthy);
    let get = Request::get("/healthz").body(Body::empty()).unwrap();
    assert_eq!(read(send(&router, get).await).await, healthy);
}

#[tokio::test]
async fn b140_each_outcome_on_the_wire() {
    let (router, _) = stage();
    let succ = ok(&router, "/ensureBackend", &ensure("7", json!({}))).await;
    assert_eq!(
        succ,
        json!({"status": "Succ", "msg": "", "injectedInfo": {"seen": "7"}})
    );
    // d1: whole seconds, rounded up, as a number; the cause of the failure is not sent.
    let fail = ok(
        &router,
        "/ensureBackend",
        &ensure("7", json!({"do": "fail"})),
    )
    .await;
    assert_eq!(
        fail,
        json!({"status": "Fail", "msg": "the cloud refused", "minRetryDelayInSeconds": 2})
    );
    let refuse = json!({"operation": "Create", "parameters": {"do": "refuse"}});
    assert_eq!(
        ok(&router, "/validateBackend", &refuse).await,
        json!({"succ": false, "msg": "weight: \"101\": not from 0 to 100"})
    );
}

#[tokio::test]
async fn b155_values_unknown_to_the_specification_are_refused_before_the_driver() {
    let (router, stage) = stage();
    for (path, body, complaint) in [
        (
            "/validateBackend",
            json!({"operation": "Move", "backendType": "Pod"}),
            "operation: \"Move\": must be Create or Update",
        ),
        (
            "/validateBackend",
            json!({"operation": "Create", "backendType": "Vm"}),
            "backendType: \"Vm\": must be Pod, Service or Static",
        ),
        (
            "/validateLoadBalancer",
            json!({"operation": "create"}),
            "operation: \"create\": must be Create or Update",
        ),
    ] {
        let answer = ok(&router, path, &body).await;
        assert_eq!(answer, json!({"succ": false, "msg": complaint}));
    }
    assert!(stage.log().is_empty());
}

#[tokio::test]
async fn the_content_type_of_a_request_does_not_matter() {
    let (router, _) = stage();
    for content_type in ["text/plain", "application/json; charset=utf-8", "nonsense"] {
        let request = Request::post("/ensureBackend")
            .header(header::CONTENT_TYPE, content_type)
            .body(ensure("1", json!({})).to_string().into())
            .unwrap();
        assert_eq!(read(send(&router, request).await).await.0, StatusCode::OK);
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_takes_too_long_is_a_no_and_continues() {
    let (router, stage) = stage();
    let body = json!({"operation": "Create", "parameters": {"do": "wait"}});
    let answer = ok(&router, "/validateBackend", &body).await;
    assert_eq!(answer["succ"], false);
    let message = answer["msg"].as_str().unwrap();
    assert!(message.contains("try again"), "{message}");
    assert_eq!(stage.log(), ["begin validate"]);
    stage.go.add_permits(1);
    stage.lines(2).await;
}

#[tokio::test]
async fn shutting_down_can_wait_for_running_hooks() {
    let (actor, stage) = actor();
    let settings = Settings {
        answer_within: Duration::ZERO,
        ..Settings::default()
    };
    let driver = DriverRouter::with(actor, settings);
    let hooks = driver.running_hooks();
    let router = driver.build();
    hooks.idle().await;
    let answer = ok(
        &router,
        "/ensureBackend",
        &ensure("1", json!({"do": "wait"})),
    )
    .await;
    assert_eq!(answer["status"], "Running");
    assert_eq!(hooks.count(), 1);
    let idle = tokio::spawn({
        let hooks = hooks.clone();
        async move { hooks.idle().await }
    });
    stage.lines(1).await;
    assert!(!idle.is_finished());
    stage.go.add_permits(1);
    idle.await.unwrap();
    assert_eq!(hooks.count(), 0);
    assert_eq!(stage.log(), ["begin a", "end a"]);
}
