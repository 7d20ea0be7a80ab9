//! A driver as a whole server: address, TLS, tokens, probes, and graceful shutdown.

mod bound;
mod prefix;
mod probes;
mod surface;

pub use bound::{BoundServer, Ending};
pub(super) use prefix::PathPrefix;

use super::auth::{TokenAuth, TokenSource};
use super::conformance::conformance_router;
use super::{DriverRouter, RunningHooks, ServerError, TlsFiles};
use crate::RawDriver;
use bound::{Plan, listen};
use lbcf_serving::listener::Limits;
use probes::Readiness;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use surface::{Pages, Surface};

/// Reading files without a pause would leave no time for anything else.
const SHORTEST_RELOAD: Duration = Duration::from_millis(10);

/// A driver's server, and its settings.
///
/// ```no_run
/// use lbcf_driver_sdk::server::{Server, ServerError, TlsFiles};
/// # use lbcf_driver_sdk::RawDriver;
///
/// # async fn example(driver: impl RawDriver) -> Result<(), ServerError> {
/// Server::new(driver)
///     .listen(([0, 0, 0, 0], 8443).into())
///     .tls(TlsFiles::new("/etc/tls/tls.crt", "/etc/tls/tls.key"))
///     .token_file("/etc/token/token")
///     .probes_on(([0, 0, 0, 0], 8081).into())
///     .run()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// It serves, all below the [path prefix](Self::path_prefix):
///
/// * the eleven webhooks, as [`DriverRouter`] does;
/// * `/livez` and `/readyz`, for the probes of a pod: the process responds, and is not shutting
///   down. `/healthz` is a webhook that calls the driver, by POST or GET. The three are at the root
///   too, and need no token;
/// * `/.well-known/lbcf/conformance`, if there is a [fixture](Self::conformance_fixture), and
///   [routes](Self::routes) of the driver's own;
/// * at the root, `/metrics`, and with the feature `openapi` `/openapi.json` and `/docs`.
///
/// Each connection is a task of its own. One that is slow in its TLS handshake, in the head of a
/// request or in taking a response is closed; where there are too many, further ones wait.
///
/// At the shutdown `/readyz` turns to 503, the port is closed, requests get their responses, and
/// running hooks may go on until [`shutdown_within`](Self::shutdown_within) is over.
pub struct Server<D> {
    driver: DriverRouter<D>,
    listen: SocketAddr,
    probes_on: Option<SocketAddr>,
    path_prefix: String,
    tls: Option<TlsFiles>,
    client_ca: Option<PathBuf>,
    token: Option<TokenSource>,
    reload_every: Duration,
    shutdown_within: Duration,
    limits: Limits,
    conformance_fixture: Option<String>,
    routes: axum::Router,
}

impl<D: RawDriver> Server<D> {
    /// On `127.0.0.1:8080`, without TLS and without a token.
    ///
    /// ```
    /// # fn example(driver: impl lbcf_driver_sdk::RawDriver) {
    /// let server = lbcf_driver_sdk::server::Server::new(driver);
    /// # }
    /// ```
    pub fn new(driver: D) -> Self {
        Self::from(DriverRouter::new(driver))
    }

    /// The address to listen on (default `127.0.0.1:8080`); port 0 is a free one.
    #[must_use]
    pub const fn listen(mut self, addr: SocketAddr) -> Self {
        self.listen = addr;
        self
    }

