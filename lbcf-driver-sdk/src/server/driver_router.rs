//! The router around a driver, and its settings.

use super::context::{Context, Settings};
use super::hooks::{Hooks, RunningHooks};
use super::limits::HookPermits;
use super::metrics::{self, Metrics};
use super::routes;
use crate::RawDriver;
use prometheus::Registry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Settings of the router around a driver.
///
/// ```
/// # use lbcf_driver_sdk::webhook::{
/// #     DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
/// # };
/// # use lbcf_driver_sdk::{RawDriver, HookError};
/// # struct MyCloud;
/// # impl RawDriver for MyCloud {
/// #     async fn generate_backend_addr(&self, _: GenerateBackendAddrRequest) -> Result<String, HookError> {
/// #         Ok("nowhere".into())
/// #     }
/// #     async fn ensure_backend(&self, _: EnsureBackendRequest) -> Result<StringMap, HookError> {
/// #         Ok(StringMap::new())
/// #     }
/// #     async fn deregister_backend(&self, _: DeregisterBackendRequest) -> Result<(), HookError> {
/// #         Ok(())
/// #     }
/// # }
/// use lbcf_driver_sdk::server::DriverRouter;
/// use std::time::Duration;
///
/// let driver = DriverRouter::new(MyCloud)
///     .answer_within(Duration::from_secs(4))
///     .max_running_hooks(32);
/// let app = axum::Router::new()
///     .merge(driver.metrics_router())
///     .nest("/my-cloud", driver.build());
/// # let _ = app;
/// ```
pub struct DriverRouter<D> {
    driver: Arc<D>,
    settings: Settings,
    hooks: RunningHooks,
    metrics: Arc<Metrics>,
}

impl<D: RawDriver> DriverRouter<D> {
    /// A router with the default settings, which each setter names.
    pub fn new(driver: D) -> Self {
        Self {
            driver: Arc::new(driver),
            settings: Settings {
                // The controller hangs up after 10 s by default.
                answer_within: Duration::from_secs(8),
                keep_results: Duration::from_secs(600),
                // etcd limits a pod to 1.5 MiB, and judgePodDeregister sends several.
                body_limit: 4 << 20,
                max_running_hooks: 256,
                max_waiting_hooks: 10_000,
            },
            hooks: RunningHooks::default(),
            metrics: Arc::new(Metrics::new()),
        }
    }

    /// The deadline for the response to a call (default 8 s): an unfinished operation is then
    /// answered with `Running`, an unfinished decision with "no". Set it below the controller's
    /// timeout. With zero every operation is first answered with `Running`, and every decision is
    /// "no".
    #[must_use]
    pub const fn answer_within(mut self, limit: Duration) -> Self {
        self.settings.answer_within = limit;
        self
    }

    /// The time that the result of an operation waits for the next call to collect it (default 10
    /// minutes). Set it above the controller's longest retry interval: after this time the next call
    /// runs the hook again. With zero no result is kept, so an operation that takes longer than
    /// [`answer_within`](Self::answer_within) only succeeds if it finds its work done when it is
    /// called again.
    #[must_use]
    pub const fn keep_results(mut self, time: Duration) -> Self {
        self.settings.keep_results = time;
        self
    }

    /// The limit of a request's body in bytes (default 4 MiB). With zero only `healthz` can be
    /// called.
    #[must_use]
    pub const fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// The limit of hooks that run at a time (default 256; 0 counts as 1). Further operations wait,
    /// and are answered with `Running` meanwhile; further decisions wait until their deadline and
    /// are then "no". `healthz` never waits.
    ///
    /// An operation that waits for another one does not count, so hooks cannot block each other,
    /// however low the limit.
    #[must_use]
    pub const fn max_running_hooks(mut self, hooks: usize) -> Self {
        self.settings.max_running_hooks = hooks;
        self
    }

    /// The limit of hooks that wait, for earlier operations or for a permit to run (default
    /// 10,000). Beyond it a call is answered at once and its hook does not start: an operation with
    /// `Running` and a delay, a decision with "no". The same applies while the requests of waiting
    /// hooks take more than 256 MiB. With zero only hooks that can run at once are started.
    #[must_use]
    pub const fn max_waiting_hooks(mut self, hooks: usize) -> Self {
        self.settings.max_waiting_hooks = hooks;
        self
    }

    #[cfg(feature = "testing")]
    pub(crate) fn driver(&self) -> Arc<D> {
        Arc::clone(&self.driver)
    }

    /// A counter of the hooks that run, to wait for them in a shutdown.
    #[must_use]
    pub fn running_hooks(&self) -> RunningHooks {
        self.hooks.clone()
    }

    /// The registry of the router's metrics, which [`metrics_router`](Self::metrics_router)
    /// serves. A driver may register metrics of its own, under names that do not begin with
    /// `lbcf_driver_`.
    ///
    /// ```
    /// # use lbcf_driver_sdk::{RawDriver, server::{DriverRouter, prometheus}};
    /// # fn example(driver: impl RawDriver) -> prometheus::Result<axum::Router> {
    /// let driver = DriverRouter::new(driver);
    /// let quota = prometheus::IntGauge::new("my_cloud_quota", "Load balancers that can still be created.")?;
    /// driver.registry().register(Box::new(quota.clone()))?;
    /// # Ok(driver.metrics_router())
    /// # }
    /// ```
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.metrics.registry().clone()
    }

    /// `GET /metrics` in Prometheus' text format, to merge into the application's router. The
    /// [module](super) lists the metrics.
    pub fn metrics_router(&self) -> axum::Router {
        metrics::router(self.registry())
    }

    /// `GET /openapi.json`, and with the feature `swagger-ui` a page at `/docs`, to merge into the
    /// application's router. `path_prefix` is where the webhooks are nested, such as `/lbcf`, or
    /// empty.
    #[cfg(feature = "openapi")]
    pub fn documents_router(&self, path_prefix: &str) -> axum::Router {
        self.documents_router_with(path_prefix, &[])
    }

    /// [`documents_router`](Self::documents_router), whose page shows further OpenAPI documents of the
    /// application, too. Each is a title and its URL on the same host, such as
    /// `("Administration", "/admin/openapi.json")`.
    #[cfg(feature = "openapi")]
    pub fn documents_router_with(
        &self,
        path_prefix: &str,
        others: &[(&'static str, &'static str)],
    ) -> axum::Router {
        let document = super::documents::of_driver(self.driver.as_ref(), path_prefix);
        super::documents::router(document, others)
    }

    /// The router: the eleven webhooks, each at `POST /<name>`.
    pub fn build(self) -> axum::Router {
        let permits = HookPermits::new(
            self.settings.max_running_hooks,
            self.settings.max_waiting_hooks,
        );
        let keep_results = self.settings.keep_results;
        routes::all(Arc::new(Context {
            driver: self.driver,
            hooks: Hooks::new(self.hooks, &self.metrics, keep_results, permits),
            metrics: self.metrics,
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
