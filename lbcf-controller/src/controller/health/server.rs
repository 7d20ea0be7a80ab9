//! The HTTP server of `/healthz`, `/readyz` and `/metrics`. It serves nothing else (u49).
//!
//! Every client that reaches the port is served, so each connection gets one response and a few
//! seconds, and their number is limited.

use super::Health;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper_util::service::TowerToHyperService;
use lbcf_serving::listener::{Limits, Listener};
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The timeout for the head of a request, and for an idle connection.
const REQUEST: Duration = Duration::from_secs(5);
/// The time after which a connection is closed, even if it is in use.
const LIFETIME: Duration = Duration::from_secs(15);

/// The server of a controller's health.
#[derive(Debug)]
pub struct HealthServer {
    listener: Listener,
    pub(super) limits: Limits,
}

impl HealthServer {
    /// Binds the address; port 0 is a free one.
    ///
    /// # Errors
    /// The operating system's.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            listener: Listener::bind(addr).await?,
            limits: limits(),
        })
    }

    /// The address that it is bound to.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// Serves without end; dropping the future closes all connections.
    pub async fn serve(self, health: Health) {
        let service = TowerToHyperService::new(router(health));
        let listener = self.listener.limits(self.limits);
        listener.serve(|_| service.clone(), pending()).await;
    }
}

pub(super) fn limits() -> Limits {
    Limits {
        connections: 64,
        head: REQUEST,
        idle: REQUEST,
        lifetime: Some(LIFETIME),
        drain: Some(Duration::ZERO),
        ..Limits::default()
    }
}

fn router(health: Health) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .layer(map_response(last_response))
        .with_state(health)
}

async fn last_response(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

async fn healthz(State(health): State<Health>) -> (StatusCode, String) {
    status(health.alive(), StatusCode::INTERNAL_SERVER_ERROR)
}

async fn readyz(State(health): State<Health>) -> (StatusCode, String) {
    status(health.ready(), StatusCode::SERVICE_UNAVAILABLE)
}

/// b146: the healthy response is just `ok`.
fn status(state: Result<(), String>, otherwise: StatusCode) -> (StatusCode, String) {
    match state {
        Ok(()) => (StatusCode::OK, "ok".into()),
        Err(reason) => (otherwise, reason),
    }
}

async fn metrics(State(health): State<Health>) -> Response {
    match health.metrics() {
        Ok(text) => ([(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error).into_response(),
    }
}
