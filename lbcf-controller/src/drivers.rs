//! The room of webhooks: every call to a driver goes through here.
//!
//! One pool of connections for all drivers, a timeout for each webhook, a limit of calls in
//! flight for each driver (u38), one call at a time for each backend address, and metrics and a
//! count of what was called.

mod addresses;
mod calls;

pub(crate) use addresses::AddressLocks;
pub use calls::CallCounts;

use crate::api::{LoadBalancerDriver, reasons};
use crate::go_duration;
use crate::key::ObjectKey;
use crate::metrics::{Metrics, Outcome};
use crate::options::Options;
use lbcf_driver_sdk::client::{CallError, DriverClient, HttpClient, InvalidUrl, Timeouts};
use lbcf_driver_sdk::webhook::Webhook;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::Instrument;

/// How long a webhook may take when the driver's object names no other time (b10).
pub(crate) const DEFAULT_TIMEOUT: Duration = Timeouts::DEFAULT;

/// Why a driver gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DriverError {
    /// The driver's object has an address that cannot be called.
    #[error("driver {driver}: spec.url: {source}")]
    Url {
        /// The driver.
        driver: ObjectKey,
        /// What is wrong with it.
        #[source]
        source: InvalidUrl,
    },
    /// The call failed, or what came back is no answer.
    #[error("driver {driver}: webhook {webhook}: {source}")]
    Call {
        /// The driver.
        driver: ObjectKey,
        /// The webhook.
        webhook: &'static str,
        /// What went wrong.
        #[source]
        source: CallError,
    },
}

impl DriverError {
    /// Why, for a condition (b39): there was an answer that cannot be used, or there was none.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Call {
                source: CallError::Malformed(_) | CallError::TooLarge { .. },
                ..
            } => reasons::INVALID_RESPONSE,
            Self::Url { .. } | Self::Call { .. } => reasons::WEBHOOK_ERROR,
        }
    }
}

/// Calls drivers.
#[derive(Debug)]
pub(crate) struct Drivers {
    http: HttpClient,
    calls_per_driver: usize,
    connect_to: BTreeMap<String, String>,
    limits: Mutex<HashMap<ObjectKey, Arc<Semaphore>>>,
    counts: CallCounts,
    metrics: Metrics,
}

impl Drivers {
    pub(crate) fn new(options: &Options, counts: CallCounts, metrics: Metrics) -> Self {
        Self {
            http: options.driver_client.clone().unwrap_or_default(),
            calls_per_driver: options.calls_per_driver.max(1),
            connect_to: options.connect_to.clone(),
            limits: Mutex::default(),
            counts,
            metrics,
        }
    }

    /// Calls a webhook of a driver, once.
    pub(crate) async fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W::Request,
    ) -> Result<W::Response, DriverError> {
        let key = ObjectKey::of(driver);
        let url = self.url_of(driver);
        let client =
            DriverClient::with_http(self.http.clone(), url).map_err(|source| DriverError::Url {
                driver: key.clone(),
                source,
            })?;
        let limit = self.limit_of(&key);
        // The semaphore is never closed.
        let _permit = limit.acquire().await;
        self.counts.count(W::INFO.name);
        let began = Instant::now();
        let answer = client
            .call_within::<W>(request, timeout_of(driver, W::INFO.name))
            .instrument(tracing::info_span!("call", webhook = W::INFO.name, driver = %key))
            .await;
        self.measure::<W>(&key, began.elapsed(), &answer);
        answer.map_err(|source| DriverError::Call {
            driver: key,
            webhook: W::INFO.name,
            source,
        })
    }

    fn measure<W: Webhook>(
        &self,
        driver: &ObjectKey,
        latency: Duration,
        answer: &Result<W::Response, CallError>,
    ) {
        let outcome = match answer {
            Err(_) => Outcome::Error,
            Ok(response) if W::is_fail(response) => Outcome::Fail,
            Ok(_) => Outcome::Ok,
        };
        let limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        // A driver that went meanwhile shall not leave a series behind.
        if limits.contains_key(driver) {
            let webhook = W::INFO.name;
            self.metrics
                .webhook_called(driver, webhook, latency, outcome);
        }
    }

    /// Forgets the drivers that were called and are not there any more.
    pub(crate) fn forget_unless(&self, is_there: impl Fn(&ObjectKey) -> bool) {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.retain(|driver, _| {
            let stays = is_there(driver);
            if !stays {
                self.metrics.forget_driver(driver);
            }
            stays
        });
    }

    /// The driver's URL, or the one that its host is to be reached at.
    fn url_of<'a>(&'a self, driver: &'a LoadBalancerDriver) -> &'a str {
        let url = &driver.spec.url;
        self.connect_to
            .iter()
            .find(|(host, _)| host_of(url) == Some(host))
            .map_or(url, |(_, elsewhere)| elsewhere)
    }

    fn limit_of(&self, driver: &ObjectKey) -> Arc<Semaphore> {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = limits
            .entry(driver.clone())
            .or_insert_with(|| Arc::new(Semaphore::new(self.calls_per_driver)));
        Arc::clone(limit)
    }
}