    /// The path below which everything is served (default: none). With `/lbcf`, webhooks are called
    /// at `/lbcf/createLoadBalancer`, and the `url` of the `LoadBalancerDriver` ends with `/lbcf`.
    /// [`bind`](Self::bind) reports one that does not work.
    #[must_use]
    pub fn path_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.path_prefix = prefix.into();
        self
    }

    /// Serves HTTPS with this certificate. The files are read again when they change; where they
    /// cannot be used, the previous certificate stays, and the log has the reason.
    #[must_use]
    pub fn tls(mut self, files: TlsFiles) -> Self {
        self.tls = Some(files);
        self
    }

    /// Accepts only clients with a certificate of one of the CAs in this PEM file, for the whole
    /// port, probes included: see [`probes_on`](Self::probes_on). Needs [`tls`](Self::tls). The
    /// file is read again when it changes; open connections are then closed when their request is
    /// answered.
    #[must_use]
    pub fn client_ca(mut self, path: impl Into<PathBuf>) -> Self {
        self.client_ca = Some(path.into());
        self
    }

    /// Requires this token, as `Authorization: Bearer …`; calls without it get 401, and the driver
    /// is not called. Use it together with TLS.
    #[must_use]
    pub fn token(mut self, token: impl AsRef<str>) -> Self {
        self.token = Some(TokenSource::given(token.as_ref()));
        self
    }

    /// Requires the token in a file, which is read again when it changes. White space around the
    /// token is ignored.
    #[must_use]
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token = Some(TokenSource::File(path.into()));
        self
    }

    /// Serves the probes on this address too, over plain HTTP and without a token, for probes that
    /// have no client certificate. It stays open until the shutdown is over.
    #[must_use]
    pub const fn probes_on(mut self, addr: SocketAddr) -> Self {
        self.probes_on = Some(addr);
        self
    }

    /// The interval at which files are read again (default 5 s, at least 10 ms).
    #[must_use]
    pub const fn reload_every(mut self, interval: Duration) -> Self {
        self.reload_every = interval;
        self
    }

    /// The time that the shutdown may take in all (default 30 s), for responses and for running hooks.
    /// Stay below the pod's `terminationGracePeriodSeconds`.
    #[must_use]
    pub const fn shutdown_within(mut self, limit: Duration) -> Self {
        self.shutdown_within = limit;
        self
    }

    /// The number of connections at a time, at least one (default 1024). Further ones wait.
    #[must_use]
    pub const fn max_connections(mut self, count: usize) -> Self {
        self.limits.connections = count;
        self
    }

    /// The time that a TLS handshake may take (default 10 s).
    #[must_use]
    pub const fn handshake_within(mut self, limit: Duration) -> Self {
        self.limits.handshake = limit;
        self
    }

    /// The time that the head of a request may take to arrive once it has begun (default 10 s).
    #[must_use]
    pub const fn head_within(mut self, limit: Duration) -> Self {
        self.limits.head = limit;
        self
    }

    /// The time that a connection may be without a request (default 2 min). Controllers close idle
    /// connections after 90 s at most. They should be first, as a request may be on its way when the
    /// server closes.
    #[must_use]
    pub const fn idle_within(mut self, limit: Duration) -> Self {
        self.limits.idle = limit;
        self
    }

    /// Serves this text, the driver's conformance fixture, at `/.well-known/lbcf/conformance` below the
    /// [path prefix](Self::path_prefix) (default: not served). `lbcf conformance run --url` then needs no
    /// `--fixture`. Callers need the [token](Self::token) where there is one. The kit runs no command
    /// that it names: keep those in a file.
    ///
    /// ```no_run
    /// # fn example(driver: impl lbcf_driver_sdk::RawDriver) {
    /// # const FIXTURE: &str = "";
    /// // const FIXTURE: &str = include_str!("../conformance.yaml");
    /// let server = lbcf_driver_sdk::server::Server::new(driver).conformance_fixture(FIXTURE);
    /// # }
    /// ```
    #[must_use]
    pub fn conformance_fixture(mut self, text: impl Into<String>) -> Self {
        self.conformance_fixture = Some(text.into());
        self
    }

    /// Serves further routes below the [path prefix](Self::path_prefix), behind the [token](Self::token) if
    /// there is one (default: none): for what belongs to the driver and is no webhook, such as an observer for
    /// `lbcf conformance`. Fallbacks are not allowed, and neither are the paths of webhooks: axum panics at the start.
    ///
    /// ```no_run
    /// use axum::{Router, routing::get};
    /// use lbcf_driver_sdk::server::Server;
    ///
    /// # fn example(driver: impl lbcf_driver_sdk::RawDriver) {
    /// let server = Server::new(driver).routes(Router::new().route("/_version", get(|| async { "1.0" })));
    /// # }
    /// ```
    #[must_use]
    pub fn routes(mut self, routes: axum::Router) -> Self {
        self.routes = self.routes.merge(routes);
        self
    }

    /// [`DriverRouter::answer_within`] of the driver's router.
    #[must_use]
    pub fn answer_within(self, limit: Duration) -> Self {
        self.configure(|driver| driver.answer_within(limit))
    }

    /// [`DriverRouter::body_limit`] of the driver's router, in bytes.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.configure(|driver| driver.body_limit(bytes))
    }

    /// Changes any setting of the driver's router.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # fn example<D: lbcf_driver_sdk::RawDriver>(server: lbcf_driver_sdk::server::Server<D>) {
    /// let server = server.configure(|driver| driver.keep_results(Duration::from_secs(60)));
    /// # }
    /// ```
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(DriverRouter<D>) -> DriverRouter<D>) -> Self {
        self.driver = change(self.driver);
        self
    }

    /// A handle to count running hooks and to wait for them.
    #[must_use]
    pub fn running_hooks(&self) -> RunningHooks {
        self.driver.running_hooks()
    }

    /// Reads the files and opens the ports. Connections wait until the result is
    /// [run](BoundServer::run).
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::RawDriver;
    /// # use lbcf_driver_sdk::server::{Server, ServerError};
    /// # async fn example(driver: impl RawDriver) -> Result<(), ServerError> {
    /// let server = Server::new(driver).listen(([127, 0, 0, 1], 0).into()).bind().await?;
    /// println!("the LoadBalancerDriver's url is {}", server.url());
    /// server.run_until(std::future::pending()).await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError`], when an address cannot be bound, a file cannot be used, or settings do not
    /// work.
    pub async fn bind(mut self) -> Result<BoundServer, ServerError> {
        let tls = match (self.tls.take(), self.client_ca.take()) {
            (None, None) => None,
            (None, Some(_)) => return Err(CLIENT_CA_WITHOUT_TLS),
            (Some(files), client_ca) => Some(files.load::<ServerError>(client_ca).await?),
        };
        let plan = Plan {
            listen: self.listen,
            probes_on: self.probes_on,
            tls,
            reload_every: self.reload_every.max(SHORTEST_RELOAD),
            shutdown_within: self.shutdown_within,
            limits: self.limits,
            hooks: self.running_hooks(),
        };
        let (surface, ready) = self.surface().await?;
        listen(plan, surface, ready).await
    }

    /// Binds and serves until SIGINT or SIGTERM; a second signal skips the graceful shutdown.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::RawDriver;
    /// # use lbcf_driver_sdk::server::{Server, ServerError};
    /// # async fn example(driver: impl RawDriver) -> Result<(), ServerError> {
    /// Server::new(driver).run().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError`], as [`bind`](Self::bind).
    pub async fn run(self) -> Result<Ending, ServerError> {
        self.bind().await?.run().await
    }

    /// The router with prefix, probes and token, for a server of your own. Addresses and connection
    /// limits are ignored, and TLS is an error, as the router cannot provide it.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::RawDriver;
    /// # use lbcf_driver_sdk::server::Server;
    /// # async fn example(driver: impl RawDriver) -> Result<(), Box<dyn std::error::Error>> {
    /// let router = Server::new(driver).path_prefix("/lbcf").into_router().await?;
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    /// axum::serve(listener, router).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError`], when a file cannot be used or settings do not work.
    pub async fn into_router(self) -> Result<axum::Router, ServerError> {
        if self.tls.is_some() || self.client_ca.is_some() {
            return Err(ServerError::Settings(
                "a router has no TLS: set it up in the server that the router is for",
            ));
        }
        Ok(self.surface().await?.0.main)
    }

    async fn surface(self) -> Result<(Surface, Readiness), ServerError> {
        let prefix: PathPrefix = self.path_prefix.parse()?;
        let auth = match self.token {
            Some(source) => {
                let interval = self.reload_every.max(SHORTEST_RELOAD);
                Some(TokenAuth::new(source, interval).await?)
            }
            None => None,
        };
        let ready = Readiness::default();
        let pages = pages(&self.driver, &prefix);
        let driver = self.driver.build().merge(self.routes);
        let driver = match self.conformance_fixture {
            Some(text) => driver.merge(conformance_router(text)),
            None => driver,
        };
        let surface = surface::surface(driver, pages, prefix, &ready, auth);
        Ok((surface, ready))
    }
}

