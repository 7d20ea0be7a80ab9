//! The mock over HTTP: the SDK's webhooks, the mock's own endpoints under `/_mock`, and its page.

use crate::driver::ClbDriver;
use crate::foreign_pages::{self, Hosts};
use crate::inspect;
use crate::middleware::Middleware;
use crate::page;
use crate::process::{DriverProcess, ProcessDriver, RunHandle};
use axum::Router;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::{from_fn, map_response};
use axum::response::Response;
use lbcf_driver_sdk::server::{DriverRouter, RunningHooks};
use std::sync::Arc;

/// Marks every response as the mock's, with its version.
const VERSION_HEADER: HeaderName = HeaderName::from_static("x-lbcf-mock");

/// The webhooks of `driver`, the endpoints under `/_mock`, and the page at `/`.
pub fn router(driver: ClbDriver) -> Router {
    router_with(driver, ())
}

/// [`router`] with a middleware around the driver.
pub fn router_with(driver: ClbDriver, middleware: impl Middleware) -> Router {
    with_process(driver, Arc::new(middleware), Hosts::Any).0
}

/// [`router_with`], and the process that serves the webhooks.
pub(crate) fn with_process(
    driver: ClbDriver,
    middleware: Arc<dyn Middleware>,
    hosts: Hosts,
) -> (Router, DriverProcess) {
    let cloud = driver.cloud().clone();
    let around = Arc::clone(&middleware);
    let process = DriverProcess::start(move |run| webhooks(driver.clone(), run, &*around));
    let webhooks = process.clone();
    let endpoints = inspect::router(cloud.clone(), process.clone());
    let router = Router::new()
        .nest("/_mock", middleware.wrap_endpoints(endpoints))
        .merge(page::router(cloud))
        .layer(from_fn(move |request, next| {
            foreign_pages::refuse(hosts, request, next)
        }))
        // After the layer, which does not hold for it.
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
    let webhooks = DriverRouter::new(ProcessDriver {
        journal_size: driver.options().journal_size,
        cloud: cloud.clone(),
        driver,
        run,
    });
    let hooks = webhooks.running_hooks();
    (middleware.wrap_webhooks(webhooks.build(), &cloud), hooks)
}

async fn add_version(mut response: Response) -> Response {
    let version = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));
    response.headers_mut().insert(VERSION_HEADER, version);
    response
}
