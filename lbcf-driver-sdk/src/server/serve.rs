//! A driver as a whole server: address, TLS, tokens, probes, and graceful shutdown.

mod bound;
mod probes;
mod surface;

pub use bound::{BoundServer, Ending};

use super::auth::TokenAuth;
use super::conformance::conformance_router;
use super::path_prefix::PathPrefix;
use super::{DriverRouter, RunningHooks, ServerError, Settings};
use crate::Driver;
use bound::listen;
use probes::Readiness;
use std::net::SocketAddr;
use std::path::PathBuf;
use surface::{Pages, Surface};

/// A driver's server, and its settings.
///
/// ```no_run
/// use lbcf_driver_sdk::server::{Server, ServerError};
/// # use lbcf_driver_sdk::Driver;
///
/// # async fn example(driver: impl Driver) -> Result<(), ServerError> {
/// Server::new(driver)
///     .listen(([0, 0, 0, 0], 8443).into())
///     .tls("/etc/tls/tls.crt", "/etc/tls/tls.key")
///     .token_file("/etc/token/token")
///     .run()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// It serves, all below the [path prefix](Settings::path_prefix):
///
/// * the eleven webhooks, as [`DriverRouter`] does;
/// * `/livez` and `/readyz`, for the probes of a pod: the process responds, and is not shutting
///   down. `/healthz` is a webhook that calls the driver, by POST or GET. The three are at the root
///   too, and need no token;
/// * `/.well-known/lbcf/conformance`, if there is a [fixture](Settings::conformance_fixture), and
///   [routes](Settings::routes) of the driver's own;
/// * at the root, `/metrics`, and with the feature `openapi` `/openapi.json` and `/docs`.
///
/// Each connection is a task of its own. One that is slow in its TLS handshake, in the head of a
/// request or in taking a response is closed; where there are too many, further ones wait.
///
/// At the shutdown `/readyz` turns to 503, the port is closed, requests get their responses, and
/// running hooks may go on until [`shutdown_within`](Settings::shutdown_within) is over.
#[derive(Debug)]
pub struct Server<D>(DriverRouter<D>);

impl<D: Driver> Server<D> {
    /// On `127.0.0.1:8080`, without TLS and without a token.
    ///
    /// ```
    /// # fn example(driver: impl lbcf_driver_sdk::Driver) {
    /// let server = lbcf_driver_sdk::server::Server::new(driver);
    /// # }
    /// ```
    pub fn new(driver: D) -> Self {
        Self::with(driver, Settings::default())
    }

    /// A server with these settings.
    pub fn with(driver: D, settings: Settings) -> Self {
        Self::from(DriverRouter::with(driver, settings))
    }

    /// The [address](Settings::listen) to listen on (default `127.0.0.1:8080`).
    #[must_use]
    pub const fn listen(mut self, addr: SocketAddr) -> Self {
        self.0.settings.listen = addr;
        self
    }

    /// Serves HTTPS with this certificate and key. The files are read again when they change; where they
    /// cannot be used, the previous certificate stays, and the log has the reason.
    #[must_use]
    pub fn tls(mut self, cert: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.0.settings.tls_cert = Some(cert.into());
        self.0.settings.tls_key = Some(key.into());
        self
    }

    /// Requires the token in a file, which is read again when it changes, as `Authorization: Bearer …`; calls
    /// without it get 401, and the driver is not called. White space around the token is ignored. Use it
    /// together with TLS.
    #[must_use]
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.settings.token_file = Some(path.into());
        self
    }

    /// A handle to count running hooks and to wait for them.
    #[must_use]
    pub fn running_hooks(&self) -> RunningHooks {
        self.0.running_hooks()
    }

    /// Reads the files and opens the ports. Connections wait until the result is
    /// [run](BoundServer::run).
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::Driver;
    /// # use lbcf_driver_sdk::server::{Server, ServerError};
    /// # async fn example(driver: impl Driver) -> Result<(), ServerError> {
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
    pub async fn bind(self) -> Result<BoundServer, ServerError> {
        let (settings, hooks) = (self.0.settings.clone(), self.running_hooks());
        let tls = match settings.tls_files()? {
            Some(files) => Some(
                files
                    .load::<ServerError>(settings.client_ca.clone())
                    .await?,
            ),
            None => None,
        };
        let (surface, ready) = self.surface().await?;
        listen(&settings, tls, surface, (ready, hooks)).await
    }

    /// Binds and serves until SIGINT, SIGTERM, SIGHUP or SIGQUIT; a second signal skips the graceful shutdown.
    ///
    /// ```no_run
    /// # use lbcf_driver_sdk::Driver;
    /// # use lbcf_driver_sdk::server::{Server, ServerError};
    /// # async fn example(driver: impl Driver) -> Result<(), ServerError> {
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
    /// # use lbcf_driver_sdk::Driver;
    /// # use lbcf_driver_sdk::server::Server;
    /// # async fn example(driver: impl Driver) -> Result<(), Box<dyn std::error::Error>> {
    /// let router = Server::new(driver).token_file("/etc/token/token").into_router().await?;
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    /// axum::serve(listener, router).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ServerError`], when a file cannot be used or settings do not work.
    pub async fn into_router(self) -> Result<axum::Router, ServerError> {
        if self.0.settings.tls_files()?.is_some() {
            return Err(ServerError::Settings(
                "a router has no TLS: set it up in the server that the router is for",
            ));
        }
        Ok(self.surface().await?.0.main)
    }

    async fn surface(self) -> Result<(Surface, Readiness), ServerError> {
        let Self(router) = self;
        let settings = router.settings.clone();
        let prefix: PathPrefix = settings.path_prefix.parse()?;
        let auth = TokenAuth::new(&settings).await?;
        let ready = Readiness::default();
        let pages = pages(&router, &prefix);
        let mut driver = router.build().merge(settings.routes);
        if let Some(text) = settings.conformance_fixture {
            driver = driver.merge(conformance_router(text));
        }
        let surface = surface::surface(driver, pages, prefix, &ready, auth);
        Ok((surface, ready))
    }
}

/// The routes beside the webhooks.
fn pages<D: Driver>(driver: &DriverRouter<D>, prefix: &PathPrefix) -> Pages {
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

impl<D> From<DriverRouter<D>> for Server<D> {
    fn from(driver: DriverRouter<D>) -> Self {
        Self(driver)
    }
}
