//! A typed client for any driver.
//!
//! ```no_run
//! use lbcf_driver_sdk::client::DriverClient;
//! use lbcf_driver_sdk::webhook::{DeleteLoadBalancer, DeleteLoadBalancerRequest, Status};
//! use std::time::Duration;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let driver = DriverClient::new("http://driver.example:8080/lbcf")?;
//! let request = DeleteLoadBalancerRequest {
//!     record_id: "deleteLoadBalancer(42)".into(),
//!     retry_id: "1".into(),
//!     ..Default::default()
//! };
//! let response = driver
//!     .call::<DeleteLoadBalancer>(&request, Duration::from_secs(10))
//!     .await?;
//! assert_eq!(response.status, Status::Succ);
//! # Ok(())
//! # }
//! ```
//!
//! Only status 200 with a proper body is an answer; everything else is a [`CallError`], and what
//! the driver did is then unknown. Redirects are not followed: a POST would become a GET.

mod http_client;
mod url;

pub use http_client::HttpClient;
pub use url::InvalidUrl;

use crate::webhook::Webhook;
use crate::wire::{self, DecodeError};
use ::http::{Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use std::error::Error;
use std::fmt;
use std::time::Duration;
use url::DriverUrl;

type Body = hyper::body::Incoming;

/// More than this is no answer.
const RESPONSE_LIMIT: usize = 4 << 20;

/// How much of an error page is worth quoting.
const EXCERPT_LIMIT: usize = 1 << 10;

/// Calls one driver. Clones share its connections.
#[derive(Debug, Clone)]
pub struct DriverClient {
    http: HttpClient,
    url: DriverUrl,
}

/// A call that got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No connection, or it broke before the answer was there.
    #[error("cannot reach the driver: {}", Chain(.0.as_ref()))]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    /// The answer was not there in time. The driver may still be at work.
    #[error("no answer from the driver within {after:?}")]
    Timeout {
        /// How long it was waited for.
        after: Duration,
    },
    /// The driver answered with another status than 200.
    #[error("the driver answered with HTTP status {status}, only 200 is an answer: {body}")]
    Status {
        /// The status code.
        status: u16,
        /// The beginning of the body, at most 1 KiB.
        body: String,
    },
    /// The body is not what the specification asks for.
    #[error("the driver's answer is malformed: {0}")]
    Malformed(#[source] DecodeError),
    /// The body is too long.
    #[error("the driver's answer has more than {limit} bytes")]
    TooLarge {
        /// The most that is read.
        limit: usize,
    },
}

impl DriverClient {
    /// A client with connections of its own.
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
        })
    }

    /// Whether drivers can be called at a URL; gives it as it may be shown, without user and
    /// password.
    ///
    /// # Errors
    /// [`InvalidUrl`], unless it is an absolute `http` or `https` URL.
    pub fn check_url(url: &str) -> Result<String, InvalidUrl> {
        let url: DriverUrl = url.parse()?;
        Ok(format!("{url:?}"))
    }

    /// Where a webhook is called: the driver's URL with the webhook's name as last segment of its
    /// path; a query is kept (b149). Without user and password.
    #[must_use]
    pub fn url_of<W: Webhook>(&self) -> String {
        self.url.of(W::INFO.name)
    }

    /// Calls a webhook. `timeout` covers all of it: connecting, sending, the driver's work and
    /// the whole answer. Dropping the future hangs up.
    ///
    /// # Errors
    /// [`CallError`], when there is no proper answer.
    pub async fn call<W: Webhook>(
        &self,
        request: &W::Request,
        timeout: Duration,
    ) -> Result<W::Response, CallError> {
        let body = serde_json::to_vec(request).map_err(unreachable)?;
        let exchange = self.exchange(W::INFO.name, body.into());
        match tokio::time::timeout(timeout, exchange).await {
            Ok(answer) => wire::from_slice(&answer?).map_err(CallError::Malformed),
            Err(_) => Err(CallError::Timeout { after: timeout }),
        }
    }

    async fn exchange(&self, webhook: &str, body: Bytes) -> Result<Bytes, CallError> {
        let mut request = Request::post(self.url.of(webhook))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header(
                header::USER_AGENT,
                concat!("lbcf-driver-sdk/", env!("CARGO_PKG_VERSION")),
            );
        if let Some(credentials) = self.url.authorization() {
            request = request.header(header::AUTHORIZATION, credentials);
        }
        let request = request.body(Full::new(body)).map_err(unreachable)?;
        let response = self.http.send(request).await?;
        let status = response.status();
        if status == StatusCode::OK {
            read_answer(response).await
        } else {
            Err(CallError::Status {
                status: status.as_u16(),
                body: read_excerpt(response).await,
            })
        }
    }
}

async fn read_answer(response: Response<Body>) -> Result<Bytes, CallError> {
    let mut body = response.into_body();
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(unreachable)?.into_data() {
            if whole.len() + data.len() > RESPONSE_LIMIT {
                return Err(CallError::TooLarge {
                    limit: RESPONSE_LIMIT,
                });
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.into())
}

/// The status says enough, so an excerpt that cannot be read is an empty one.
async fn read_excerpt(response: Response<Body>) -> String {
    let mut body = response.into_body();
    let mut excerpt = Vec::new();
    while excerpt.len() < EXCERPT_LIMIT
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Ok(data) = frame.into_data() {
            excerpt.extend_from_slice(&data);
        }
    }
    excerpt.truncate(EXCERPT_LIMIT);
    String::from_utf8_lossy(&excerpt).into_owned()
}

fn unreachable(error: impl Into<Box<dyn Error + Send + Sync>>) -> CallError {
    CallError::Unreachable(error.into())
}

/// An error with what is behind it: "client error (Connect)" alone tells nobody anything.
struct Chain<'a>(&'a (dyn Error + Send + Sync + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut deeper = self.0.source();
        while let Some(error) = deeper {
            write!(f, ": {error}")?;
            deeper = error.source();
        }
        Ok(())
    }
}
