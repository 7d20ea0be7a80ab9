//! The settings of the router around a driver, and what is made of them.

use super::hooks::{Hooks, RunningHooks};
use super::limits::Places;
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

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) answer_within: Duration,
    keep_results: Duration,
    pub(super) body_limit: usize,
    max_running_hooks: usize,
    max_waiting_hooks: usize,
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
                max_running_hooks: 256,
                max_waiting_hooks: 10_000,
            },
            hooks: RunningHooks::default(),
            metrics: Arc::new(Metrics::new()),
        }
    }

    /// After how long a call is answered at the latest (default 8 s): an operation then with
    /// `Running`, a decision with "no". Stay below the timeout that the controller is configured
    /// with. With zero every operation is first answered with `Running`, and no decision is made.
    #[must_use]
    pub const fn answer_within(mut self, limit: Duration) -> Self {
        self.settings.answer_within = limit;
        self
    }

    /// How long the result of an operation waits for the next call to collect it (default 10
    /// minutes). Stay above the controller's longest interval between two tries: a result that
    /// nobody collects in time is lost, and the work done anew. With zero none is kept, so an
    /// operation that takes longer than [`answer_within`](Self::answer_within) succeeds only by
    /// finding its work done when it is called again.
    #[must_use]
    pub const fn keep_results(mut self, time: Duration) -> Self {
        self.settings.keep_results = time;
        self
    }

    /// How many bytes a request's body may have (default 4 MiB). With zero only `healthz` can be
    /// called.
    #[must_use]
    pub const fn body_limit(mut self, bytes: usize) -> Self {
        self.settings.body_limit = bytes;
        self
    }

    /// How many hooks may run at a time (default 256; 0 counts as 1). Operations beyond it wait,
    /// and are answered with `Running` while they do; decisions wait until their deadline and are
    /// then a "no". `healthz` never waits.
    ///
    /// Nobody holds a place while it waits for another operation, so hooks cannot block each
    /// other, however few places there are.
    #[must_use]
    pub const fn max_running_hooks(mut self, hooks: usize) -> Self {
        self.settings.max_running_hooks = hooks;
        self
    }

    /// How many hooks may wait, for their turn or for a place to run (default 10 000). Beyond
    /// that a call is answered at once and its hook not begun: an operation with `Running` and a
    /// delay, a decision with "no". The same happens when the requests that wait have more than
    /// 256 MiB. With zero what cannot run at once is not begun.
    #[must_use]
    pub const fn max_waiting_hooks(mut self, hooks: usize) -> Self {
        self.settings.max_waiting_hooks = hooks;
        self
    }

    /// The driver, for tests to look into.
    #[cfg(feature = "testing")]
    pub(crate) fn driver(&self) -> Arc<D> {
        Arc::clone(&self.driver)
    }

    /// Watches the hooks that run, for shutting down when none is left.
    #[must_use]
    pub fn running_hooks(&self) -> RunningHooks {
        self.hooks.clone()
    }

    /// Where the router's metrics are registered. A driver registers its own here too, under
    /// names that do not begin with `lbcf_driver_`, and [`metrics_router`](Self::metrics_router)
    /// shows them.
    ///
    /// ```
    /// # use lbcf_driver_sdk::{RawDriver, server::{DriverRouter, prometheus}};
    /// # fn example(driver: impl RawDriver) -> prometheus::Result<axum::Router> {
    /// let driver = DriverRouter::new(driver);
    /// let quota = prometheus::IntGauge::new("my_cloud_quota", "Load balancers still to be had.")?;
    /// driver.registry().register(Box::new(quota.clone()))?;
    /// # Ok(driver.metrics_router())
    /// # }
    /// ```
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.metrics.registry().clone()
    }

    /// `GET /metrics` in Prometheus' text format, for merging into the application's router. The
    /// [module](super) lists what there is.
    pub fn metrics_router(&self) -> axum::Router {
        metrics::router(self.registry())
    }

    /// `GET /openapi.json`, and with the feature `swagger-ui` a page for people at `/docs`, for
    /// merging into the application's router. `path_prefix` is where the webhooks are nested,
    /// such as `/lbcf`; empty where they are not.
    #[cfg(feature = "openapi")]
    pub fn documents_router(&self, path_prefix: &str) -> axum::Router {
        super::documents::router(super::documents::of_driver(
            self.driver.as_ref(),
            path_prefix,
        ))
    }

    /// The router: the ten webhooks, each at `POST /<name>`.
    pub fn build(self) -> axum::Router {
        let places = Places::new(
            self.settings.max_running_hooks,
            self.settings.max_waiting_hooks,
        );
        let keep_results = self.settings.keep_results;
        routes::all(Arc::new(Context {
            driver: self.driver,
            hooks: Hooks::new(self.hooks, &self.metrics, keep_results, places),
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

/// What every call needs.
pub(super) struct Context<D> {
    pub(super) driver: Arc<D>,
    pub(super) hooks: Hooks,
    pub(super) metrics: Arc<Metrics>,
    pub(super) settings: Settings,
}
