//! Calls to drivers: one connection pool, a timeout for each webhook, metrics, and a count of calls.
//!
//! The number of calls to a driver that are in flight is not limited here but by
//! [`ConcurrencyKey`](crate::runtime::queue::ConcurrencyKey).

mod health;
pub(crate) mod one_call;

pub(crate) use health::{DriverAbilities, DriverHealth, HealthResults};
pub(crate) use one_call::AddressLocks;

use crate::api::names::SYSTEM_NAMESPACE;
use crate::api::reasons::{self, ReportReason};
use crate::api::{LoadBalancerDriver, ObjectKey, allowed};
use crate::process::driver_addresses::DriverAddresses;
use crate::process::leader::{LeaseGuard, NotLeading};
use crate::process::lock::Mutex;
use crate::process::metrics::{Metrics, Outcome, Target};
use crate::process::options::Options;
use lbcf_driver_client::{CallError, DriverClient, HttpClient, InvalidUrl, Timeouts};
use lbcf_driver_sdk::webhook::Webhook;
use lbcf_serving::duration;
use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{Instrument, Span, field};

/// Counts of the calls of each webhook. Clones share them, so that they can outlive a controller.
#[derive(Debug, Clone, Default)]
pub struct CallCounts(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl CallCounts {
    fn count(&self, webhook: &'static str) {
        *self.0.lock().entry(webhook).or_default() += 1;
    }

    /// The present counts by webhook.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().clone()
    }
}

/// The longest timeout of `healthz`, as a driver that responds later cannot be relied on either.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub(crate) enum DriverError {
    #[error("driver {driver}: spec.url: {source}")]
    Url {
        driver: ObjectKey,
        #[source]
        source: InvalidUrl,
    },
    #[error("driver {driver}: webhook {webhook}: {source}")]
    Call {
        driver: ObjectKey,
        webhook: &'static str,
        #[source]
        source: CallError,
    },
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
}

impl DriverError {
    /// A condition's reason: the response is invalid, or there is none.
    pub(crate) const fn reason(&self) -> &'static ReportReason {
        match self {
            Self::Call {
                source: CallError::Malformed(_) | CallError::TooLarge { .. },
                ..
            } => reasons::INVALID_RESPONSE,
            Self::Call {
                source: CallError::Status { status, .. },
                ..
            } if is_not_served(*status) => reasons::WEBHOOK_NOT_SERVED,
            Self::Url { .. } | Self::Call { .. } | Self::NotLeading(_) => reasons::WEBHOOK_ERROR,
        }
    }

    /// True if no driver got the call, so that it had no effect.
    pub(crate) fn is_unreceived(&self) -> bool {
        match self {
            Self::Url { .. } => true,
            Self::Call { source, .. } => match source {
                CallError::NotSent(_) => true,
                CallError::Status { status, .. } => is_not_served(*status),
                source => source.is_connect(),
            },
            Self::NotLeading(_) => false,
        }
    }
}

/// True if no hook of a driver has this HTTP status: its server does not know the webhook.
const fn is_not_served(status: u16) -> bool {
    matches!(status, 404 | 405 | 501)
}

#[derive(Debug)]
pub(crate) struct Drivers {
    /// For URLs of the options.
    http: HttpClient,
    /// These connect to the allowed addresses only, each with connections of its own.
    http_of_system: HttpClient,
    http_of_tenants: HttpClient,
    connect_to: BTreeMap<String, String>,
    /// The drivers that were called and still exist.
    called: Mutex<HashSet<ObjectKey>>,
    counts: CallCounts,
    metrics: Metrics,
    guard: LeaseGuard,
}

impl Drivers {
    pub(crate) fn new(
        options: &Options,
        counts: CallCounts,
        metrics: Metrics,
        guard: LeaseGuard,
    ) -> Self {
        let http = options.driver_client.clone().unwrap_or_default();
        let of_tenants = options.driver_client_of_tenants.as_ref().unwrap_or(&http);
        Self {
            http_of_system: http.with_address_check(check_by(
                "--driver-addresses",
                &options.driver_addresses,
                &options.api_server,
            )),
            http_of_tenants: of_tenants.with_address_check(check_by(
                "--driver-addresses-of-tenants",
                &options.driver_addresses_of_tenants,
                &options.api_server,
            )),
            http,
            connect_to: options.connect_to.clone(),
            called: Mutex::default(),
            counts,
            metrics,
            guard,
        }
    }

