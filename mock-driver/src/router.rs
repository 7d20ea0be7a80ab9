//! The mock over HTTP: the SDK's webhooks, and the mock's own endpoints beside them.

use crate::driver::ClbDriver;
use crate::inspect;
use crate::journal::Journaled;
use axum::Router;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::map_response;
use axum::response::Response;
use lbcf_driver_sdk::server::{DriverRouter, RunningHooks};

/// Tells that it is a mock that answers, and which.
const VERSION_HEADER: HeaderName = HeaderName::from_static("x-lbcf-mock");

/// The webhooks of `driver`, and `/_mock` beside them.
pub fn router(driver: ClbDriver) -> Router {
    with_hooks(driver).0
}

/// [`router`], with a view of the hooks that run.
pub(crate) fn with_hooks(driver: ClbDriver) -> (Router, RunningHooks) {
    let cloud = driver.cloud().clone();
    let webhooks = DriverRouter::new(Journaled {
        size: driver.options().journal_size,
        cloud: cloud.clone(),
        driver,
    });
    let hooks = webhooks.running_hooks();
    let router = webhooks
        .build()
        .nest("/_mock", inspect::router(cloud))
        .layer(map_response(mark));
    (router, hooks)
}

async fn mark(mut response: Response) -> Response {
    response.headers_mut().insert(
        VERSION_HEADER,
        HeaderValue::from_static(env!("CARGO_PKG_VERSION")),
    );
    response
}
