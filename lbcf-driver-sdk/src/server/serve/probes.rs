//! Probes of the process, which do not call the driver.

use crate::server::reject::reject;
use axum::Router;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const LIVEZ: &str = "/livez";
pub(super) const READYZ: &str = "/readyz";
/// A webhook, which calls the driver.
pub(super) const HEALTHZ: &str = "/healthz";

/// Ready until the shutdown.
#[derive(Debug, Clone, Default)]
pub(super) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    pub(super) fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn response(&self) -> Response {
        if self.0.load(Ordering::Relaxed) {
            reject(StatusCode::SERVICE_UNAVAILABLE, "shutting down").into_response()
        } else {
            "ok".into_response()
        }
    }
}

pub(super) fn routes(ready: &Readiness) -> Router {
    let ready = ready.clone();
    Router::new()
        .route(LIVEZ, get(|| async { "ok" }).fallback(wrong_method))
        .route(
            READYZ,
            get(move || async move { ready.response() }).fallback(wrong_method),
        )
}

async fn wrong_method(method: Method) -> Response {
    let error = format!("{method}: probes are called with GET");
    reject(StatusCode::METHOD_NOT_ALLOWED, error).into_response()
}
