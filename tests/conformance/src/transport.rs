//! HTTP as the kit speaks it: to a URL or, in process, to a router; each byte of it as a check
//! wants it, and within limits, whatever a driver does.
//!
//! An answer may have 4 MiB of body, and a head of 64 KiB with 256 headers; everything has a
//! deadline. Redirects are answers like others. Nothing is sent twice: only where a kept
//! connection turns out to be closed before a byte of the request has left, another one is taken.
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
//! let answer = transport
//!     .send(&Request::post("healthz", "{}"), Duration::from_secs(10))
//!     .await
//!     .unwrap();
//! assert_eq!(answer.status, 200);
//! # }
//! ```

mod base;
mod by_hand;
mod connection;
mod dialer;
mod idle;
mod pieces;
mod request;
mod settings;
mod stream;
mod tls;

pub use request::{LEFT_OUT, Request};
pub use settings::{Settings, TransportError};

use crate::exchange::{NoAnswer, Received};
use base::Base;
use bytes::Bytes;
use connection::{Connection, Failed};
use dialer::Dialer;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use idle::Idle;
use pieces::{Pace, Pieces};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// How long connecting and writing may take before the kit hangs up, `linger` not counted.
const HANG_UP_WITHIN: Duration = Duration::from_secs(10);

/// A way to a driver. Clones share connections.
///
/// Connections belong to the runtime that they were made in; a handler in process that blocks
/// its thread blocks the kit's clock too, unless the runtime has other threads.
#[derive(Clone)]
pub struct Transport {
    shared: Arc<Shared>,
    idle: Arc<Idle>,
}

struct Shared {
    base: Base,
    dialer: Dialer,
    /// Sent with each request; with the authorization.
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
    /// To a driver's URL. Files of certificates are read now; nothing is connected yet.
    ///
    /// User and password of the URL are sent as Basic authorization. Its query is sent with each
    /// request.
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
        let (base, basic) = Base::parse(url)?;
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

    /// To a router in this process, without a port: the same bytes of HTTP, and the same hang-ups.
    #[must_use]
    pub fn in_process(router: axum::Router) -> Self {
        Self::new(
            Base::in_process(),
            Dialer::InProcess(router),
            HeaderMap::new(),
        )
    }

    fn new(base: Base, dialer: Dialer, headers: HeaderMap) -> Self {
        Self {
            shared: Arc::new(Shared {
                base,
                dialer,
                headers,
            }),
            idle: Arc::default(),
        }
    }

    /// What a URL has behind this transport's own, if it is below it: what can be had over this
    /// transport, too.
    #[must_use]
    pub fn path_below(&self, url: &str) -> Option<String> {
        let own = self.url_of("");
        let below = url.strip_prefix(own.trim_end_matches('/'))?;
        let path = below.strip_prefix('/')?;
        (self.shared.base.query().is_none()).then(|| path.to_owned())
    }

    /// The whole URL of a path below the driver's, without user and password.
    #[must_use]
    pub fn url_of(&self, path: &str) -> String {
        self.shared.base.url_of(path)
    }

    /// All headers of a request as they are sent, with `***` instead of secrets: authorization,
    /// cookies, sensitive values, and whatever [`Settings::headers`] says.
    #[must_use]
    pub fn shown_headers(&self, request: &Request) -> HeaderMap {
        request::shown(self.headers_of(request), &self.shared.headers)
    }

    /// A request as it goes over the wire, head and body, with all secrets: to be changed and
    /// sent with [`Self::send_raw`], not to be shown.
    #[must_use]
    pub fn bytes_of(&self, request: &Request) -> Vec<u8> {
        let headers = self.headers_of(request);
        let is_chunked = headers.contains_key(TRANSFER_ENCODING);
        let mut bytes = request.head(&self.shared.base.target(&request.path), &headers);
        if is_chunked && !request.body.is_empty() {
            bytes.extend_from_slice(format!("{:x}\r\n", request.body.len()).as_bytes());
        }
        bytes.extend_from_slice(&request.body);
        if is_chunked {
            let end: &[u8] = if request.body.is_empty() {
                b"0\r\n\r\n"
            } else {
                b"\r\n0\r\n\r\n"
            };
            bytes.extend_from_slice(end);
        }
        bytes
    }

    /// Sends a request and reads the whole answer, on a kept connection if there is one. Never
    /// follows a redirect; never sends anything twice.
    ///
    /// # Errors
    /// [`NoAnswer`], if there is no whole answer; `timeout` is for connecting, sending and reading
    /// together.
    pub async fn send(&self, request: &Request, timeout: Duration) -> Result<Received, NoAnswer> {
        within(timeout, self.exchange(request, Pace::FAST)).await
    }

    /// Sends a request whose body comes in so many pieces of equal length, with a pause between
    /// them, and reads the whole answer.
    ///
    /// # Errors
    /// [`NoAnswer`], if there is no whole answer; the pauses count for `timeout`.
    pub async fn send_slowly(
        &self,
        request: &Request,
        chunks: usize,
        pause: Duration,
        timeout: Duration,
    ) -> Result<Received, NoAnswer> {
        within(timeout, self.exchange(request, Pace::slow(chunks, pause))).await
    }

