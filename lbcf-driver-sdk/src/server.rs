#![doc = include_str!("docs/modules/server.md")]

#[cfg(feature = "cli")]
mod args;
mod auth;
mod body;
mod conformance;
mod contain;
mod context;
#[cfg(feature = "openapi")]
mod documents;
mod driver_router;
mod error;
mod handlers;
mod hashed;
mod hooks;
mod keyed_mutex;
mod limits;
mod log;
mod metrics;
mod outcome;
mod path_prefix;
mod pending;
mod rate;
mod reject;
mod routes;
mod serve;
mod settings;
mod single_flight;

#[cfg(feature = "cli")]
pub use args::ServerArgs;
pub use conformance::conformance_router;
pub(crate) use contain::panic_text;
pub use driver_router::DriverRouter;
pub use error::ServerError;
pub use hooks::RunningHooks;
pub use lbcf_serving::secret::Secret;
/// For the driver's own metrics, in the version that [`DriverRouter::registry`] takes.
pub use prometheus;
pub use serve::{BoundServer, Ending, Server};
pub use settings::Settings;

use crate::Driver;

/// The eleven webhooks of `driver`, each at `POST /<name>`, with the default
/// [`Settings`]. Mount it under a prefix with [`axum::Router::nest`].
pub fn router<D: Driver>(driver: D) -> axum::Router {
    DriverRouter::new(driver).build()
}