    /// Calls a webhook of a driver once, as the leader; in a [`call_span`].
    pub(crate) async fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W,
    ) -> Result<W::Response, DriverError> {
        let client = self.client_of_leader(driver)?;
        let call = self.call_by::<W>(client, driver, request);
        self.guard.run(call).await?
    }

    /// Calls a webhook that only validates, which every replica does.
    pub(crate) async fn call_as_any_replica<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W,
    ) -> Result<W::Response, DriverError> {
        let client = self.client_of(driver)?;
        let call = self.call_by::<W>(client, driver, request);
        call.instrument(call_span::<W>(driver)).await
    }

    async fn call_by<W: Webhook>(
        &self,
        client: DriverClient,
        driver: &LoadBalancerDriver,
        request: &W,
    ) -> Result<W::Response, DriverError> {
        let (key, webhook) = (ObjectKey::of(driver), W::INFO.name);
        self.called.lock().insert(key.clone());
        self.counts.count(webhook);
        let began = Instant::now();
        let timeout = timeout_of(driver, webhook);
        let response = send::<W>(client, &key, request, timeout).await;
        let outcome = match &response {
            Err(_) => Outcome::Error,
            Ok(response) if W::is_fail(response) => Outcome::Fail,
            Ok(_) => Outcome::Ok,
        };
        self.measure(&key, webhook, began.elapsed(), outcome);
        response
    }

    fn measure(
        &self,
        driver: &ObjectKey,
        webhook: &'static str,
        latency: Duration,
        outcome: Outcome,
    ) {
        let called = self.called.lock();
        // A driver that was deleted during the call must not leave a series behind.
        if called.contains(driver) {
            self.metrics
                .webhook_called(driver, webhook, latency, outcome);
        }
    }

    /// Measures the time until a backend of a driver was registered or deregistered, by its webhook.
    pub(crate) fn reached(&self, driver: &ObjectKey, target: Target, took: Duration) {
        let called = self.called.lock();
        if called.contains(driver) {
            self.metrics.reached(driver, target, took);
        }
    }

    /// Ends the metrics of drivers that no longer exist.
    pub(crate) fn retain(&self, exists: impl Fn(&ObjectKey) -> bool) {
        self.called.lock().retain(|driver| {
            let exists = exists(driver);
            if !exists {
                self.metrics.forget_driver(driver);
            }
            exists
        });
    }

    /// A client that sends only while this process leads.
    fn client_of_leader(&self, driver: &LoadBalancerDriver) -> Result<DriverClient, DriverError> {
        let guard = self.guard.clone();
        let client = self.client_of(driver)?;
        Ok(client.send_while(move || guard.permits()))
    }

    /// A client of the driver's URL, or of the one that replaces it in the options.
    fn client_of(&self, driver: &LoadBalancerDriver) -> Result<DriverClient, DriverError> {
        let (key, url) = (ObjectKey::of(driver), &driver.spec.url);
        let replacement = self
            .connect_to
            .iter()
            .find(|(host, _)| host_of(url) == Some(host));
        let (http, url) = match replacement {
            Some((_, replacement)) => (&self.http, replacement),
            None if *key.namespace == *SYSTEM_NAMESPACE => (&self.http_of_system, url),
            None => (&self.http_of_tenants, url),
        };
        let client = DriverClient::with_http(http.clone(), url);
        client.map_err(|source| DriverError::Url {
            driver: key,
            source,
        })
    }
}

/// A check of addresses by the list of a flag.
fn check_by(
    flag: &'static str,
    allowed: &DriverAddresses,
    api_server: &[IpAddr],
) -> impl Fn(&str, IpAddr) -> Result<(), String> + use<> {
    let (allowed, api_server) = (allowed.clone(), api_server.to_owned());
    move |scheme, address| match allowed.allow(scheme, address, &api_server) {
        true => Ok(()),
        false => Err(format!(
            "the driver's address {address} is not allowed with {scheme} ({flag} of the controller)"
        )),
    }
}