    /// Sends requests over one new connection, one after the other. As many results as requests:
    /// once the connection has ended, the rest is not sent, and each is [`NoAnswer::Closed`].
    /// `timeout` is for each of them.
    pub async fn send_over_one_connection(
        &self,
        requests: &[Request],
        timeout: Duration,
    ) -> Vec<Result<Received, NoAnswer>> {
        let mut results: Vec<Result<Received, NoAnswer>> = Vec::with_capacity(requests.len());
        let mut connection = None;
        for request in requests {
            let result = within(timeout, async {
                let connection = match &mut connection {
                    None if results.is_empty() => connection.insert(self.connect().await?),
                    None => return Err(NoAnswer::Closed("with the request before".into())),
                    Some(connection) => connection,
                };
                if !connection.is_ready().await {
                    return Err(NoAnswer::Closed("after the answer before".into()));
                }
                self.ask(connection, request, Pace::FAST)
                    .await
                    .map(|(received, _)| received)
                    .map_err(|failed| failed.reason)
            })
            .await;
            if result.is_err() {
                connection = None;
            }
            results.push(result);
        }
        results
    }

    /// Sends a request over a connection of its own and hangs up: as soon as its last byte is on
    /// its way and `linger` has passed, without reading the answer.
    ///
    /// # Errors
    /// [`NoAnswer`], if the request could not be sent: `NotConnected`, `Closed`, or `TimedOut`
    /// after 10 s.
    pub async fn send_and_hang_up(
        &self,
        request: &Request,
        linger: Duration,
    ) -> Result<(), NoAnswer> {
        self.hang_up_after(&self.bytes_of(request), linger).await
    }

    /// Sends the head of a request and so many bytes of its body over a connection of its own,
    /// and hangs up.
    ///
    /// # Errors
    /// As [`Self::send_and_hang_up`].
    pub async fn send_part_and_hang_up(
        &self,
        request: &Request,
        body_bytes: usize,
    ) -> Result<(), NoAnswer> {
        let headers = self.headers_of(request);
        let mut bytes = request.head(&self.shared.base.target(&request.path), &headers);
        let part = body_bytes.min(request.body.len());
        bytes.extend_from_slice(&request.body[..part]);
        self.hang_up_after(&bytes, Duration::ZERO).await
    }

    /// Sends any bytes over a connection of its own and gives whatever comes back until the driver
    /// closes it, `timeout` is over, or it is 4 MiB. To be quick, `connection: close` should be
    /// among the bytes: a driver that keeps the connection open keeps this waiting.
    ///
    /// # Errors
    /// [`NoAnswer`], if nothing at all came back.
    pub async fn send_raw(&self, bytes: &[u8], timeout: Duration) -> Result<Bytes, NoAnswer> {
        let deadline = Instant::now() + timeout;
        let stream = within(timeout, self.shared.dialer.dial()).await?;
        by_hand::write_and_read(stream, bytes, deadline)
            .await
            .map_err(|reason| match reason {
                NoAnswer::TimedOut(_) => NoAnswer::TimedOut(timeout),
                reason => reason,
            })
    }

    fn headers_of(&self, request: &Request) -> HeaderMap {
        request.all_headers(&self.shared.base.authority, &self.shared.headers)
    }

    async fn connect(&self) -> Result<Connection, NoAnswer> {
        Connection::new(self.shared.dialer.dial().await?).await
    }

    /// A request and its answer, on a kept connection if there is one.
    async fn exchange(&self, request: &Request, pace: Pace) -> Result<Received, NoAnswer> {
        while let Some(connection) = self.idle.take().await {
            match self.exchange_over(connection, request, pace).await {
                Err(failed) if failed.is_unsent => {}
                result => return result.map_err(|failed| failed.reason),
            }
        }
        self.exchange_over(self.connect().await?, request, pace)
            .await
            .map_err(|failed| failed.reason)
    }

    async fn exchange_over(
        &self,
        mut connection: Connection,
        request: &Request,
        pace: Pace,
    ) -> Result<Received, Failed> {
        let (received, is_sent) = self.ask(&mut connection, request, pace).await?;
        // Over a connection on which a body is still being sent no other request can go.
        if is_sent {
            self.idle.keep(connection);
        }
        Ok(received)
    }

    /// A request and its answer over this connection, and whether all of the request was sent.
    async fn ask(
        &self,
        connection: &mut Connection,
        request: &Request,
        pace: Pace,
    ) -> Result<(Received, bool), Failed> {
        let (body, is_sent) = Pieces::new(request.body.clone(), pace);
        let target = self.shared.base.target(&request.path);
        let http = request
            .to_http(&target, self.headers_of(request), body)
            .map_err(|error| Failed {
                reason: NoAnswer::NotConnected(format!("{target:?} cannot be sent: {error}")),
                is_unsent: false,
            })?;
        let received = connection.exchange(http).await?;
        Ok((received, is_sent.load(Ordering::Relaxed)))
    }

    async fn hang_up_after(&self, bytes: &[u8], linger: Duration) -> Result<(), NoAnswer> {
        let work = async {
            let stream = self.shared.dialer.dial().await?;
            by_hand::write_and_hang_up(stream, bytes, linger)
                .await
                .map_err(|error| NoAnswer::Closed(error.to_string()))
        };
        within(HANG_UP_WITHIN.saturating_add(linger), work).await
    }
}

/// The whole of it, within this time.
async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, NoAnswer>>,
) -> Result<T, NoAnswer> {
    tokio::time::timeout(timeout, work)
        .await
        .unwrap_or(Err(NoAnswer::TimedOut(timeout)))
}

fn bearer(token: &str) -> Result<HeaderValue, TransportError> {
    let mut value =
        HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| TransportError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
