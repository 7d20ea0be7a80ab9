//! A driver as a server, or as an axum router for a server of one's own.
//!
//! [`Server`] is the whole: TLS, tokens, probes and an orderly end. `ServerArgs` (feature `cli`)
//! are its settings as flags. [`DriverRouter`] is the part that knows webhooks:
//!
//! ```
//! use lbcf_driver_sdk::webhook::{
//!     DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
//! };
//! use lbcf_driver_sdk::{RawDriver, NotSucc, server};
//!
//! struct Nowhere;
//!
//! impl RawDriver for Nowhere {
//!     async fn generate_backend_addr(&self, _: GenerateBackendAddrRequest) -> Result<String, NotSucc> {
//!         Ok("nowhere".into())
//!     }
//!     async fn ensure_backend(&self, _: EnsureBackendRequest) -> Result<StringMap, NotSucc> {
//!         Err(NotSucc::fail("there is nothing here"))
//!     }
//!     async fn deregister_backend(&self, _: DeregisterBackendRequest) -> Result<(), NotSucc> {
//!         Ok(())
//!     }
//! }
//!
//! let driver = server::DriverRouter::new(Nowhere);
//! let hooks = driver.running_hooks();
//! let app = axum::Router::new().nest("/lbcf", driver.build());
//! // axum::serve(listener, app).with_graceful_shutdown(stop).await?;
//! // hooks.idle().await; // what was begun is finished
//! # let _ = (hooks, app);
//! ```
//!
//! What the router sees to, so that a driver need not:
//!
//! * Each hook runs as a task of its own. The controller hangs up after its timeout (10 s unless
//!   configured) and calls again; dropping the hook with the connection would leave half-made
//!   load balancers behind.
//! * A call that is repeated while its operation runs joins it. A repeated call has the same
//!   webhook, the same `recordID` and the same content but for `retryID`.
//! * An operation that is not done when the deadline nears is answered with `Running`, and goes
//!   on. The next equal call gets its result, once, unless another operation worked on the same
//!   backend or deleted a load balancer since. Beyond that nothing is remembered: a
//!   `recordID` stays the same when parameters change (d28), so an answer kept by `recordID`
//!   would swallow updates.
//! * Calls of one `recordID` with different content run one after the other, in order of arrival,
//!   and so do operations with an equal [`RawDriver::serial_key`].
//! * What is no proper call is answered with a 4xx status and `{"error": "…"}`; a hook that
//!   panics is a 500 for the calls that waited for it.

mod answer;
#[cfg(feature = "cli")]
mod args;
mod auth;
mod body;
mod error;
mod hooks;
mod reject;
mod reload;
mod routes;
mod runs;
mod serial;
mod serve;
mod tls;

#[cfg(feature = "cli")]
pub use args::ServerArgs;
pub use error::ServerError;
pub use hooks::RunningHooks;
pub use serve::{BoundServer, Ending, Server};
pub use tls::TlsFiles;

use crate::RawDriver;
use hooks::Hooks;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The ten webhooks of `driver`, each at `POST /<name>`, with the default settings of
/// [`DriverRouter`]. Mount it under a prefix with [`axum::Router::nest`].
pub fn router<D: RawDriver>(driver: D) -> axum::Router {
    DriverRouter::new(driver).build()
}

/// Settings of the router around a driver.
pub struct DriverRouter<D> {
    driver: Arc<D>,
    settings: Settings,
    hooks: RunningHooks,
}

#[derive(Debug, Clone)]
struct Settings {
    answer_within: Duration,
    keep_results: Duration,
    body_limit: usize,
}

impl<D: RawDriver> DriverRouter<D> {
    /// The default settings.
    pub fn new(driver: D) -> Self {
        Self {
            driver: Arc::new(driver),
            settings: Settings {
                // The controller hangs up after 10 s by default; the answer needs time to travel.
                answer_within: Duration::from_secs(8),
                keep_results: Duration::from_secs(600),
                // A pod may have 1.5 MiB in its cluster's store, and judgePodDeregister sends
                // several.
                body_limit: 4 << 20,
            },
            hooks: RunningHooks::default(),
        }
    }

    /// After how long a call is answered at the latest (default 8 s): an operation then with
    /// `Running`, a decision with "no". Stay below the timeout that the controller is configured
    /// with.
    #[must_use]
    pub const fn answer_within(mut self, limit: Duration) -> Self {
        self.settings.answer_within = limit;
        self
    }

    /// How long the result of an operation waits for the next call to collect it (default 10
    /// minutes).
    #[must_use]
    pub const fn keep_results(mut self, time: Duration) -> Self {
        self.settings.keep_results = time;
        self
    }

    /// How many bytes a request's body may have (default 4 MiB).
    #[must_use]
    pub const fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// Watches the hooks that run, for shutting down when none is left.
    #[must_use]
    pub fn running_hooks(&self) -> RunningHooks {
        self.hooks.clone()
    }

    /// The driver, for tests to look into.
    #[cfg(feature = "testing")]
    pub(crate) fn driver(&self) -> Arc<D> {
        Arc::clone(&self.driver)
    }

    /// The router.
    pub fn build(self) -> axum::Router {
        routes::all(Arc::new(Shared {
            driver: self.driver,
            hooks: Hooks::new(self.hooks, self.settings.keep_results),
            settings: self.settings,
        }))
    }
}

impl<D> fmt::Debug for DriverRouter<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverRouter")
            .field("settings", &self.settings)
            .field("hooks", &self.hooks)
            .finish_non_exhaustive()
    }
}

/// What every call needs.
struct Shared<D> {
    driver: Arc<D>,
    hooks: Hooks,
    settings: Settings,
}
