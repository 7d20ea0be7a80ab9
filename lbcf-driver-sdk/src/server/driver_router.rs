//! The router around a driver, and its settings.

use super::Settings;
use super::context::Context;
use super::hooks::{Hooks, RunningHooks};
use super::limits::HookPermits;
use super::metrics::{self, Metrics};
use super::rate::HookRate;
use super::{body, routes};
use crate::Driver;
use prometheus::Registry;
use std::fmt;
use std::sync::Arc;

/// The router around a driver: of its [`Settings`], those that limit hooks and bodies apply.
///
/// ```
/// # fn example(my_driver: impl lbcf_driver_sdk::Driver) {
/// use lbcf_driver_sdk::server::{DriverRouter, Settings};
///
/// let settings = Settings { max_running_hooks: 32, ..Settings::default() };
/// let driver = DriverRouter::with(my_driver, settings);
/// let app = axum::Router::new()
///     .merge(driver.metrics_router())
///     .nest("/my-cloud", driver.build());
/// # let _ = app;
/// # }
/// ```
pub struct DriverRouter<D> {
    driver: Arc<D>,
    pub(super) settings: Settings,
    hooks: RunningHooks,
    metrics: Arc<Metrics>,
}

impl<D: Driver> DriverRouter<D> {
    /// A router with the default settings.
    pub fn new(driver: D) -> Self {
        Self::with(driver, Settings::default())
    }

    /// A router with these settings.
    pub fn with(driver: D, settings: Settings) -> Self {
        Self {
            driver: Arc::new(driver),
            settings,
            hooks: RunningHooks::default(),
            metrics: Arc::new(Metrics::new()),
        }
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
    /// # use lbcf_driver_sdk::{Driver, server::{DriverRouter, prometheus}};
    /// # fn example(driver: impl Driver) -> prometheus::Result<axum::Router> {
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
        let (keep_results, rate) = (self.settings.keep_results, HookRate::new(&self.settings));
        routes::all(Arc::new(Context {
            driver: self.driver,
            hooks: Hooks::new(self.hooks, &self.metrics, keep_results, permits, rate),
            metrics: self.metrics,
            bodies: body::budget(self.settings.body_limit),
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
