//! The mock over HTTP: the SDK's webhooks, the mock's own endpoints under `/_mock`, and its page.

use crate::calls;
use crate::cloud::Cloud;
use crate::drivers::MockedDriver;
use crate::inspect::{self, Inspected};
use crate::metrics;
use crate::middleware::Middleware;
use crate::page;
use crate::process::{DriverProcess, ProcessDriver, RunHandle};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{map_response, map_response_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use lbcf_driver_sdk::server::{DriverRouter, RunningHooks, Settings, conformance_router};
use std::sync::Arc;

/// A fixture without the sections that name endpoints, which come last.
fn without_endpoints(fixture: &str) -> &str {
    let end = fixture.find("\nobserve:");
    end.map_or(fixture, |end| &fixture[..=end])
}

/// The document of the endpoints under `/_mock`, beside that of the webhooks.
const OWN_DOCUMENT: (&str, &str) = ("The mock's own API", "/_mock/openapi.json");

/// The webhooks of `driver`, the endpoints under `/_mock`, and the page at `/`.
pub fn router(driver: impl MockedDriver) -> Router {
    router_with(driver, ())
}

/// [`router`] with a middleware around the driver.
pub fn router_with(driver: impl MockedDriver, middleware: impl Middleware) -> Router {
    Routes::new(driver, Arc::new(middleware)).together()
}

/// The routes of the mock, on one address or on two.
pub(crate) struct Routes {
    pub(crate) webhooks: Router,
    /// The endpoints under `/_mock`, the page, and the documents of all endpoints.
    pub(crate) endpoints: Router,
    /// The process that serves the webhooks.
    pub(crate) process: DriverProcess,
    fixture: &'static str,
}

impl Routes {
    pub(crate) fn new(driver: impl MockedDriver, middleware: Arc<dyn Middleware>) -> Self {
        let fixture = driver.fixture();
        let cloud = driver.cloud().clone();
        let cluster = driver.options().cluster.clone();
        let around = Arc::clone(&middleware);
        let documents = DriverRouter::new(driver.clone());
        let documents = documents.documents_router_with("", &[OWN_DOCUMENT]);
        let process = DriverProcess::start(move |run| webhooks(driver.clone(), run, &*around));
        let called = process.clone();
        let webhooks = Router::new()
            .route("/livez", get(async || "ok\n"))
            .route(
                "/readyz",
                get(ready).with_state((process.clone(), cloud.clone())),
            )
            .fallback(async move |request| called.call(request).await);
        let endpoints = inspect::router(Inspected {
            cloud: cloud.clone(),
            process: process.clone(),
            cluster: cluster.clone(),
        });
        let endpoints = Router::new()
            .nest("/_mock", middleware.wrap_endpoints(endpoints))
            .merge(page::router(cloud, cluster))
            .merge(documents)
            .layer(map_response(no_sniffing));
        Self {
            webhooks,
            endpoints,
            process,
            fixture,
        }
    }

    pub(crate) fn together(self) -> Router {
        let served = conformance_router(self.fixture);
        // A fallback that is added now has none of the endpoints' layers.
        self.endpoints.merge(served).fallback_service(self.webhooks)
    }

    /// The webhooks without the endpoints, for an address of their own, and the endpoints.
    pub(crate) fn apart(self) -> (Router, Router) {
        let fixture = conformance_router(without_endpoints(self.fixture));
        (self.webhooks.merge(fixture), self.endpoints)
    }
}

/// The webhooks of one run of the process, and a view of the running hooks.
fn webhooks(
    driver: impl MockedDriver,
    run: RunHandle,
    middleware: &dyn Middleware,
) -> (Router, RunningHooks) {
    let cloud = driver.cloud().clone();
    let journal_size = driver.options().journal_size;
    let settings = Settings {
        max_hooks_per_second: driver.options().max_hooks_per_second,
        ..Settings::default()
    };
    let driver = ProcessDriver {
        cloud: cloud.clone(),
        driver,
        run,
    };
    let webhooks = DriverRouter::with(driver, settings);
    let hooks = webhooks.running_hooks();
    metrics::register(&cloud, &webhooks.registry());
    let metrics = webhooks.metrics_router();
    let webhooks = webhooks
        .build()
        .layer(map_response_with_state(cloud.clone(), only_if_saved));
    let webhooks = middleware.wrap_webhooks(webhooks, &cloud);
    (
        calls::layer(webhooks, cloud, journal_size).merge(metrics),
        hooks,
    )
}

/// No call succeeds before the state file has its change: the caller tries again.
async fn only_if_saved(State(cloud): State<Cloud>, response: Response) -> Response {
    match cloud.still_unsaved() {
        None => response,
        Some(problem) => (StatusCode::SERVICE_UNAVAILABLE, problem).into_response(),
    }
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

/// No browser takes a response for something else than its media type says.
async fn no_sniffing(mut response: Response) -> Response {
    let no_sniffing = HeaderValue::from_static("nosniff");
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniffing);
    response
}