/// The routes beside the webhooks.
fn pages<D: RawDriver>(driver: &DriverRouter<D>, prefix: &PathPrefix) -> Pages {
    #[cfg(not(feature = "openapi"))]
    let _ = prefix;
    Pages {
        metrics: driver.metrics_router(),
        #[cfg(feature = "openapi")]
        documents: driver.documents_router(prefix.as_str()),
        #[cfg(not(feature = "openapi"))]
        documents: axum::Router::new(),
    }
}

const CLIENT_CA_WITHOUT_TLS: ServerError =
    ServerError::Settings("a CA for clients needs TLS: set a certificate and its key too");

impl<D> From<DriverRouter<D>> for Server<D> {
    fn from(driver: DriverRouter<D>) -> Self {
        Self {
            driver,
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            probes_on: None,
            path_prefix: String::new(),
            tls: None,
            client_ca: None,
            token: None,
            reload_every: Duration::from_secs(5),
            shutdown_within: Duration::from_secs(30),
            limits: Limits::default(),
            conformance_fixture: None,
            routes: axum::Router::new(),
        }
    }
}

impl<D> fmt::Debug for Server<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("driver", &self.driver)
            .field("listen", &self.listen)
            .field("probes_on", &self.probes_on)
            .field("path_prefix", &self.path_prefix)
            .field("tls", &self.tls)
            .field("client_ca", &self.client_ca)
            .field("token", &self.token)
            .field("reload_every", &self.reload_every)
            .field("shutdown_within", &self.shutdown_within)
            .field("limits", &self.limits)
            .field("conformance_fixture", &self.conformance_fixture.is_some())
            .finish()
    }
}
