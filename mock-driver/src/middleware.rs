//! The seam for crates that put something around the driver, such as defects.

use crate::cloud::Cloud;
use axum::Router;
use tokio_util::sync::CancellationToken;

/// A layer between callers and the mock. Every method has a default that changes nothing, and
/// `()` is the middleware that has only defaults.
pub trait Middleware: Send + Sync + 'static {
    /// Wraps the webhooks. Called for each run of the driver's process: what is created here ends
    /// with that run, when [`POST /_mock/restart`](crate#beside-the-webhooks) kills it.
    fn wrap_webhooks(&self, webhooks: Router, _cloud: &Cloud) -> Router {
        webhooks
    }

    /// Wraps the endpoints under `/_mock`, whose paths come without that prefix.
    fn wrap_endpoints(&self, endpoints: Router) -> Router {
        endpoints
    }

    /// A token that is cancelled when a request has crashed the driver. [`MockServer`] then closes
    /// its port.
    ///
    /// [`MockServer`]: crate::MockServer
    #[must_use]
    fn crashed(&self) -> CancellationToken {
        CancellationToken::new()
    }
}

impl Middleware for () {}
