//! A server whose ports are bound: serving, and graceful shutdown.

use super::probes::Readiness;
use super::surface::Surface;
use crate::server::reject::reject;
use crate::server::{RunningHooks, ServerError, Settings};
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use hyper_util::service::TowerToHyperService;
use lbcf_serving::listener::{Connections, Listener};
use lbcf_serving::signals::Signals;
use lbcf_serving::tls::ReloadingTls;
use std::fmt;
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\
    Content-Length: 56\r\nConnection: close\r\n\r\n\
    {\"error\": \"this port speaks HTTPS: call it https://...\"}";

/// The result of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ending {
    /// The number of hooks that were still running. They go on until the runtime ends.
    pub hooks_left: usize,
}

/// A server whose ports are bound.
///
/// ```no_run
/// # use lbcf_driver_sdk::Driver;
/// # use lbcf_driver_sdk::server::{Server, ServerError};
/// # async fn example(driver: impl Driver) -> Result<(), ServerError> {
/// let server = Server::new(driver).listen(([127, 0, 0, 1], 0).into()).bind().await?;
/// let url = server.url();
/// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
/// let running = tokio::spawn(server.run_until(async { drop(stopped.await) }));
/// // … call it at `url` …
/// drop(stop);
/// # Ok(())
/// # }
/// ```
pub struct BoundServer {
    main: (Listener, Router),
    probes: Option<(Listener, Router)>,
    url: String,
    ready: Readiness,
    hooks: RunningHooks,
    shutdown_within: Duration,
    /// Reads the TLS files again.
    _watching: Option<AbortOnDropHandle<()>>,
}

pub(super) async fn listen(
    settings: &Settings,
    tls: Option<ReloadingTls>,
    surface: Surface,
    (ready, hooks): (Readiness, RunningHooks),
) -> Result<BoundServer, ServerError> {
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut main = open(settings.listen, settings).await?;
    let url = format!("{scheme}://{}{}", main.addr(), surface.prefix.as_str());
    let probes = match settings.probes_on {
        Some(addr) => Some((open(addr, settings).await?, surface.probes)),
        None => None,
    };
    let mut watching = None;
    if let Some(tls) = tls {
        main = main.tls(tls.tls()).not_tls_response(NOT_TLS);
        let watch = tokio::spawn(tls.watch(settings.reload_every()));
        watching = Some(AbortOnDropHandle::new(watch));
    }
    Ok(BoundServer {
        main: (main, surface.main),
        probes,
        url,
        ready,
        hooks,
        shutdown_within: settings.shutdown_within,
        _watching: watching,
    })
}

async fn open(addr: SocketAddr, settings: &Settings) -> Result<Listener, ServerError> {
    let listener = Listener::bind(addr).await;
    let listener = listener.map_err(|source| ServerError::Listen { addr, source })?;
    let listener = listener.allow_hosts(settings.allow_hosts.clone());
    Ok(listener.limits(settings.limits()))
}

fn forbidden(why: String) -> Response {
    reject(StatusCode::FORBIDDEN, why).into_response()
}

async fn serve(
    (listener, router): (Listener, Router),
    stop: impl Future<Output = ()>,
) -> Connections {
    let service = TowerToHyperService::new(router);
    listener
        .serve(|_| service.clone(), Some(forbidden), stop)
        .await
}

impl BoundServer {
    /// The address that it listens on.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.main.0.addr()
    }

    /// The address that it serves probes on, if it is another one.
    #[must_use]
    pub fn probes_addr(&self) -> Option<SocketAddr> {
        self.probes.as_ref().map(|(listener, _)| listener.addr())
    }

    /// Its URL by that address, with the path prefix, such as `http://127.0.0.1:8080/lbcf`.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Serves until SIGINT, SIGTERM, SIGHUP or SIGQUIT; a second signal skips the graceful shutdown.
    ///
    /// # Errors
    /// [`ServerError::Signals`], when the signals cannot be handled.
    pub async fn run(self) -> Result<Ending, ServerError> {
        let signals = Signals::listen().map_err(ServerError::Signals)?;
        Ok(self.run_with(signals).await)
    }

    pub(in crate::server) async fn run_with(self, mut signals: Signals) -> Ending {
        let hooks = self.hooks.clone();
        let (stop, stopped) = oneshot::channel();
        let at_once = async {
            let signal = signals.next().await;
            tracing::info!(signal, "shutting down on a signal");
            // The server holds the receiver until it has ended.
            let _ = stop.send(());
            signals.next().await
        };
        tokio::select! {
            ending = self.run_until(async { drop(stopped.await) }) => ending,
            signal = at_once => {
                let hooks_left = hooks.count();
                tracing::warn!(signal, hooks_left, "a second signal: ending at once");
                Ending { hooks_left }
            }
        }
    }

    /// Serves until `stop` is ready, then shuts down gracefully. Dropping the future ends it at
    /// once.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::server::BoundServer;
    /// # async fn example(server: BoundServer, stop: tokio::sync::oneshot::Receiver<()>) {
    /// let ending = server.run_until(async { drop(stop.await) }).await;
    /// assert_eq!(ending.hooks_left, 0);
    /// # }
    /// ```
    pub async fn run_until(self, stop: impl Future<Output = ()> + Send) -> Ending {
        let probes_addr = self.probes_addr();
        tracing::info!(url = self.url, ?probes_addr, "the driver listens");
        let _probes = self.probes.map(|port| {
            let serving = async move { drop(serve(port, pending()).await) };
            AbortOnDropHandle::new(tokio::spawn(serving))
        });
        let connections = serve(self.main, stop).await;
        self.ready.end();
        let running_hooks = self.hooks.count();
        tracing::info!(running_hooks, "shutting down");
        let ended = end(connections, &self.hooks);
        let _ = timeout(self.shutdown_within, ended).await;
        let hooks_left = self.hooks.count();
        if hooks_left == 0 {
            tracing::info!("the driver has ended");
        } else {
            let limit = self.shutdown_within;
            tracing::warn!(
                hooks_left,
                ?limit,
                "the driver ends while hooks are running"
            );
        }
        Ending { hooks_left }
    }
}

async fn end(mut connections: Connections, hooks: &RunningHooks) {
    connections.finish().await;
    hooks.idle().await;
}

impl fmt::Debug for BoundServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundServer")
            .field("url", &self.url)
            .field("probes_addr", &self.probes_addr())
            .field("hooks", &self.hooks)
            .field("shutdown_within", &self.shutdown_within)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::NOT_TLS;

    #[test]
    fn the_response_without_tls_has_the_length_in_its_head() {
        let text = std::str::from_utf8(NOT_TLS).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "{head}"
        );
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
