//! Outcomes of hooks on the wire and in the log.

use crate::logging::log;
use crate::support::{ok, takes_maps};
use axum::Router;
use lbcf_driver_sdk::request::{
    DeregisterBackend, EnsureBackend, GenerateBackendAddr, ValidateBackend,
};
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, OrOutcome, Rejection, RetryAfter};
use serde_json::json;
use std::time::Duration;

/// One check for validations and operations.
fn weight(parameters: &StringMap) -> Result<u8, Rejection> {
    let weight = parameters.get("weight");
    let weight = weight.or_reject("parameters.weight: missing")?;
    weight
        .parse()
        .or_reject(format!("parameters.weight: {weight:?}: no number"))
}

struct Picky;

impl Driver for Picky {
    takes_maps!(creates nothing);

    async fn validate_backend(&self, request: ValidateBackend<Self>) -> Result<(), Rejection> {
        weight(&request.parameters)?;
        Ok(())
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        weight(&request.parameters)?;
        Ok(StringMap::new())
    }

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        None.or_running("no address yet")
            .retry_after(Duration::from_millis(2500))
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Err("token 42")
            .or_fail("no luck")
            .retry_after(Duration::from_secs(7))
    }
}

fn router() -> Router {
    DriverRouter::new(Picky).build()
}

#[tokio::test]
async fn one_check_refuses_and_fails_with_the_same_message_and_the_inner_error_is_logged() {
    let (log, _guard) = log();
    let heavy = json!({"backendAddr": "a", "parameters": {"weight": "lots"}});
    let refused = ok(&router(), "/validateBackend", &heavy).await;
    assert_eq!(refused["succ"], false);
    assert_eq!(refused["msg"], "parameters.weight: \"lots\": no number");
    let text = log.text();
    for part in ["INFO", "invalid digit", "webhook=\"validateBackend\""] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let failed = ok(&router(), "/ensureBackend", &heavy).await;
    assert_eq!(failed["status"], "Fail");
    assert_eq!(failed["msg"], refused["msg"]);
}

#[tokio::test]
async fn a_delay_is_sent_with_failures_and_running_and_an_inner_error_is_not() {
    let (log, _guard) = log();
    let pod = json!({"podBackend": {"pod": {}, "port": {"port": 1}}});
    let running = ok(&router(), "/generateBackendAddr", &pod).await;
    assert_eq!(running["status"], "Running");
    assert_eq!(running["minRetryDelayInSeconds"], 3);
    let failed = ok(
        &router(),
        "/deregisterBackend",
        &json!({"backendAddr": "a"}),
    )
    .await;
    assert_eq!(failed["status"], "Fail");
    assert_eq!(failed["minRetryDelayInSeconds"], 7);
    assert_eq!(failed["msg"], "no luck");
    assert!(log.text().contains("token 42"));
}
