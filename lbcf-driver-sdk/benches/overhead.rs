//! The cost of the SDK per call, compared with an axum handler written by hand: both in this process
//! and without a socket, with the same body, types and response.
//!
//! ```text
//! cargo bench -p lbcf-driver-sdk --bench overhead
//! ```
//!
//! The ratios at the end are medians of rounds in which both take turns, so that other processes affect
//! both. `load` measures whole processes.

// A benchmark prints its results, and panics on errors.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use criterion::Criterion;
use http_body_util::BodyExt;
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::{
    EnsureBackend, EnsureBackendResponse, GenerateBackendAddr, GenerateBackendAddrResponse,
    PodBackend, StringMap,
};
use lbcf_driver_sdk::{Driver, HookError, request, wire};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

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
        _: request::CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }

    async fn generate_backend_addr(
        &self,
        request: request::GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        addr(request.pod_backend).ok_or_else(|| HookError::running("the pod has no address yet"))
    }

    async fn ensure_backend(
        &self,
        _: request::EnsureBackend<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }

    async fn deregister_backend(
        &self,
        _: request::DeregisterBackend<Self>,
    ) -> Result<(), HookError> {
        Ok(())
    }
}

fn addr(backend: Option<PodBackend>) -> Option<String> {
    let backend = backend?;
    Some(format!(
        "{}:{}",
        backend.pod.ips.first()?,
        backend.port.port
    ))
}

/// The same driver without the SDK's server.
fn by_hand() -> Router {
    fn respond<Q: DeserializeOwned, A: Serialize>(
        body: &[u8],
        hook: impl FnOnce(Q) -> A,
    ) -> axum::response::Response {
        let Ok(request) = serde_json::from_slice(body) else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        let response = serde_json::to_vec(&hook(request)).unwrap();
        ([(header::CONTENT_TYPE, "application/json")], response).into_response()
    }
    let ensure_backend = |body: Bytes| async move {
        respond(&body, |_: EnsureBackend| {
            EnsureBackendResponse::from(Ok(StringMap::new()))
        })
    };
    let generate_backend_addr = |body: Bytes| async move {
        respond(&body, |request: GenerateBackendAddr| {
            GenerateBackendAddrResponse::from(Ok(addr(request.pod_backend).unwrap_or_default()))
        })
    };
    Router::new()
        .route("/ensureBackend", post(ensure_backend))
        .route("/generateBackendAddr", post(generate_backend_addr))
}

/// A request of about 500 bytes.
fn ensure_backend() -> Value {
    json!({
        "recordID": "ensureBackend(0f6c1f9e-5a43-4c8e-9a51-6a6f2f4f0c11)",
        "retryID": "6c0a8a0a-3c57-4f5c-8f8e-9d4cf4a2c7b5",
        "dryRun": false,
        "lbInfo": {"loadBalancerID": "lb-7ab51c6a", "listenerPort": "443", "protocol": "TCP"},
        "backendAddr": "{\"instanceID\":\"node-17\",\"ip\":\"10.42.3.17\",\"port\":8080}",
        "parameters": {"weight": "80", "healthCheck": "/healthz", "slowStart": "30s"},
        "injectedInfo": {"registeredAt": "2026-03-02T08:15:38Z", "target": "tg-5b0bcabd1ed2"},
    })
}

/// A request of about 5 kB, with a whole pod.
fn generate_backend_addr() -> Value {
    let pod: Value = serde_json::from_str(include_str!("../tests/data/pod.json")).unwrap();
    json!({
        "recordID": "generateBackendAddr(0f6c1f9e-5a43-4c8e-9a51-6a6f2f4f0c11)",
        "retryID": "6c0a8a0a-3c57-4f5c-8f8e-9d4cf4a2c7b5",
        "dryRun": false,
        "lbInfo": {"loadBalancerID": "lb-7ab51c6a", "listenerPort": "443", "protocol": "TCP"},
        "lbAttributes": null,
        "parameters": {"weight": "80"},
        "podBackend": {"pod": pod, "port": {"port": 8080, "portNumber": 8080, "protocol": "TCP"}},
        "serviceBackend": null,
    })
}

fn call(runtime: &Runtime, router: &Router, path: &str, body: &Bytes) -> Bytes {
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.clone()))
        .unwrap();
    runtime.block_on(async {
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response.into_body().collect().await.unwrap().to_bytes()
    })
}

/// The median ratio of the times of `ours` and `theirs`.
fn ratio(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> f64 {
    const ROUNDS: usize = 41;
    const CALLS: u32 = 500;
    let time = |call: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..CALLS).for_each(|_| call());
        start.elapsed().as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| time(&mut ours) / time(&mut theirs))
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

fn measure<Q: DeserializeOwned>(criterion: &mut Criterion, path: &str, body: &Value) -> String {
    let body = Bytes::from(body.to_string());
    let name = format!("{}, {} bytes", &path[1..], body.len());
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let (sdk, hand) = (DriverRouter::new(Yes).build(), by_hand());
    assert_eq!(
        call(&runtime, &sdk, path, &body),
        call(&runtime, &hand, path, &body)
    );
    let ours = || drop(black_box(call(&runtime, &sdk, path, &body)));
    let theirs = || drop(black_box(call(&runtime, &hand, path, &body)));
    let read_ours = || drop(black_box(wire::from_slice::<Q>(&body).ok()));
    let read_theirs = || drop(black_box(serde_json::from_slice::<Q>(&body).ok()));

    let mut group = criterion.benchmark_group(&name);
    group.bench_function("call, sdk", |b| b.iter(ours));
    group.bench_function("call, by hand", |b| b.iter(theirs));
    group.bench_function("read, sdk", |b| b.iter(read_ours));
    group.bench_function("read, serde_json", |b| b.iter(read_theirs));
    group.finish();

    format!(
        "{name}: a call takes {:.2} times as long as by hand, reading {:.2} times as long as by serde_json",
        ratio(ours, theirs),
        ratio(read_ours, read_theirs)
    )
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let ratios = [
        measure::<EnsureBackend>(&mut criterion, "/ensureBackend", &ensure_backend()),
        measure::<GenerateBackendAddr>(
            &mut criterion,
            "/generateBackendAddr",
            &generate_backend_addr(),
        ),
    ];
    criterion.final_summary();
    for ratio in ratios {
        println!("{ratio}");
    }
}
