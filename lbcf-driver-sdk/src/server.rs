//! A driver as a server, or as an axum router for a server of one's own.
//!
//! [`Server`] is the whole: TLS, tokens, probes and an orderly end. `ServerArgs` (feature `cli`)
//! are its settings as flags. [`DriverRouter`] is the part that knows webhooks:
//!
//! ```
//! use lbcf_driver_sdk::webhook::{
//!     DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
//! };
//! use lbcf_driver_sdk::{RawDriver, HookError, server};
//!
//! struct Nowhere;
//!
//! impl RawDriver for Nowhere {
//!     async fn generate_backend_addr(&self, _: GenerateBackendAddrRequest) -> Result<String, HookError> {
//!         Ok("nowhere".into())
//!     }
//!     async fn ensure_backend(&self, _: EnsureBackendRequest) -> Result<StringMap, HookError> {
//!         Err(HookError::fail("there is nothing here"))
//!     }
//!     async fn deregister_backend(&self, _: DeregisterBackendRequest) -> Result<(), HookError> {
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
//! * A hook does not hang on its connection: as soon as it waits for something it goes on as a task
//!   of its own. The controller hangs up after its timeout (10 s unless configured) and calls
//!   again; dropping the hook with the connection would leave half-made load balancers behind.
//!   A hook that blocks its thread instead of waiting keeps its own call from being answered in
//!   time; `tokio::task::spawn_blocking` is for that.
//! * A call that is repeated while its operation runs joins it. A repeated call has the same
//!   webhook, the same `recordID` and the same content but for `retryID`.
//! * An operation that is not done when the deadline nears is answered with `Running`, and goes
//!   on. The next equal call gets its result, once, unless another operation worked on the same
//!   backend or deleted a load balancer since. So does the next call of a `createLoadBalancer`
//!   whose caller hung up. Beyond that nothing is remembered: a `recordID` stays the same when
//!   parameters change (d28), so an answer kept by `recordID` would swallow updates.
//! * Calls of one `recordID` with different content run one after the other, in order of arrival,
//!   and so do operations with an equal [`RawDriver::serial_key`].
//! * Only so many hooks run at a time, and only so many wait
//!   ([`DriverRouter::max_running_hooks`], [`DriverRouter::max_waiting_hooks`]). A hook that runs
//!   for more than a minute is named in the log, again after two, four and so on.
//! * What is no proper call is answered with a 4xx status and `{"error": "…"}`; a hook that
//!   panics is a 500 for the calls that waited for it.
//!
//! # Metrics
//!
//! [`DriverRouter::metrics_router`] serves them, [`DriverRouter::registry`] takes the driver's own.
//!
//! | name `lbcf_driver_…` | labels | |
//! |---|---|---|
//! | `calls_total` | `webhook`, `outcome` | what callers were told: `succ`, `fail`, `running`; `yes`, `no`; `healthy`, `unhealthy`; `rejected` (a 4xx), `panicked` (a 500), `hung_up` (nothing: the caller went away first) |
//! | `answer_duration_seconds` | `webhook` | a histogram: from a call's arrival to its answer |
//! | `hook_duration_seconds` | `webhook` | a histogram: how long the driver's functions took, without waiting for their turn |
//! | `running_hooks`, `waiting_hooks` | `webhook` | how many there are now |
//! | `repeated_calls_total` | `webhook`, `by` | operations that were not begun again: the call `joining` a running one, or `collecting` its result |
//! | `unfinished_calls_total` | `webhook`, `because` | calls that were answered before their hook was done: it was `running`, `waits_for_turn`, `waits_for_place`, or was not begun as `too_many_wait` |
//! | `rejected_calls_total` | `status` | calls that were no proper webhook calls |
//! | `kept_results` | | results that wait to be collected |
//!
//! # Logs
//!
//! Everything goes through [`tracing`], in a span `webhook` that has the webhook's name and, for
//! operations, `recordID`, `retryID` and `loadBalancer`: its serial key, or where it has none as
//! much of its identity as fits. A hook that fails is a warning with what is
//! [behind it](crate::HookError::because), one that panics an error, everything else is at debug.
//! What peers and drivers say stands in fields, quoted and escaped.

mod answer;
#[cfg(feature = "cli")]
mod args;
mod auth;
mod body;
mod contain;
#[cfg(feature = "openapi")]
mod documents;
mod driver_router;
mod error;
mod hashed;
mod hooks;
mod limits;
mod log;
mod metrics;
mod reject;
mod reload;
mod routes;
mod runs;
mod serial;
mod serve;
mod tls;

#[cfg(feature = "cli")]
pub use args::ServerArgs;
pub use driver_router::DriverRouter;
pub use error::ServerError;
pub use hooks::RunningHooks;
/// For the driver's own metrics, in the version that [`DriverRouter::registry`] takes.
pub use prometheus;
pub use serve::{BoundServer, Ending, Server};
pub use tls::TlsFiles;

use crate::RawDriver;

/// The ten webhooks of `driver`, each at `POST /<name>`, with the default settings of
/// [`DriverRouter`]. Mount it under a prefix with [`axum::Router::nest`].
pub fn router<D: RawDriver>(driver: D) -> axum::Router {
    DriverRouter::new(driver).build()
}
