//! The mock over HTTP: the SDK's webhooks, and the mock's own endpoints under `/_mock`.

use crate::calls;
use crate::cloud::Cloud;
use crate::driver::ClbDriver;
use crate::inspect;
use crate::middleware::Middleware;
use crate::process::{DriverProcess, ProcessDriver, RunHandle};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use lbcf_driver_sdk::server::{DriverRouter, RunningHooks};
use std::sync::Arc;

/// Marks every response as the mock's, with its version.
const VERSION_HEADER: HeaderName = HeaderName::from_static("x-lbcf-mock");

/// The webhooks of `driver`, and the endpoints under `/_mock`.
pub fn router(driver: ClbDriver) -> Router {
    router_with(driver, ())
}

/// [`router`] with a middleware around the driver.
pub fn router_with(driver: ClbDriver, middleware: impl Middleware) -> Router {
    with_process(driver, Arc::new(middleware)).0
}

/// [`router_with`], and the process that serves the webhooks.
pub(crate) fn with_process(
    driver: ClbDriver,
    middleware: Arc<dyn Middleware>,
) -> (Router, DriverProcess) {
    let cloud = driver.cloud().clone();
    let around = Arc::clone(&middleware);
    let process = DriverProcess::start(move |run| webhooks(driver.clone(), run, &*around));
    let webhooks = process.clone();
    let endpoints = inspect::router(cloud.clone(), process.clone());
    let router = Router::new()
        .nest("/_mock", middleware.wrap_endpoints(endpoints))
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(ready).with_state((process.clone(), cloud)))
        .fallback(async move |request| webhooks.call(request).await)
        .layer(map_response(add_version));
    (router, process)
}

/// The webhooks of one run of the process, and a view of the running hooks.
fn webhooks(
    driver: ClbDriver,
    run: RunHandle,
    middleware: &dyn Middleware,
) -> (Router, RunningHooks) {
    let cloud = driver.cloud().clone();
    let journal_size = driver.options().journal_size;
    let webhooks = DriverRouter::new(ProcessDriver {
        cloud: cloud.clone(),
        driver,
        run,
    });
    let hooks = webhooks.running_hooks();
    let metrics = webhooks.metrics_router();
    let webhooks = middleware.wrap_webhooks(webhooks.build(), &cloud);
    (
        calls::layer(webhooks, cloud, journal_size).merge(metrics),
        hooks,
    )
}

/// Not while the driver is being restarted, or changes cannot be saved.
async fn ready(State((process, cloud)): State<(DriverProcess, Cloud)>) -> (StatusCode, String) {
    let problem = if process.run().has_ended() {
        Some("the driver is being restarted".to_owned())
    } else {
        cloud.unsaved()
    };
    match problem {
        None => (StatusCode::OK, "ok\n".to_owned()),
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, problem + "\n"),
    }
}

async fn add_version(mut response: Response) -> Response {
    let version = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));
    response.headers_mut().insert(VERSION_HEADER, version);
    response
}
