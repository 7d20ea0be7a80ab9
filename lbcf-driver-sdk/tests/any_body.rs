//! The response to any body is one of the webhook's or a 4xx with a reason.

use crate::near_misses::{Json, edits, json, request_of, spoil};
use crate::support::{cases, post, takes_maps};
use axum::Router;
use axum::http::StatusCode;
use lbcf_driver_sdk::request;
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::*;
use lbcf_driver_sdk::wire::from_value;
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use proptest::prelude::*;
use serde_json::Value;

/// Accepts everything, and returns values of the request.
struct Yes;

impl Driver for Yes {
    takes_maps!(deletes nothing);

    async fn create_load_balancer(
        &self,
        request: request::CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(request.lb_spec)
    }

    async fn generate_backend_addr(
        &self,
        request: request::GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok(format!("{:?}", request.service_backend))
    }

    async fn ensure_backend(
        &self,
        request: request::EnsureBackend<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(request.parameters)
    }

    async fn deregister_backend(
        &self,
        _: request::DeregisterBackend<Self>,
    ) -> Result<(), HookError> {
        Ok(())
    }

    async fn judge_pod_deregister(
        &self,
        request: JudgePodDeregister,
    ) -> Result<Vec<KubernetesObject>, Rejection> {
        Ok(request.not_ready_pods)
    }

    async fn list_backends(
        &self,
        request: request::ListBackends<Self>,
    ) -> Result<Vec<request::ListedBackend<Self>>, HookError> {
        let listed = request
            .lb_info
            .into_iter()
            .map(|(key, value)| ListedBackend {
                backend_addr: key,
                record_id: value,
                parameters: None,
            });
        Ok(listed.collect())
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }
}

fn is_response_of(webhook: &str, answer: Value) -> bool {
    fn is<W: Webhook>(answer: Value) -> bool {
        from_value::<W::Response>(answer).is_ok()
    }
    match webhook {
        "healthz" => is::<Healthz>(answer),
        "validateLoadBalancer" => is::<ValidateLoadBalancer>(answer),
        "createLoadBalancer" => is::<CreateLoadBalancer>(answer),
        "ensureLoadBalancer" => is::<EnsureLoadBalancer>(answer),
        "deleteLoadBalancer" => is::<DeleteLoadBalancer>(answer),
        "validateBackend" => is::<ValidateBackend>(answer),
        "generateBackendAddr" => is::<GenerateBackendAddr>(answer),
        "ensureBackend" => is::<EnsureBackend>(answer),
        "deregisterBackend" => is::<DeregisterBackend>(answer),
        "judgePodDeregister" => is::<JudgePodDeregister>(answer),
        "listBackends" => is::<ListBackends>(answer),
        _ => false,
    }
}

/// Sends the body to a webhook and returns the status.
fn check(webhook: &str, body: Vec<u8>) -> Result<StatusCode, TestCaseError> {
    thread_local! {
        static SERVER: (tokio::runtime::Runtime, Router) = (
            tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
            DriverRouter::new(Yes).build(),
        );
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    let (status, answer) = SERVER
        .with(|(runtime, router)| runtime.block_on(post(router, &format!("/{webhook}"), body)));
    if status == StatusCode::OK {
        let valid = is_response_of(webhook, answer.clone());
        prop_assert!(valid, "{}: {} for {}", webhook, answer, text);
    } else {
        prop_assert!(
            status.is_client_error(),
            "{}: {} for {}",
            webhook,
            status,
            text
        );
        let error = answer["error"].as_str().unwrap_or_default();
        prop_assert!(!error.is_empty(), "{}: {} for {}", webhook, answer, text);
        let only = answer.as_object().is_some_and(|answer| answer.len() == 1);
        prop_assert!(only, "{}: {} for {}", webhook, answer, text);
    }
    Ok(status)
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn a_spoilt_request_gets_a_response_or_a_4xx(
        webhook in prop::sample::select(ALL), edits in edits(), spoil in spoil(),
    ) {
        let body = Json::from(request_of(webhook.name)).edited(&edits).to_string().into_bytes();
        check(webhook.name, spoil.apply(body))?;
    }

    #[test]
    fn any_json_gets_a_response_or_a_4xx(
        webhook in prop::sample::select(ALL), body in json(), spoil in spoil(),
    ) {
        check(webhook.name, spoil.apply(body.to_string().into_bytes()))?;
    }

    #[test]
    fn any_bytes_get_a_response_or_a_4xx(
        webhook in prop::sample::select(ALL), body in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        check(webhook.name, body)?;
    }
}

#[test]
fn an_unspoilt_request_gets_a_response() {
    for webhook in ALL {
        let status = check(
            webhook.name,
            request_of(webhook.name).to_string().into_bytes(),
        );
        assert_eq!(status.unwrap(), StatusCode::OK, "{}", webhook.name);
    }
}
