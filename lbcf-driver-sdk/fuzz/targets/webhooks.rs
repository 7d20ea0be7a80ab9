//! Bodies for the eleven webhooks of a driver that accepts everything: the first byte selects the webhook, the
//! rest is the body. The response is that of the webhook, or a 4xx with a reason, and decoding the
//! bytes has the same result as decoding the JSON value that they represent.
#![no_main]

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::*;
use lbcf_driver_sdk::wire::{DecodeError, from_slice, from_value};
use lbcf_driver_sdk::{Driver, HookError, request};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

/// Responds with the request.
struct Yes;

impl Driver for Yes {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn delete_load_balancer(
        &self,
        _: request::DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        Ok(())
    }

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
        let pod = request.pod_backend.map(|backend| backend.pod.name);
        Ok(pod.unwrap_or_default())
    }

    async fn ensure_backend(&self, request: request::EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(request.parameters)
    }

    async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }
}

thread_local! {
    static SERVER: (Runtime, Router) = (
        Builder::new_current_thread().enable_time().build().unwrap(),
        DriverRouter::new(Yes).build(),
    );
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first() else {
        return;
    };
    // '0' to ':' in the seeds.
    let choice = usize::from(choice.wrapping_sub(b'0')) % ALL.len();
    match choice {
        0 => check::<Healthz>(body),
        1 => check::<ValidateLoadBalancer>(body),
        2 => check::<CreateLoadBalancer>(body),
        3 => check::<EnsureLoadBalancer>(body),
        4 => check::<DeleteLoadBalancer>(body),
        5 => check::<ValidateBackend>(body),
        6 => check::<GenerateBackendAddr>(body),
        7 => check::<EnsureBackend>(body),
        8 => check::<DeregisterBackend>(body),
        9 => check::<JudgePodDeregister>(body),
        10 => check::<ListBackends>(body),
        _ => panic!("{choice}: a webhook without types"),
    }
});

fn call(webhook: &str, body: &[u8]) -> (StatusCode, Value) {
    SERVER.with(|(runtime, router)| {
        let request = Request::post(format!("/{webhook}")).body(Body::from(body.to_vec()));
        runtime.block_on(async {
            let response = router.clone().oneshot(request.unwrap()).await.unwrap();
            let status = response.status();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            (status, serde_json::from_slice(&body).unwrap())
        })
    })
}

fn check<W: Webhook>(body: &[u8]) {
    let from_bytes = decoded_value::<W>(from_slice(body));
    let value = serde_json::from_slice(body).map_err(DecodeError::NotJson);
    assert_eq!(from_bytes, decoded_value::<W>(value.and_then(from_value)));

    let (status, answer) = call(W::INFO.name, body);
    if status == StatusCode::OK {
        from_value::<W::Response>(answer).unwrap();
    } else {
        assert!(status.is_client_error(), "{status}: {answer}");
        let error = answer["error"].as_str().unwrap();
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
        assert_eq!(Err(error.to_owned()), from_bytes);
    }
}

/// The request, as it is written, or the complaint.
fn decoded_value<W: Webhook>(read: Result<W, DecodeError>) -> Result<Value, String> {
    read.map(|request| serde_json::to_value(request).unwrap())
        .map_err(|error| error.to_string())
}
