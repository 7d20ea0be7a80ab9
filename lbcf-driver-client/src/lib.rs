#![doc = include_str!("docs.md")]

mod causes;
mod connector;
mod error;
mod exchange;
mod http_client;
mod proxy;
mod request_body;
mod settings;
mod timeouts;
mod tls_problem;
mod token;
mod url;

pub use error::{CallError, HttpClientError};
pub use exchange::RawResponse;
pub use http_client::HttpClient;
pub use lbcf_serving::secret::Secret;
pub use proxy::Proxies;
pub use settings::HttpClientSettings;
pub use timeouts::Timeouts;
pub use tls_problem::TlsProblem;
pub use url::InvalidUrl;

use ::http::{Request, header};
use bytes::Bytes;
use exchange::{CallDeadline, PendingResponse};
use http_client::Authorization;
use lbcf_driver_sdk::webhook::{SPECIFICATION, SPECIFICATION_HEADER, Webhook};
use lbcf_serving::traces;
use request_body::{Permission, RequestBody};
use std::time::Duration;
use url::DriverUrl;
use uuid::Uuid;

/// The likely cause of a 401.
const WITHHELD: &str =
    "the token was not sent: plain http to another machine, where others could read it";

/// Calls one driver. Clones share its connections.
#[derive(Debug, Clone)]
pub struct DriverClient {
    http: HttpClient,
    url: DriverUrl,
    timeouts: Timeouts,
    permission: Permission,
}

