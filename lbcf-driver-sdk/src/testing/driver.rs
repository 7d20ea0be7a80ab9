//! A driver behind its router, called without a socket.

use super::{DriverReply, HttpReply, WebhookCall};
use crate::RawDriver;
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

/// After so many calls an operation that is still running is taken for one that never ends.
const MOST_POLLS: usize = 100;

/// When a controller asks again where the driver names no delay.
const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// Hooks that run longer than this, on the test's clock, are taken for ones that never end.
const IDLE_WITHIN: Duration = Duration::from_secs(3600);

/// A driver behind the router of production. Clones call the same driver.
pub struct TestDriver<D> {
    driver: Arc<D>,
    router: Router,
    hooks: RunningHooks,
    calls: Arc<AtomicU64>,
    poll_every: Option<Duration>,
}

impl<D: RawDriver> TestDriver<D> {
    /// The driver, in a router with the default settings.
    #[must_use]
    pub fn new(driver: D) -> Self {
        Self::with(DriverRouter::new(driver))
    }

    /// The driver, in a router with settings of one's own.
    ///
    /// ```
    /// use lbcf_driver_sdk::server::DriverRouter;
    /// use lbcf_driver_sdk::testing::TestDriver;
    /// # use std::time::Duration;
    /// # fn example(my_driver: impl lbcf_driver_sdk::RawDriver) {
    /// let router = DriverRouter::new(my_driver).answer_within(Duration::from_secs(2));
    /// let driver = TestDriver::with(router);
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

    /// Asks for running operations at this interval, whatever the driver says. For tests that
    /// cannot have a paused clock, such as ones with sockets.
    #[must_use]
    pub const fn poll_every(mut self, interval: Duration) -> Self {
        self.poll_every = Some(interval);
        self
    }

    /// The driver itself, to look at what it has done.
    #[must_use]
    pub fn inner(&self) -> &D {
        &self.driver
    }

    /// Makes a call.
    ///
    /// ```
    /// # use lbcf_driver_sdk::testing::{TestDriver, deregister_backend};
    /// # async fn example(driver: TestDriver<impl lbcf_driver_sdk::RawDriver>) {
    /// let gone = deregister_backend().info("id", "lb-1").addr("10.0.0.7:80");
    /// driver.call(&gone).await.assert_succ();
    /// driver.call(&gone).await.assert_succ(); // it stays gone
    /// # }
    /// ```
    pub async fn call<W: Webhook>(&self, call: impl Borrow<WebhookCall<W>>) -> DriverReply<W> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let body = call.borrow().body(format!("retry-{number}"));
        let http = self.post(W::INFO.name, body.to_string()).await;
        DriverReply::new(body, http)
    }

    /// Posts any bytes to any path, such as the name of a webhook.
    ///
    /// ```
    /// # use lbcf_driver_sdk::testing::TestDriver;
    /// # async fn example(driver: TestDriver<impl lbcf_driver_sdk::RawDriver>) {
    /// let answer = driver.post("ensureBackend", r#"{"recordID": 1}"#).await;
    /// answer.assert_http(400, "recordID");
    /// # }
    /// ```
    pub async fn post(&self, name: &str, body: impl Into<Body>) -> HttpReply {
        let path = format!("/{}", name.trim_start_matches('/'));
        let request = match Request::post(&path).body(body.into()) {
            Ok(request) => request,
            Err(error) => panic!("{path:?} is no path of a call: {error}"),
        };
        // A router has no errors of its own.
        let Ok(response) = self.router.clone().oneshot(request).await;
        let status = response.status().as_u16();
        match to_bytes(response.into_body(), usize::MAX).await {
            Ok(body) => HttpReply {
                status,
                body: String::from_utf8_lossy(&body).into_owned(),
            },
            Err(error) => panic!("{path}: the answer breaks off: {error}"),
        }
    }

    /// Makes a call until it is done, as a controller does: what is `Running` is asked for again
    /// after the delay that the driver names, or 10 s. Gives the last answer, which is `Running`
    /// after 100 calls.
    ///
    /// On a paused clock (`start_paused = true`) no time is lost;
    /// [`poll_every`](Self::poll_every) helps where that cannot be.
    pub async fn until_done<W>(&self, call: impl Borrow<WebhookCall<W>>) -> DriverReply<W>
    where
        W: Webhook<Response: OperationResponse>,
    {
        let call = call.borrow().clone();
        for _ in 1..MOST_POLLS {
            let answer = self.call(&call).await;
            if !answer.is_running() {
                return answer;
            }
            let named = answer
                .response()
                .and_then(OperationResponse::min_retry_delay);
            let delay = self.poll_every.or(named).unwrap_or(POLL_INTERVAL);
            tokio::time::sleep(delay).await;
        }
        self.call(&call).await
    }

    /// How many hooks run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.hooks.count()
    }

    /// Waits until no hook runs.
    ///
    /// # Panics
    /// If one still runs after an hour.
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
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        /// The webhooks by name: the same as [`call`](Self::call).
        impl<D: RawDriver> TestDriver<D> {
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