/// The host that a URL names.
fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    match host_and_port.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(host_and_port),
    }
}

/// b10, b149. A text that is no duration, which admission refuses, counts as not given.
fn timeout_of(driver: &LoadBalancerDriver, webhook: &str) -> Duration {
    driver
        .spec
        .webhooks
        .iter()
        .find(|config| config.name == webhook)
        .and_then(|config| go_duration::parse(config.timeout.as_deref()?).ok())
        .filter(|timeout| !timeout.is_zero())
        .map_or(DEFAULT_TIMEOUT, |timeout| {
            timeout.min(Duration::from_secs(60))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{LoadBalancerDriverSpec, WebhookConfig};
    use crate::metrics::Snapshot;
    use lbcf_driver_sdk::webhook::{Healthz, HealthzRequest, HealthzResponse};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn b10_timeouts_are_per_webhook_ten_seconds_by_default_and_a_minute_at_most() {
        let config = |name: &str, timeout: &str| WebhookConfig {
            name: name.into(),
            timeout: Some(timeout.into()),
        };
        let driver = LoadBalancerDriver::new(
            "d",
            LoadBalancerDriverSpec {
                webhooks: vec![
                    config("ensureBackend", "15s"),
                    config("createLoadBalancer", "10m"),
                    config("deregisterBackend", "soon"),
                ],
                ..LoadBalancerDriverSpec::default()
            },
        );
        assert_eq!(timeout_of(&driver, "ensureBackend").as_secs(), 15);
        assert_eq!(timeout_of(&driver, "createLoadBalancer").as_secs(), 60);
        assert_eq!(timeout_of(&driver, "deregisterBackend"), DEFAULT_TIMEOUT);
        assert_eq!(timeout_of(&driver, "validateBackend"), DEFAULT_TIMEOUT);
    }

    #[tokio::test]
    async fn drivers_are_called_over_the_client_that_the_options_name() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n{}") {
                request.push(stream.read_u8().await.unwrap());
            }
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{\"healthy\":true}";
            stream.write_all(answer).await.unwrap();
            String::from_utf8(request).unwrap()
        });
        let client = HttpClient::builder().token("tok-123").build().unwrap();
        let options = Options {
            driver_client: Some(client),
            ..Options::default()
        };
        let drivers = Drivers::new(&options, CallCounts::default(), Metrics::new());
        let mut driver = LoadBalancerDriver::new("d", LoadBalancerDriverSpec::default());
        driver.spec.url = url;
        let answer = drivers.call::<Healthz>(&driver, &HealthzRequest {}).await;
        assert!(answer.unwrap().healthy);
        let request = server.await.unwrap();
        assert!(
            request.contains("authorization: Bearer tok-123\r\n"),
            "{request}"
        );
    }

    #[test]
    fn a_call_that_outlives_its_driver_leaves_no_series() {
        let metrics = Metrics::new();
        let counts = CallCounts::default();
        let drivers = Drivers::new(&Options::default(), counts, metrics.clone());
        let driver = |name: &str| ObjectKey::new("ns", name);
        let end_calls = || {
            for name in ["stays", "goes"] {
                let answer = Ok(HealthzResponse { healthy: true });
                drivers.measure::<Healthz>(&driver(name), Duration::ZERO, &answer);
            }
            let nothing = Snapshot {
                queue: Vec::new(),
                unregistered: 0,
                leads: true,
            };
            let text = metrics.render(&nothing).unwrap();
            ["stays", "goes"].map(|name| text.contains(&format!("\"ns/{name}\"")))
        };
        drivers.limit_of(&driver("stays"));
        drivers.limit_of(&driver("goes"));
        assert_eq!(end_calls(), [true, true]);
        drivers.forget_unless(|known| *known == driver("stays"));
        assert_eq!(end_calls(), [true, false]);
    }

    #[test]
    fn the_host_of_a_url_is_found() {
        for (url, host) in [
            (
                "http://driver.kube-system.svc/",
                Some("driver.kube-system.svc"),
            ),
            ("http://driver:8080/prefix?x=y", Some("driver")),
            ("https://user:secret@driver", Some("driver")),
            ("http://[::1]:80/", Some("[::1]")),
            ("driver", None),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }
}
