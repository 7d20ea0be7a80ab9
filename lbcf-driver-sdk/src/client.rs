//! A typed client for any driver.
//!
//! ```no_run
//! use lbcf_driver_sdk::client::DriverClient;
//! use lbcf_driver_sdk::webhook::{DeleteLoadBalancerRequest, EnsureBackend, Status};
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let driver = DriverClient::new("http://driver.example:8080/lbcf")?
//!     .with_timeout::<EnsureBackend>(Duration::from_secs(30));
//! let request = DeleteLoadBalancerRequest {
//!     record_id: "deleteLoadBalancer(42)".into(),
//!     retry_id: "1".into(),
//!     ..Default::default()
//! };
//! let response = driver.delete_load_balancer(&request).await?;
//! assert_eq!(response.status, Status::Succ);
//! # Ok(())
//! # }
//! ```
//!
//! # What counts as an answer
//!
//! Only status 200 with a proper body is an answer; everything else is a [`CallError`], and what
//! the driver did is then unknown unless the error says so. `Fail`, `Running` and a rejection are
//! answers. Redirects are not followed: a POST would become a GET. [`DriverClient::raw_call`] gives
//! whatever came back.
//!
//! # Connections
//!
//! Connections are kept for some seconds and used again. When a kept one turns out to be closed
//! before anything was sent on it, the call takes another; apart from that nothing is ever sent
//! twice. Proxies are not used, whatever the environment says.
//!
//! # Time
//!
//! Each call has one deadline for all of it: connecting, sending, the driver's work and the whole
//! answer. It is 10 s, as it is for controllers (b10), or what [`Timeouts`] say for the webhook.
//! Dropping a call's future hangs up; the driver may go on.
//!
//! # TLS and tokens
//!
//! [`HttpClient::new`] trusts the system's root certificates. [`HttpClient::builder`] takes others,
//! a client certificate and a token, which are read from files again when these change. A token is
//! not sent where others can read it, over plain http to another machine, unless that is allowed.

mod builder;
mod connector;
mod error;
mod exchange;
mod http_client;
mod methods;
mod reread;
mod timeouts;
mod tls_files;
mod tls_problem;
mod token;
mod url;

pub use builder::{HttpClientBuilder, HttpClientError};
pub use error::CallError;
pub use exchange::RawAnswer;
pub use http_client::HttpClient;
pub use timeouts::Timeouts;
pub use tls_problem::TlsProblem;
pub use url::InvalidUrl;

use crate::webhook::Webhook;
use crate::wire;
use ::http::{Request, header};
use bytes::Bytes;
use exchange::{Answer, Limit};
use http_body_util::Full;
use http_client::Authorization;
use std::time::Duration;
use url::DriverUrl;

type Body = hyper::body::Incoming;

/// What may be behind a 401.
const WITHHELD: &str =
    "the token was not sent: plain http to another machine, where others could read it";

/// Calls one driver. Clones share its connections.
///
/// Each webhook is a method of its own, such as [`ensure_backend`](Self::ensure_backend).
#[derive(Debug, Clone)]
pub struct DriverClient {
    http: HttpClient,
    url: DriverUrl,
    timeouts: Timeouts,
}

impl DriverClient {
    /// A client with connections of its own.
    ///
    /// ```
    /// use lbcf_driver_sdk::client::DriverClient;
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

