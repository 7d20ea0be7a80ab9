//! A server that has its ports: running it, and ending it.

use super::limits::Limits;
use super::port::{Connections, Port};
use super::probes::Readiness;
use super::signals::Signals;
use super::surface::Surface;
use crate::server::tls::Tls;
use crate::server::{RunningHooks, ServerError};
use std::fmt;
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// How a server ended.
///
/// ```no_run
/// # use lbcf_driver_sdk::RawDriver;
/// # use lbcf_driver_sdk::server::{Server, ServerError};
/// # async fn example(driver: impl RawDriver) -> Result<(), ServerError> {
/// let ending = Server::new(driver).run().await?;
/// println!("{} hooks are cut off", ending.hooks_left);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ending {
    /// How many hooks were still at work. They go on until the runtime ends.
    pub hooks_left: usize,
}

/// A server that has its ports.
///
/// ```no_run
/// # use lbcf_driver_sdk::RawDriver;
/// # use lbcf_driver_sdk::server::{Server, ServerError};
/// # async fn example(driver: impl RawDriver) -> Result<(), ServerError> {
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
    main: Port,
    probes: Option<Port>,
    url: String,
    ready: Readiness,
    hooks: RunningHooks,
    shutdown_within: Duration,
    /// Looks at the files.
    _watching: Option<AbortOnDropHandle<()>>,
}

/// What a server needs apart from what it serves.
pub(super) struct Plan {
    pub(super) listen: SocketAddr,
    pub(super) probes_on: Option<SocketAddr>,
    pub(super) tls: Option<Tls>,
    pub(super) reload_every: Duration,
    pub(super) shutdown_within: Duration,
    pub(super) limits: Limits,
    pub(super) hooks: RunningHooks,
}

/// Opens the ports.
pub(super) async fn listen(
    plan: Plan,
    surface: Surface,
    ready: Readiness,
) -> Result<BoundServer, ServerError> {
    let Plan { limits, tls, .. } = plan;
    let current = tls.as_ref().map(Tls::current);
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (listener, addr) = open(plan.listen).await?;
    let main = Port::new(listener, addr, surface.main, current, limits);
    let probes = match plan.probes_on {
        Some(probes_on) => {
            let (listener, addr) = open(probes_on).await?;
            Some(Port::new(listener, addr, surface.probes, None, limits))
        }
        None => None,
    };
    let interval = plan.reload_every;
    let watching = tls.map(|tls| AbortOnDropHandle::new(tokio::spawn(tls.watch(interval))));
    Ok(BoundServer {
        main,
        probes,
        url: format!("{scheme}://{addr}{}", surface.prefix.as_str()),
        ready,
        hooks: plan.hooks,
        shutdown_within: plan.shutdown_within,
        _watching: watching,
    })
}

async fn open(addr: SocketAddr) -> Result<(TcpListener, SocketAddr), ServerError> {
    let listen_error = |source| ServerError::Listen { addr, source };
    let listener = TcpListener::bind(addr).await.map_err(listen_error)?;
    let addr = listener.local_addr().map_err(listen_error)?;
    Ok((listener, addr))
}

impl BoundServer {
    /// Where it listens.
    ///
    /// ```
    /// # fn example(server: lbcf_driver_sdk::server::BoundServer) {
    /// assert_ne!(server.addr().port(), 0);
    /// # }
    /// ```
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.main.addr()
    }

    /// Where it listens for probes, if that is a port of its own.
    ///
    /// ```
    /// # fn example(server: lbcf_driver_sdk::server::BoundServer) {
    /// println!("probes: {:?}", server.probes_addr());
    /// # }
    /// ```
    #[must_use]
    pub fn probes_addr(&self) -> Option<SocketAddr> {
        self.probes.as_ref().map(Port::addr)
    }

    /// Its URL by the address that it listens on, with the path prefix, such as
    /// `http://127.0.0.1:8080/lbcf`.
    ///
    /// ```
    /// # fn example(server: lbcf_driver_sdk::server::BoundServer) {
    /// println!("the LoadBalancerDriver's url is {}", server.url());
    /// # }
    /// ```
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Serves until SIGINT or SIGTERM; a second signal ends it at once.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::server::{BoundServer, ServerError};
    /// # async fn example(server: BoundServer) -> Result<(), ServerError> {
    /// println!("{}", server.url());
    /// server.run().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError::Signals`], when the system does not tell of signals.
    pub async fn run(self) -> Result<Ending, ServerError> {
        Ok(self.run_with(Signals::listen()?).await)
    }

    pub(in crate::server) async fn run_with(self, mut signals: Signals) -> Ending {
        let hooks = self.hooks.clone();
        let (stop, stopped) = oneshot::channel();
        let at_once = async {
            let signal = signals.next().await;
            tracing::info!(signal, "told to end");
            // The server listens for as long as it is.
            let _ = stop.send(());
            signals.next().await
        };
        tokio::select! {
            ending = self.run_until(async { drop(stopped.await) }) => ending,
            signal = at_once => {
                let hooks_left = hooks.count();
                tracing::warn!(signal, hooks_left, "told once more to end: this is at once");
                Ending { hooks_left }
            }
        }
    }

    /// Serves until `stop` is ready, then ends as [`Server`](super::Server) says. Dropping the
    /// future ends it at once.
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
            let serving = async move { drop(port.accept_until(pending()).await) };
            AbortOnDropHandle::new(tokio::spawn(serving))
        });
        let connections = self.main.accept_until(stop).await;
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
                "the driver ends although hooks are at work"
            );
        }
        Ending { hooks_left }
    }
}

async fn end(connections: Connections, hooks: &RunningHooks) {
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
