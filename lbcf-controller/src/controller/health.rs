//! Liveness, readiness and metrics over HTTP: `/healthz`, `/readyz` and `/metrics`, and nothing else.
//!
//! The controller records its state in [`HealthState`]; [`Health`] evaluates it for [`HealthServer`].
//!
//! Every client that reaches the port is served, so each connection gets one response and a few
//! seconds, and their number is limited.

use crate::api::LoadBalancerDriver;
use crate::cluster::WATCHED_KINDS;
use crate::index::Lookup;
use crate::process::health_state::HealthState;
use crate::process::metrics::Snapshot;
use crate::runtime::Context;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper_util::service::TowerToHyperService;
use lbcf_serving::listener::{Limits, Listener};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// The health of a controller. Clones refer to the same controller.
#[derive(Clone)]
pub struct Health {
    context: Arc<Context>,
    state: Arc<HealthState>,
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Health {
    pub(crate) const fn new(context: Arc<Context>, state: Arc<HealthState>) -> Self {
        Self { context, state }
    }

    /// Reports whether all required tasks are running.
    ///
    /// # Errors
    /// The task that ended.
    pub fn alive(&self) -> Result<(), String> {
        self.state.alive()
    }

    /// Reports whether the index is complete, so that the controller reconciles or could become the
    /// leader, and whether API servers can call its admission webhooks, if it serves them.
    ///
    /// # Errors
    /// What is missing.
    pub fn ready(&self) -> Result<(), String> {
        self.state.ready(WATCHED_KINDS)
    }

    /// True if nothing is to be reconciled before something changes or a time has come.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let sizes = self.context.queue.sizes();
        sizes
            .iter()
            .all(|(_, pending, running)| pending + running == 0)
    }

    /// The current metrics in the Prometheus text format.
    ///
    /// # Errors
    /// If they cannot be encoded, which would be a defect.
    pub fn metrics(&self) -> Result<String, String> {
        let unregistered = {
            let index = self.context.index();
            // A call that was in flight when its driver was deleted may have started its series again.
            self.context
                .drivers
                .retain(|driver| index.get::<LoadBalancerDriver>(driver) != Lookup::Missing);
            index.records.unregistered
        };
        let snapshot = Snapshot {
            queue: self.context.queue.sizes(),
            unregistered,
            leads: self.state.leads(),
        };
        self.context
            .metrics
            .render(&snapshot)
            .map_err(|error| error.to_string())
    }
}

/// The timeout for the head of a request, and for an idle connection.
const REQUEST: Duration = Duration::from_secs(5);
/// The time after which a connection is closed, even if it is in use.
const LIFETIME: Duration = Duration::from_secs(15);

/// The server of a controller's health.
#[derive(Debug)]
pub struct HealthServer {
    listener: Listener,
    limits: Limits,
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

    /// Names by which clients may call a loopback address, beside `localhost` and loopback addresses.
    #[must_use]
    pub fn allow_hosts(mut self, names: Vec<String>) -> Self {
        self.listener = self.listener.allow_hosts(names);
        self
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
        let forbidden = |why| (StatusCode::FORBIDDEN, why).into_response();
        listener
            .serve(|_| service.clone(), Some(forbidden), pending())
            .await;
    }
}

fn limits() -> Limits {
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

/// The healthy response is just `ok`.
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

#[cfg(test)]
mod tests;
