//! An HTTP client with limits and control over connections, to a URL or to a router in this process.
//!
//! A response may have a body of 4 MiB, and a head of 64 KiB with 256 headers; everything has a
//! deadline. Redirects are not followed. No request is sent twice: only when an idle connection turns
//! out to be closed before the first byte of the request, another connection is used.
//!
//! ```
//! use axum::{Router, routing::post};
//! use lbcf_conformance::transport::{Request, Transport};
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let router = Router::new().route("/healthz", post(|| async { r#"{"healthy":true}"# }));
//! let transport = Transport::in_process(router);
//! let received = transport
//!     .send(&Request::post("healthz", "{}"), Duration::from_secs(10))
//!     .await
//!     .unwrap();
//! assert_eq!(received.status, 200);
//! # }
//! ```

mod base_url;
mod connection;
mod dialer;
mod idle_pool;
mod request;
mod settings;
mod stream;

pub(crate) use base_url::without_user;
pub(crate) use request::parse_header;
pub use request::{LEFT_OUT, Request};
pub use settings::{Settings, TransportError};

use crate::exchange::{NoResponse, Received};
use base_url::BaseUrl;
use connection::{Connection, ExchangeError, TrackedBody};
use dialer::Dialer;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use idle_pool::IdlePool;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

/// The time limit for connecting and writing before the kit closes the connection.
const HANG_UP_WITHIN: Duration = Duration::from_secs(10);

/// A connection pool to a driver. Clones share it.
///
/// Connections belong to the runtime that opened them. A handler in this process that blocks its
/// thread blocks the kit's clock too, unless the runtime has other threads.
#[derive(Clone)]
pub struct Transport {
    shared: Arc<Shared>,
    idle: Arc<IdlePool>,
}

struct Shared {
    base: BaseUrl,
    dialer: Dialer,
    /// The headers of each request, including the authorization.
    headers: HeaderMap,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("url", &self.url_of(""))
            .finish_non_exhaustive()
    }
}

impl Transport {
    /// A transport to a driver's URL. Reads the files of certificates, but does not connect yet.
    ///
    /// User and password of the URL become Basic authorization. Its query is sent with each request.
    ///
    /// ```
    /// use lbcf_conformance::transport::{Settings, Transport};
    ///
    /// let url = "http://me:secret@driver.example/lbcf/?zone=1";
    /// let transport = Transport::to_url(url, &Settings::default()).unwrap();
    /// assert_eq!(
    ///     transport.url_of("ensureBackend"),
    ///     "http://driver.example/lbcf/ensureBackend?zone=1",
    /// );
    /// ```
    ///
    /// # Errors
    /// [`TransportError`], for a URL that is not absolute, and for files and a token that cannot
    /// be used.
    pub fn to_url(url: &str, settings: &Settings) -> Result<Self, TransportError> {
        let (base, basic) = BaseUrl::parse(url)?;
        let dialer = Dialer::to(&base, settings)?;
        let mut headers = settings.headers.clone();
        let authorization = match &settings.token {
            Some(token) => Some(bearer(token)?),
            None => basic,
        };
        if let Some(authorization) = authorization {
            headers.insert(AUTHORIZATION, authorization);
        }
        Ok(Self::new(base, dialer, headers))
    }

    /// A transport to a router in this process, without a port: with the same HTTP bytes, and the
    /// same effects of closed connections.
    pub fn in_process(router: axum::Router) -> Self {
        let dialer = Dialer::InProcess(router);
        Self::new(BaseUrl::in_process(), dialer, HeaderMap::new())
    }

    fn new(base: BaseUrl, dialer: Dialer, headers: HeaderMap) -> Self {
        Self {
            shared: Arc::new(Shared {
                base,
                dialer,
                headers,
            }),
            idle: Arc::default(),
        }
    }

    /// The transport for a URL and the path of the URL: this transport for URLs below its own, or
    /// else a new one.
    ///
    /// # Errors
    /// [`TransportError`], for a URL that is not absolute.
    pub(crate) fn for_url(&self, url: &str) -> Result<(Self, String), TransportError> {
        let own = self.url_of("");
        let below = url.strip_prefix(own.trim_end_matches('/'));
        match below.and_then(|path| path.strip_prefix('/')) {
            Some(path) if !self.shared.base.has_query() => Ok((self.clone(), path.to_owned())),
            _ => Ok((Self::to_url(url, &Settings::default())?, String::new())),
        }
    }

    /// After a restart of the driver: connections that are open now are not used for another request.
    pub fn begin_generation(&self) {
        self.idle.begin_generation();
    }

    /// The whole URL of a path below the driver's, without user and password.
    pub fn url_of(&self, path: &str) -> String {
        self.shared.base.url_of(path)
    }

    /// All headers of a request, with `***` instead of secrets: authorization, cookies, sensitive
    /// values, and the [`Settings::headers`].
    pub fn shown_headers(&self, request: &Request) -> HeaderMap {
        request::shown(self.headers_of(request), &self.shared.headers)
    }

    /// Sends a request and reads the whole response, on an idle connection if there is one.
    ///
    /// # Errors
    /// [`NoResponse`], if there is no complete response within `timeout`, which includes connecting.
    pub async fn send(&self, request: &Request, timeout: Duration) -> Result<Received, NoResponse> {
        within(timeout, self.exchange(request)).await
    }

    /// Sends requests over one new connection, one after the other, each with this timeout. Returns
    /// a result for each request: after the end of the connection [`NoResponse::Closed`].
    pub async fn send_over_one_connection(
        &self,
        requests: &[Request],
        timeout: Duration,
    ) -> Vec<Result<Received, NoResponse>> {
        let mut results: Vec<Result<Received, NoResponse>> = Vec::with_capacity(requests.len());
        let mut connection = None;
        for request in requests {
            let result = within(timeout, async {
                let connection = match &mut connection {
                    None if results.is_empty() => connection.insert(self.connect().await?),
                    None => return Err(NoResponse::Closed("during the previous request".into())),
                    Some(connection) => connection,
                };
                if !connection.is_ready().await {
                    return Err(NoResponse::Closed("after the previous response".into()));
                }
                let exchanged = self.exchange_on(connection, request).await;
                let (received, _) = exchanged.map_err(|error| error.reason)?;
                Ok(received)
            })
            .await;
            if result.is_err() {
                connection = None;
            }
            results.push(result);
        }
        results
    }

    /// Sends the head of a request and `body_bytes` of its body over its own connection, and closes it
    /// `linger` after the last byte, without reading the response.
    ///
    /// # Errors
    /// [`NoResponse`], if the request could not be sent: `NotConnected`, `Closed`, or `TimedOut`
    /// after 10 s.
    pub async fn send_and_hang_up(
        &self,
        request: &Request,
        body_bytes: usize,
        linger: Duration,
    ) -> Result<(), NoResponse> {
        let bytes = self.bytes_of(request, body_bytes.min(request.body.len()));
        let work = async {
            let mut stream = self.shared.dialer.dial().await?;
            let written = async {
                stream.write_all(&bytes).await?;
                stream.flush().await
            };
            let closed = |error: std::io::Error| NoResponse::Closed(error.to_string());
            written.await.map_err(closed)?;
            tokio::time::sleep(linger).await;
            // The peer may have closed the connection already.
            stream.shutdown().await.ok();
            Ok(())
        };
        within(HANG_UP_WITHIN.saturating_add(linger), work).await
    }

    /// The bytes of a request with the first `body_bytes` of its body.
    fn bytes_of(&self, request: &Request, body_bytes: usize) -> Vec<u8> {
        let headers = self.headers_of(request);
        let mut bytes = request.head(&self.shared.base.target(&request.path), &headers);
        bytes.extend_from_slice(&request.body[..body_bytes]);
        bytes
    }

    fn headers_of(&self, request: &Request) -> HeaderMap {
        request.all_headers(&self.shared.base.authority, &self.shared.headers)
    }

    async fn connect(&self) -> Result<Connection, NoResponse> {
        let generation = self.idle.generation();
        Connection::new(self.shared.dialer.dial().await?, generation).await
    }

    /// Sends a request on an idle connection if there is one.
    async fn exchange(&self, request: &Request) -> Result<Received, NoResponse> {
        while let Some(connection) = self.idle.take().await {
            match self.exchange_and_keep(connection, request).await {
                Err(error) if error.is_unsent => {}
                result => return result.map_err(|error| error.reason),
            }
        }
        self.exchange_and_keep(self.connect().await?, request)
            .await
            .map_err(|error| error.reason)
    }

    async fn exchange_and_keep(
        &self,
        mut connection: Connection,
        request: &Request,
    ) -> Result<Received, ExchangeError> {
        let (received, is_sent) = self.exchange_on(&mut connection, request).await?;
        // A connection with an incomplete request cannot be reused.
        if is_sent {
            self.idle.keep(connection);
        }
        Ok(received)
    }

    /// The response to a request, and whether the request was sent completely.
    async fn exchange_on(
        &self,
        connection: &mut Connection,
        request: &Request,
    ) -> Result<(Received, bool), ExchangeError> {
        let (body, is_sent) = TrackedBody::new(request.body.clone());
        let target = self.shared.base.target(&request.path);
        let http = http::Request::builder().method(request.method.clone());
        let mut http = http
            .uri(&target)
            .body(body)
            .map_err(|error| ExchangeError {
                reason: NoResponse::NotConnected(format!("{target:?} cannot be sent: {error}")),
                is_unsent: false,
            })?;
        *http.headers_mut() = self.headers_of(request);
        let received = connection.exchange(http).await?;
        Ok((received, is_sent.load(Ordering::Relaxed)))
    }
}

async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, NoResponse>>,
) -> Result<T, NoResponse> {
    let done = tokio::time::timeout(timeout, work).await;
    done.unwrap_or(Err(NoResponse::TimedOut(timeout)))
}

fn bearer(token: &str) -> Result<HeaderValue, TransportError> {
    let mut value =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| TransportError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
