//! A driver in its router, called without a socket.

use super::{DriverReply, HttpReply, WebhookCall};
use crate::Driver;
use crate::server::{DriverRouter, RunningHooks};
use crate::webhook::{self, OperationResponse, Webhook, for_each_webhook};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tower::ServiceExt;

/// The limit of calls until an operation is done.
const MOST_POLLS: usize = 100;

/// A controller's retry interval where the driver sets no delay.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// The timeout of [`TestDriver::idle`], on the test's clock.
const IDLE_WITHIN: Duration = Duration::from_secs(3600);

/// A driver in the production router. Clones call the same driver.
pub struct TestDriver<D> {
    driver: Arc<D>,
    router: Router,
    hooks: RunningHooks,
    calls: Arc<AtomicU64>,
    poll_every: Option<Duration>,
}

impl<D: Driver> TestDriver<D> {
    /// Wraps the driver in a router with the default settings.
    #[must_use]
    pub fn new(driver: D) -> Self {
        Self::with(DriverRouter::new(driver))
    }

    /// Wraps a router with other settings.
    ///
    /// ```
    /// use lbcf_driver_sdk::server::{DriverRouter, Settings};
    /// use lbcf_driver_sdk::testing::TestDriver;
    /// # use std::time::Duration;
    /// # fn example(my_driver: impl lbcf_driver_sdk::Driver) {
    /// let settings = Settings { answer_within: Duration::from_secs(2), ..Settings::default() };
    /// let driver = TestDriver::with(DriverRouter::with(my_driver, settings));
    /// # }
    /// ```
    #[must_use]
    pub fn with(router: DriverRouter<D>) -> Self {
        Self {
            driver: router.driver(),
            hooks: router.running_hooks(),
            router: router.build(),
            calls: Arc::default(),
            poll_every: None,
        }
    }

    /// Polls running operations at this interval instead of the driver's delay. For tests that cannot
    /// pause the clock, such as those with sockets.
    #[must_use]
    pub const fn poll_every(mut self, interval: Duration) -> Self {
        self.poll_every = Some(interval);
        self
    }

    /// The wrapped driver, to inspect its state.
    #[must_use]
    pub fn inner(&self) -> &D {
        &self.driver
    }

    /// Calls a webhook.
    ///
    /// ```
    /// # use lbcf_driver_sdk::testing::{TestDriver, deregister_backend};
    /// # async fn example(driver: TestDriver<impl lbcf_driver_sdk::Driver>) {
    /// let call = deregister_backend().info("id", "lb-1").addr("10.0.0.7:80");
    /// driver.call(&call).await.assert_succ();
    /// driver.call(&call).await.assert_succ(); // idempotent
    /// # }
    /// ```
    pub async fn call<W: Webhook>(&self, call: impl Borrow<WebhookCall<W>>) -> DriverReply<W> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let body = call.borrow().body(format!("retry-{number}"));
        let http = self.post(W::INFO.name, body.to_string()).await;
        DriverReply::new(body, http)
    }

    /// Sends a POST request with any body to any path.
    ///
    /// ```
    /// # use lbcf_driver_sdk::testing::TestDriver;
    /// # async fn example(driver: TestDriver<impl lbcf_driver_sdk::Driver>) {
    /// let reply = driver.post("ensureBackend", r#"{"recordID": 1}"#).await;
    /// reply.assert_http(400, "recordID");
    /// # }
    /// ```
    pub async fn post(&self, name: &str, body: impl Into<Body>) -> HttpReply {
        let path = format!("/{}", name.trim_start_matches('/'));
        let request = match Request::post(&path).body(body.into()) {
            Ok(request) => request,
            Err(error) => panic!("{path:?} is not a valid path: {error}"),
        };
        let Ok(response) = self.router.clone().oneshot(request).await;
        let status = response.status().as_u16();
        match to_bytes(response.into_body(), usize::MAX).await {
            Ok(body) => HttpReply {
                status,
                body: String::from_utf8_lossy(&body).into_owned(),
            },
            Err(error) => panic!("{path}: the response is incomplete: {error}"),
        }
    }

    /// Calls an operation until it is done, as a controller does, after the driver's delay or 10 s.
    /// Returns the last reply, which is `Running` after 100 calls.
    ///
    /// Waiting takes no time on a paused clock (`start_paused = true`); see also
    /// [`poll_every`](Self::poll_every).
    pub async fn until_done<W>(&self, call: impl Borrow<WebhookCall<W>>) -> DriverReply<W>
    where
        W: Webhook<Response: OperationResponse>,
    {
        let call = call.borrow().clone();
        for _ in 1..MOST_POLLS {
            let reply = self.call(&call).await;
            if !reply.is_running() {
                return reply;
            }
            let named = reply
                .response()
                .and_then(OperationResponse::min_retry_delay);
            let delay = self.poll_every.or(named).unwrap_or(POLL_INTERVAL);
            tokio::time::sleep(delay).await;
        }
        self.call(&call).await
    }

    /// The number of hooks that run or wait.
    #[must_use]
    pub fn running(&self) -> usize {
        self.hooks.count()
    }

    /// Waits until no hook runs or waits.
    ///
    /// # Panics
    /// After one hour on the test's clock.
    pub async fn idle(&self) {
        if tokio::time::timeout(IDLE_WITHIN, self.hooks.idle())
            .await
            .is_err()
        {
            panic!("{} hooks still run after {IDLE_WITHIN:?}", self.running());
        }
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        /// [`call`](Self::call) under the names of the webhooks.
        impl<D: Driver> TestDriver<D> {
            $(
                $(#[$doc])*
                pub async fn $method(&self, call: impl Borrow<WebhookCall<webhook::$hook>>) -> DriverReply<webhook::$hook> {
                    self.call(call).await
                }
            )*
        }
    };
}

for_each_webhook!(methods);

impl<D> Clone for TestDriver<D> {
    fn clone(&self) -> Self {
        Self {
            driver: Arc::clone(&self.driver),
            router: self.router.clone(),
            hooks: self.hooks.clone(),
            calls: Arc::clone(&self.calls),
            poll_every: self.poll_every,
        }
    }
}

impl<D> fmt::Debug for TestDriver<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestDriver")
            .field("hooks", &self.hooks)
            .field("poll_every", &self.poll_every)
            .finish_non_exhaustive()
    }
}
