//! One request to the driver and what came of it, as it is judged and shown.

use bytes::Bytes;
use http::HeaderMap;
use std::fmt;
use std::time::Duration;

/// What a request is, and so what may be expected of its answer in general.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As controllers send it: the WIRE checks judge its answer.
    Proper,
    /// Proper, but unusual: only the check that sent it judges whether there is a proper answer.
    Unusual,
    /// Not what the specification allows, or not a webhook call at all.
    Improper,
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
    /// The body.
    pub body: Bytes,
}

/// What came back, whole.
#[derive(Debug, Clone)]
pub struct Received {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// Why nothing whole came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// No connection came about.
    NotConnected(String),
    /// There was no whole answer in this time.
    TimedOut(Duration),
    /// The connection ended before the answer did.
    Closed(String),
    /// What came is no HTTP.
    NotHttp(String),
    /// The answer is longer than this number of bytes.
    TooLarge(usize),
    /// The check hung up, on purpose.
    HungUp,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected(problem) => write!(f, "no connection: {problem}"),
            Self::TimedOut(after) => write!(f, "no whole answer within {after:?}"),
            Self::Closed(problem) => write!(f, "the connection ended before the answer: {problem}"),
            Self::NotHttp(problem) => write!(f, "what came is no HTTP: {problem}"),
            Self::TooLarge(limit) => write!(f, "the answer is longer than {limit} bytes"),
            Self::HungUp => f.write_str("the check hung up, on purpose"),
        }
    }
}

/// A request and its outcome.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Its place among all exchanges of the run.
    pub sequence: u64,
    /// The id of the check that made it; nothing for the run's own calls.
    pub check: Option<&'static str>,
    /// The webhook that was called; nothing for other paths.
    pub webhook: Option<&'static str>,
    /// What the request is.
    pub kind: Kind,
    /// The request.
    pub sent: Sent,
    /// What came of it.
    pub outcome: Result<Received, NoAnswer>,
    /// How long that took.
    pub took: Duration,
}
