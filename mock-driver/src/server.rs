//! The mock as a server in this process, which can be stopped and started again.

mod connection;

use crate::azure::AzureDriver;
use crate::cloud::Cloud;
use crate::driver::ClbDriver;
use crate::error::MockError;
use crate::journal::WebhookCalls;
use crate::middleware::Middleware;
use crate::options::MockOptions;
use crate::process::DriverProcess;
use crate::router::Routes;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper_util::service::TowerToHyperService;
use lbcf_serving::listener::{Connection, Listener};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The time that [`MockServer::stop`] waits for running hooks.
const HOOKS_LIMIT: Duration = Duration::from_secs(5);

/// A running mock. [`stop`](Self::stop) it, or drop it: it then refuses connections like a driver
/// that is down. The cloud and its counters stay.
#[derive(Debug)]
pub struct MockServer {
    cloud: Cloud,
    addr: SocketAddr,
    process: DriverProcess,
    crashed: CancellationToken,
    endpoints_addr: SocketAddr,
    /// Stops the server by being dropped.
    running: DropGuard,
    task: JoinHandle<()>,
}

impl MockServer {
    /// Starts a driver of `cloud` on `addr`; port 0 is a free one.
    ///
    /// # Errors
    /// [`MockError::Listen`], when the address cannot be bound.
    pub async fn start(
        cloud: Cloud,
        addr: SocketAddr,
        options: MockOptions,
    ) -> Result<Self, MockError> {
        Self::start_with(cloud, addr, options, ()).await
    }

    /// [`start`](Self::start) with something around the driver.
    ///
    /// # Errors
    /// [`MockError::Listen`], if the address cannot be bound.
    pub async fn start_with(
        cloud: Cloud,
        addr: SocketAddr,
        options: MockOptions,
        middleware: impl Middleware,
    ) -> Result<Self, MockError> {
        let listener = bind(addr, &options).await?;
        let of_endpoints = match options.endpoints_listen {
            Some(addr) => Some(bind(addr, &options).await?),
            None => None,
        };
        let addr = listener.addr();
        let endpoints_addr = of_endpoints.as_ref().map_or(addr, Listener::addr);
        let crashed = middleware.crashed();
        let middleware = Arc::new(middleware);
        let routes = if cloud.is_azure() {
            Routes::new(AzureDriver::new(cloud.clone(), options), middleware)
        } else {
            Routes::new(ClbDriver::new(cloud.clone(), options), middleware)
        };
        let process = routes.process.clone();
        let stop = CancellationToken::new();
        tracing::info!(%addr, endpoints = %endpoints_addr, "the mock driver listens");
        Ok(Self {
            cloud,
            addr,
            endpoints_addr,
            running: stop.clone().drop_guard(),
            task: tokio::spawn(serve(listener, of_endpoints, routes, stop, crashed.clone())),
            process,
            crashed,
        })
    }

    /// The address that it listens on.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The address of the page and of the endpoints under `/_mock`.
    #[must_use]
    pub const fn endpoints_addr(&self) -> SocketAddr {
        self.endpoints_addr
    }

    /// Its URL, for a `LoadBalancerDriver`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Waits until a request has crashed the driver, which only a [`Middleware`] can cause. A
    /// crashed driver no longer serves.
    pub async fn crashed(&self) {
        self.crashed.cancelled().await;
    }

    /// The calls of each webhook so far, by way of earlier servers of the same cloud, too.
    #[must_use]
    pub fn calls(&self) -> WebhookCalls {
        self.cloud.calls()
    }

    /// Closes the port and every connection. When it returns, connections are refused, and no hook
    /// of this server changes the cloud any more.
    pub async fn stop(self) {
        drop(self.running);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the mock driver's server panicked");
        }
        if tokio::time::timeout(HOOKS_LIMIT, self.process.hooks().idle())
            .await
            .is_err()
        {
            tracing::warn!("some hooks are still running");
        }
        tracing::info!(addr = %self.addr, "the mock driver has stopped");
    }
}

async fn bind(addr: SocketAddr, options: &MockOptions) -> Result<Listener, MockError> {
    let listener = Listener::bind(addr).await;
    let listener = listener.map_err(|source| MockError::Listen { addr, source })?;
    Ok(listener.allow_hosts(options.allow_hosts.clone()))
}

fn forbidden(why: String) -> Response {
    let error = serde_json::json!({ "error": why }).to_string();
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::FORBIDDEN, json, error + "\n").into_response()
}

/// Serves until `stop` or a crash, on one address or on two.
async fn serve(
    listener: Listener,
    of_endpoints: Option<Listener>,
    routes: Routes,
    stop: CancellationToken,
    crashed: CancellationToken,
) {
    let stopped = || async {
        tokio::select! {
            () = stop.cancelled() => {}
            () = crashed.cancelled() => {}
        }
    };
    let process = routes.process.clone();
    if let Some(of_endpoints) = of_endpoints {
        let (webhooks, endpoints) = routes.apart();
        let endpoints = serve_one(of_endpoints, endpoints, &process, stopped());
        let webhooks = serve_one(listener, webhooks, &process, stopped());
        tokio::join!(endpoints, webhooks);
    } else {
        serve_one(listener, routes.together(), &process, stopped()).await;
    }
}

/// Serves until `stopped` resolves. Then it closes all connections, even in the middle of a response, as they
/// are closed when a process is killed.
async fn serve_one(
    listener: Listener,
    router: Router,
    process: &DriverProcess,
    stopped: impl Future<Output = ()> + Send,
) {
    let router = TowerToHyperService::new(router);
    let service = |connection: &Connection| {
        connection::service(connection.clone(), router.clone(), process.run())
    };
    let connections = listener.serve(service, Some(forbidden), stopped);
    connections.await.abort().await;
}