    /// A client that shares its connections with others.
    ///
    /// # Errors
    /// [`InvalidUrl`], unless it is an absolute `http` or `https` URL.
    pub fn with_http(http: HttpClient, url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self {
            http,
            url: url.parse()?,
            timeouts: Timeouts::default(),
        })
    }

    /// The same client with these timeouts.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The same client with another timeout for one webhook.
    ///
    /// ```
    /// use lbcf_driver_sdk::client::DriverClient;
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

    /// Whether drivers can be called at a URL; gives it as it may be shown, without user and
    /// password.
    ///
    /// ```
    /// use lbcf_driver_sdk::client::DriverClient;
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

    /// Where a webhook is called: the driver's URL with the webhook's name as last segment of its
    /// path; a query is kept (b149). Without user and password.
    ///
    /// ```
    /// use lbcf_driver_sdk::client::DriverClient;
    /// use lbcf_driver_sdk::webhook::Healthz;
    ///
    /// let driver = DriverClient::new("http://driver.example/lbcf/?zone=1").unwrap();
    /// assert_eq!(driver.url_of::<Healthz>(), "http://driver.example/lbcf/healthz?zone=1");
    /// ```
    #[must_use]
    pub fn url_of<W: Webhook>(&self) -> String {
        self.url.of(W::INFO.name)
    }

    /// Calls a webhook within its timeout; for code that is generic over webhooks. Dropping the
    /// future hangs up.
    ///
    /// ```no_run
    /// use lbcf_driver_sdk::client::{CallError, DriverClient};
    /// use lbcf_driver_sdk::webhook::Webhook;
    ///
    /// async fn is_fail<W: Webhook>(driver: &DriverClient, request: &W::Request) -> Result<bool, CallError> {
    ///     Ok(W::is_fail(&driver.call::<W>(request).await?))
    /// }
    /// ```
    ///
    /// # Errors
    /// [`CallError`], when there is no proper answer.
    pub async fn call<W: Webhook>(&self, request: &W::Request) -> Result<W::Response, CallError> {
        let timeout = self.timeouts.of(W::INFO.name);
        self.call_within::<W>(request, timeout).await
    }

    /// Calls a webhook within another time than its timeout. Dropping the future hangs up.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use lbcf_driver_sdk::client::DriverClient;
    /// use lbcf_driver_sdk::webhook::{Healthz, HealthzRequest};
    /// use std::time::Duration;
    ///
    /// let driver = DriverClient::new("http://driver.example")?;
    /// let answer = driver.call_within::<Healthz>(&HealthzRequest {}, Duration::from_secs(1)).await?;
    /// assert!(answer.healthy);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CallError`], when there is no proper answer.
    pub async fn call_within<W: Webhook>(
        &self,
        request: &W::Request,
        timeout: Duration,
    ) -> Result<W::Response, CallError> {
        let body = serde_json::to_vec(request).map_err(CallError::not_sent)?;
        let (answer, hint) = self.exchange(W::INFO.name, body.into(), timeout).await?;
        let body = answer.accepted(self.http.response_limit(), hint).await?;
        wire::from_slice(&body).map_err(CallError::Malformed)
    }

    /// Sends any bytes to a path below the driver's URL, within the timeout of the webhook that has
    /// this name, and gives whatever comes back; for tests of drivers.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = lbcf_driver_sdk::client::DriverClient::new("http://driver.example")?;
    /// let answer = driver.raw_call("ensureBackend", "no JSON").await?;
    /// assert_eq!(answer.status, 400);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CallError`], when there is no whole answer: each of them but
    /// [`Status`](CallError::Status) and [`Malformed`](CallError::Malformed). It is
    /// [`NotSent`](CallError::NotSent), unless the name is of letters, digits, `-`, `_`, `~` and
    /// `.`, with anything but dots.
    pub async fn raw_call(
        &self,
        name: &str,
        body: impl Into<Bytes>,
    ) -> Result<RawAnswer, CallError> {
        let timeout = self.timeouts.of(name);
        self.raw_call_within(name, body, timeout).await
    }

    /// [`raw_call`](Self::raw_call) within another time.
    ///
    /// # Errors
    /// As there.
    pub async fn raw_call_within(
        &self,
        name: &str,
        body: impl Into<Bytes>,
        timeout: Duration,
    ) -> Result<RawAnswer, CallError> {
        if !is_segment(name) {
            let problem = format!("{name:?}: not the name of a webhook, as ensureBackend is");
            return Err(CallError::not_sent(problem));
        }
        let (answer, _) = self.exchange(name, body.into(), timeout).await?;
        answer.raw(self.http.response_limit()).await
    }

    /// Sends a request and waits for the head of the answer. With it comes what may be behind a
    /// 401.
    async fn exchange(
        &self,
        name: &str,
        body: Bytes,
        timeout: Duration,
    ) -> Result<(Answer, Option<&'static str>), CallError> {
        let limit = Limit::new(timeout);
        limit
            .keep(async {
                let mut request = Request::post(self.url.of(name))
                    .header(header::CONTENT_TYPE, "application/json")
                    .header(header::ACCEPT, "application/json")
                    .header(
                        header::USER_AGENT,
                        concat!("lbcf-driver-sdk/", env!("CARGO_PKG_VERSION")),
                    );
                let mut hint = None;
                match self.http.authorization(&self.url).await {
                    Authorization::Nothing => {}
                    Authorization::Withheld => hint = Some(WITHHELD),
                    Authorization::Header(header) => {
                        request = request.header(header::AUTHORIZATION, header);
                    }
                }
                let request = request.body(Full::new(body)).map_err(CallError::not_sent)?;
                let response = self.http.send(request).await?;
                Ok((Answer::new(response, limit), hint))
            })
            .await
    }
}

/// Whether a name is one segment of a path, as it stands.
fn is_segment(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~.".contains(&byte);
    name.bytes().all(is_plain) && name.bytes().any(|byte| byte != b'.')
}
