//! Controllers' client against the router.

use crate::support::{actor, ensure, serve, stage};
use axum::http::StatusCode;
use lbcf_driver_client::{CallError, DriverClient};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::{EnsureBackend, Healthz, Status, ValidateBackend};
use serde_json::json;
use std::time::Duration;

fn request(parameters: serde_json::Value) -> EnsureBackend {
    serde_json::from_value(ensure("1", parameters)).unwrap()
}

#[tokio::test]
async fn b149_a_driver_under_a_prefix_is_called() {
    let (router, _) = stage();
    let address = serve(axum::Router::new().nest("/clb", router)).await;
    let client = DriverClient::new(&format!("http://{address}/x/../clb/")).unwrap();
    assert_eq!(
        client.url_of::<EnsureBackend>(),
        format!("http://{address}/clb/ensureBackend")
    );
    let response = client
        .call::<EnsureBackend>(&request(json!({})))
        .await
        .unwrap();
    assert_eq!(response.status, Status::Succ);
    assert_eq!(response.injected_info["seen"], "1");
    let healthz = client.call::<Healthz>(&Healthz {}).await;
    assert!(healthz.unwrap().healthy);
    let refused = ValidateBackend {
        parameters: [("do".into(), "refuse".into())].into(),
        ..Default::default()
    };
    let verdict = client.call::<ValidateBackend>(&refused).await.unwrap();
    assert!(!verdict.succ);
    assert_eq!(verdict.msg, "weight: \"101\": not from 0 to 100");
}

#[tokio::test]
async fn the_router_and_the_client_agree_about_errors() {
    let (router, _) = stage();
    let address = serve(router).await;
    let client = DriverClient::new(&format!("http://{address}/elsewhere")).unwrap();
    match client.call(&request(json!({}))).await {
        Err(CallError::Status { status, body, .. }) => {
            assert_eq!(status, StatusCode::NOT_FOUND);
            assert!(
                body.contains("no webhook has this path") && !body.contains("error"),
                "{body}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_that_timed_out_is_joined_and_collected_by_the_next() {
    let (actor, stage) = actor();
    let settings = Settings {
        answer_within: Duration::from_millis(300),
        ..Settings::default()
    };
    let driver = DriverRouter::with(actor, settings);
    let address = serve(driver.build()).await;
    let client = DriverClient::new(&format!("http://{address}")).unwrap();
    let wait = || request(json!({"do": "wait"}));
    let call = client.clone();
    let hung_up = tokio::spawn(async move { call.call::<EnsureBackend>(&wait()).await });
    stage.lines(1).await;
    hung_up.abort();
    let running = client.call::<EnsureBackend>(&wait()).await.unwrap();
    assert_eq!(running.status, Status::Running);
    assert_eq!(running.min_retry_delay_in_seconds, 1);
    assert_eq!(stage.log(), ["begin a"]);
    stage.go.add_permits(1);
    stage.lines(2).await;
    let mut again = wait();
    again.retry_id = "2".into();
    let response = client.call::<EnsureBackend>(&again).await.unwrap();
    assert_eq!(response.injected_info["seen"], "1");
    assert_eq!(stage.log(), ["begin a", "end a"]);
}
