//! One request to the driver and its outcome, as checks verify and reports show it.

use bytes::Bytes;
use http::HeaderMap;
use std::fmt;
use std::time::Duration;

/// The degree to which a request follows the specification: it decides who verifies the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// As controllers send it: the WIRE checks verify its response, too.
    Valid,
    /// Valid, but unusual: only the check that sent it verifies its response.
    Unusual,
    /// Not allowed by the specification, or not a webhook call.
    Invalid,
}

/// A request as it was sent.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The method, mostly `POST`.
    pub method: http::Method,
    /// The whole URL, without user and password.
    pub url: String,
    /// The headers, without secrets.
    pub headers: HeaderMap,
    /// The body; empty for a request without one.
    pub body: Bytes,
}

/// A response whose body is complete.
#[derive(Debug, Clone)]
pub struct Received {
    /// The HTTP status code.
    pub status: u16,
    /// The headers; a repeated header has several values.
    pub headers: HeaderMap,
    /// The complete body, as bytes.
    pub body: Bytes,
}

/// The reason for a missing or incomplete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResponse {
    /// The connection failed, for this reason.
    NotConnected(String),
    /// No complete response within this time.
    TimedOut(Duration),
    /// The connection closed before the end of the response.
    Closed(String),
    /// The response is not HTTP.
    NotHttp(String),
    /// The response is longer than this number of bytes.
    TooLarge(usize),
    /// The check closed the connection on purpose.
    HungUp,
}

impl fmt::Display for NoResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected(problem) => write!(f, "no connection: {problem}"),
            Self::TimedOut(after) => write!(f, "no complete response within {after:?}"),
            Self::Closed(problem) => {
                write!(f, "the connection closed before the response: {problem}")
            }
            Self::NotHttp(problem) => write!(f, "the response is not HTTP: {problem}"),
            Self::TooLarge(limit) => write!(f, "the response is longer than {limit} bytes"),
            Self::HungUp => f.write_str("the check closed the connection on purpose"),
        }
    }
}

/// A request and its outcome.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Its number among the exchanges of the run, from 1.
    pub sequence: u64,
    /// The id of the check that sent the request; `None` for the run's own calls.
    pub check: Option<&'static str>,
    /// The name of the webhook; `None` for other paths.
    pub webhook: Option<&'static str>,
    /// The degree to which the request follows the specification.
    pub kind: RequestKind,
    /// The request as it was sent.
    pub sent: Sent,
    /// The complete response, or why there is none.
    pub outcome: Result<Received, NoResponse>,
    /// The time from the request to the outcome.
    pub took: Duration,
}