impl DriverClient {
    /// A client with a connection pool of its own.
    ///
    /// ```
    /// use lbcf_driver_client::DriverClient;
    ///
    /// assert!(DriverClient::new("http://driver.example:8080/lbcf").is_ok());
    /// assert!(DriverClient::new("driver.example:8080").is_err());
    /// ```
    ///
    /// # Errors
    /// [`InvalidUrl`], unless it is an absolute `http` or `https` URL.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        Self::with_http(HttpClient::new(), url)
    }

    /// A client that shares a connection pool.
    ///
    /// # Errors
    /// [`InvalidUrl`], unless it is an absolute `http` or `https` URL.
    pub fn with_http(http: HttpClient, url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self {
            http,
            url: url.parse()?,
            timeouts: Timeouts::default(),
            permission: Permission::default(),
        })
    }

    /// Fails calls whose request is not sent before the condition becomes false, for example when the
    /// caller may call only as long as it holds a lock. The condition is evaluated right before sending,
    /// often, and must not block.
    ///
    /// ```
    /// use lbcf_driver_client::DriverClient;
    /// use std::time::{Duration, Instant};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let until = Instant::now() + Duration::from_secs(10);
    /// let driver = DriverClient::new("http://driver.example")?.send_while(move || Instant::now() < until);
    /// # let _ = driver;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn send_while(mut self, condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.permission = Permission::new(condition);
        self
    }

    /// Replaces the timeouts (default 10 s for each webhook).
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the timeout of one webhook (default 10 s).
    ///
    /// ```
    /// use lbcf_driver_client::DriverClient;
    /// use lbcf_driver_sdk::webhook::CreateLoadBalancer;
    /// use std::time::Duration;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = DriverClient::new("http://driver.example")?
    ///     .with_timeout::<CreateLoadBalancer>(Duration::from_secs(60));
    /// # let _ = driver;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_timeout<W: Webhook>(mut self, timeout: Duration) -> Self {
        self.timeouts = self.timeouts.with::<W>(timeout);
        self
    }

    /// Validates a driver's URL, and returns it without user and password, for logs and messages.
    ///
    /// ```
    /// use lbcf_driver_client::DriverClient;
    ///
    /// let shown = DriverClient::check_url("https://me:secret@driver.example/lbcf/").unwrap();
    /// assert_eq!(shown, "https://driver.example/lbcf");
    /// ```
    ///
    /// # Errors
    /// [`InvalidUrl`], unless it is an absolute `http` or `https` URL.
    pub fn check_url(url: &str) -> Result<String, InvalidUrl> {
        let url: DriverUrl = url.parse()?;
        Ok(format!("{url:?}"))
    }

    /// The URL of a webhook: the driver's URL with the webhook's name as last path segment, with its
    /// query, without user and password.
    ///
    /// ```
    /// use lbcf_driver_client::DriverClient;
    /// use lbcf_driver_sdk::webhook::Healthz;
    ///
    /// let driver = DriverClient::new("http://driver.example/lbcf/?zone=1").unwrap();
    /// assert_eq!(driver.url_of::<Healthz>(), "http://driver.example/lbcf/healthz?zone=1");
    /// ```
    #[must_use]
    pub fn url_of<W: Webhook>(&self) -> String {
        self.url.of(W::INFO.name)
    }

    /// Calls the request's webhook within its timeout. Dropping the future closes the connection.
    ///
    /// ```no_run
    /// use lbcf_driver_client::{CallError, DriverClient};
    /// use lbcf_driver_sdk::webhook::Webhook;
    ///
    /// async fn is_fail<W: Webhook>(driver: &DriverClient, request: &W) -> Result<bool, CallError> {
    ///     Ok(W::is_fail(&driver.call(request).await?))
    /// }
    /// ```
    ///
    /// # Errors
    /// [`CallError`], unless the driver sent a valid response.
    pub async fn call<W: Webhook>(&self, request: &W) -> Result<W::Response, CallError> {
        let timeout = self.timeouts.of(W::INFO.name);
        self.call_within(request, timeout).await
    }

    /// Calls a webhook with another timeout. Dropping the future closes the connection.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use lbcf_driver_client::DriverClient;
    /// use lbcf_driver_sdk::webhook::Healthz;
    /// use std::time::Duration;
    ///
    /// let driver = DriverClient::new("http://driver.example")?;
    /// let response = driver.call_within(&Healthz {}, Duration::from_secs(1)).await?;
    /// assert!(response.healthy);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CallError`], unless the driver sent a valid response.
    pub async fn call_within<W: Webhook>(
        &self,
        request: &W,
        timeout: Duration,
    ) -> Result<W::Response, CallError> {
        let body = request.write_request().map_err(CallError::not_sent)?;
        let (response, hint) = self.exchange(W::INFO.name, body.into(), timeout).await?;
        let body = response.accepted(self.http.response_limits(), hint).await?;
        W::read_response(&body.bytes).map_err(CallError::Malformed)
    }

    /// Sends any body to a path below the driver's URL, within the timeout of the webhook with this
    /// name, and returns any response; for tests of drivers.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = lbcf_driver_client::DriverClient::new("http://driver.example")?;
    /// let response = driver.raw_call("ensureBackend", "no JSON").await?;
    /// assert_eq!(response.status, 400);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CallError`], unless there is a complete response; never [`Status`](CallError::Status) or
    /// [`Malformed`](CallError::Malformed). [`NotSent`](CallError::NotSent), unless the name consists
    /// of letters, digits, `-`, `_`, `~` and `.`, and not of dots only.
    pub async fn raw_call(
        &self,
        name: &str,
        body: impl Into<Bytes>,
    ) -> Result<RawResponse, CallError> {
        let timeout = self.timeouts.of(name);
        self.raw_call_within(name, body, timeout).await
    }

    /// [`raw_call`](Self::raw_call) with another timeout.
    ///
    /// # Errors
    /// Those of [`raw_call`](Self::raw_call).
    pub async fn raw_call_within(
        &self,
        name: &str,
        body: impl Into<Bytes>,
        timeout: Duration,
    ) -> Result<RawResponse, CallError> {
        if !is_segment(name) {
            let problem = format!("{name:?}: not the name of a webhook, such as ensureBackend");
            return Err(CallError::not_sent(problem));
        }
        let (response, _) = self.exchange(name, body.into(), timeout).await?;
        response.raw(self.http.response_limits()).await
    }

    /// Sends a request and waits for the head of the response. Also returns the likely cause of a 401.
    async fn exchange(
        &self,
        name: &str,
        body: Bytes,
        timeout: Duration,
    ) -> Result<(PendingResponse, Option<&'static str>), CallError> {
        let deadline = CallDeadline::new(timeout);
        deadline
            .limit(async {
                let mut request = Request::post(self.url.of(name))
                    .header(header::CONTENT_TYPE, "application/json")
                    .header(header::ACCEPT, "application/json")
                    .header(
                        header::USER_AGENT,
                        concat!("lbcf-driver-sdk/", env!("CARGO_PKG_VERSION")),
                    )
                    .header(SPECIFICATION_HEADER, SPECIFICATION)
                    .header("traceparent", traceparent());
                let mut hint = None;
                match self.http.authorization(&self.url).await {
                    Authorization::Nothing => {}
                    Authorization::Withheld => hint = Some(WITHHELD),
                    Authorization::Header(header) => {
                        request = request.header(header::AUTHORIZATION, header);
                    }
                }
                let body = RequestBody::new(body, self.permission.clone());
                let request = request.body(body).map_err(CallError::not_sent)?;
                let response = self.http.send(request).await?;
                Ok((PendingResponse::new(response, deadline), hint))
            })
            .await
    }
}

/// The `traceparent` of a call (W3C Trace Context): that of the current span if it is sent to a collector, or else of
/// a new trace. The span gets the id of the trace.
fn traceparent() -> String {
    let span = tracing::Span::current();
    let traceparent = traces::traceparent(&span).unwrap_or_else(|| {
        let trace_id = Uuid::new_v4().simple();
        let (_, span_id) = Uuid::new_v4().as_u64_pair();
        format!("00-{trace_id}-{span_id:016x}-01")
    });
    span.record("traceID", traceparent.get(3..35));
    traceparent
}

/// True if a name is one path segment without escaping.
fn is_segment(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~.".contains(&byte);
    name.bytes().all(is_plain) && name.bytes().any(|byte| byte != b'.')
}

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