async fn send<W: Webhook>(
    client: DriverClient,
    driver: &ObjectKey,
    request: &W,
    timeout: Duration,
) -> Result<W::Response, DriverError> {
    let response = client.call_within::<W>(request, timeout).await;
    response.map_err(|source| DriverError::Call {
        driver: driver.clone(),
        webhook: W::INFO.name,
        source,
    })
}

/// The span of a call and of what its response means, in which the client records the trace that it begins.
pub(crate) fn call_span<W: Webhook>(driver: &LoadBalancerDriver) -> Span {
    let (webhook, driver) = (W::INFO.name, ObjectKey::of(driver));
    tracing::info_span!("call", webhook, %driver, traceID = field::Empty)
}

fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    match host_and_port.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(host),
        _ => Some(host_and_port),
    }
}

/// An invalid duration, which admission rejects, counts as absent.
fn timeout_of(driver: &LoadBalancerDriver, webhook: &str) -> Duration {
    driver
        .spec
        .webhooks
        .iter()
        .find(|config| config.name == webhook)
        .and_then(|config| duration::parse(config.timeout.as_deref()?).ok())
        .filter(|timeout| !timeout.is_zero())
        .map_or(Timeouts::DEFAULT, |timeout| {
            timeout.min(allowed::MAX_TIMEOUT)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{LoadBalancerDriverSpec, WebhookConfig};
    use crate::process::metrics::Snapshot;
    use lbcf_driver_client::HttpClientSettings;
    use lbcf_driver_sdk::webhook::Healthz;
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
        assert_eq!(timeout_of(&driver, "deregisterBackend"), Timeouts::DEFAULT);
        assert_eq!(timeout_of(&driver, "validateBackend"), Timeouts::DEFAULT);
    }

    /// The request that a driver in this namespace gets.
    async fn request_to_driver_in(namespace: &str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n{}") {
                request.push(stream.read_u8().await.unwrap());
            }
            let response = b"HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n{\"healthy\":true}";
            stream.write_all(response).await.unwrap();
            String::from_utf8(request).unwrap()
        });
        let settings = HttpClientSettings {
            token: Some("tok-123".into()),
            ..Default::default()
        };
        let options = Options {
            driver_client: Some(HttpClient::with(settings).unwrap()),
            driver_client_of_tenants: Some(HttpClient::new()),
            driver_addresses_of_tenants: DriverAddresses::everything(),
            ..Options::default()
        };
        let drivers = Drivers::new(
            &options,
            CallCounts::default(),
            Metrics::new(),
            LeaseGuard::none(),
        );
        let mut driver = LoadBalancerDriver::new("d", LoadBalancerDriverSpec::default());
        driver.metadata.namespace = Some(namespace.to_owned());
        driver.spec.url = url;
        let response = drivers.call::<Healthz>(&driver, &Healthz {}).await;
        assert!(response.unwrap().healthy);
        server.await.unwrap()
    }

    #[tokio::test]
    async fn d113_credentials_are_sent_to_drivers_of_the_operator_only() {
        let authorization = "authorization: Bearer tok-123\r\n";
        let request = request_to_driver_in("kube-system").await;
        assert!(request.contains(authorization), "{request}");
        let request = request_to_driver_in("web").await;
        assert!(!request.contains("authorization"), "{request}");
    }

    #[test]
    fn a_call_that_outlives_its_driver_leaves_no_series() {
        let metrics = Metrics::new();
        let counts = CallCounts::default();
        let (options, guard) = (Options::default(), LeaseGuard::none());
        let drivers = Drivers::new(&options, counts, metrics.clone(), guard);
        let driver = |name: &str| ObjectKey::new("ns", name);
        let end_calls = || {
            for name in ["kept", "deleted"] {
                drivers.measure(&driver(name), "healthz", Duration::ZERO, Outcome::Ok);
                drivers.reached(&driver(name), Target::Registered, Duration::ZERO);
            }
            let nothing = Snapshot {
                queue: Vec::new(),
                unregistered: 0,
                leads: true,
            };
            let text = metrics.render(&nothing).unwrap();
            ["kept", "deleted"].map(|name| text.contains(&format!("\"ns/{name}\"")))
        };
        drivers.called.lock().insert(driver("kept"));
        drivers.called.lock().insert(driver("deleted"));
        assert_eq!(end_calls(), [true, true]);
        drivers.retain(|known| *known == driver("kept"));
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
