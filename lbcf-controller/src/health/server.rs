//! The HTTP server of `/healthz`, `/readyz` and `/metrics`. It serves nothing else (u49).
//!
//! Whoever reaches it could be anybody, so each connection gets one answer and a few seconds, and
//! there are only so many at a time.

use super::Health;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long accepting rests after a failure, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What clients may use up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many connections there may be at a time; further ones wait to be accepted.
    pub(super) connections: usize,
    /// How long a client may take to send its request.
    pub(super) request: Duration,
    /// How long a connection may last, request and answer together.
    pub(super) connection: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            request: Duration::from_secs(5),
            connection: Duration::from_secs(15),
        }
    }
}

/// The server of a controller's health.
#[derive(Debug)]
pub struct HealthServer {
    listener: TcpListener,
    addr: SocketAddr,
    pub(super) limits: Limits,
}

impl HealthServer {
    /// Takes the address; port 0 lets the system choose one.
    ///
    /// # Errors
    /// The system's, when the address cannot be had.
    pub async fn bind(addr: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        Ok(Self {
            listener,
            addr,
            limits: Limits::default(),
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves for ever; dropping the future ends all connections.
    pub async fn serve(self, health: Health) {
        let router = router(health);
        let limits = self.limits;
        let places = Arc::new(Semaphore::new(limits.connections));
        let mut connections = JoinSet::new();
        loop {
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            while connections.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let router = router.clone();
                    connections.spawn(async move {
                        let _place = place;
                        let answered = answer(stream, router, limits.request);
                        let _ = timeout(limits.connection, answered).await;
                    });
                }
                Err(error) => {
                    tracing::debug!(%error, "a connection to the health server failed");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

async fn answer(stream: TcpStream, router: Router, request_timeout: Duration) {
    let answered = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(request_timeout)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
    if let Err(error) = answered {
        tracing::debug!(%error, "a connection to the health server broke off");
    }
}

fn router(health: Health) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(health)
}

async fn healthz(State(health): State<Health>) -> (StatusCode, String) {
    told(health.alive(), StatusCode::INTERNAL_SERVER_ERROR)
}

async fn readyz(State(health): State<Health>) -> (StatusCode, String) {
    told(health.ready(), StatusCode::SERVICE_UNAVAILABLE)
}

/// b146: what is well is just `ok`.
fn told(state: Result<(), String>, otherwise: StatusCode) -> (StatusCode, String) {
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
