//! Errors of calls, and of setting up connections.

use crate::causes::{BoxError, causes, chain};
use crate::connector::{AddressRefused, ConnectTimeout};
use crate::tls_problem::{self, TlsProblem};
use ::http::Uri;
use ::http::uri::Scheme;
use lbcf_driver_sdk::wire::DecodeError;
use lbcf_serving::tls::ClientTlsError;
use lbcf_serving::watched_file::FileError;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A call without a valid response of the driver.
///
/// The effect of the call is unknown, except that [`NotSent`](Self::NotSent) and errors with
/// [`is_connect`](Self::is_connect) had none. All operations of the specification may be called again.
///
/// ```
/// use lbcf_driver_client::CallError;
///
/// fn advice(error: &CallError) -> &'static str {
///     match error {
///         CallError::Tls { .. } => "check the certificates",
///         CallError::Status { status: 401 | 403, .. } => "check the token",
///         error if error.is_connect() => "is the driver running?",
///         error if error.is_timeout() => "is the driver slow, or the timeout short?",
///         _ => "see the driver's log",
///     }
/// }
/// # let _ = advice;
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The request cannot be created, or the driver's address is one that the client may not connect to.
    #[error("the call cannot be made: {}", chain(.0.as_ref()))]
    NotSent(#[source] BoxError),
    /// There is no connection, or it failed before the response was complete.
    #[error("cannot reach the driver: {}", chain(.0.as_ref()))]
    Unreachable(#[source] BoxError),
    /// The TLS handshake failed.
    #[error("cannot reach the driver: {problem}: {source}")]
    Tls {
        /// The kind of problem.
        problem: TlsProblem,
        /// The TLS library's error, with names and times.
        #[source]
        source: BoxError,
    },
    /// The response was not complete in time. The driver may still be running the hook.
    #[error("no response from the driver within {after:?}")]
    Timeout {
        /// The timeout that was set for the webhook or the call.
        after: Duration,
    },
    /// The response has another status than 200.
    #[error("the driver answered with HTTP status {status}, expected 200: {body}{}", Hint(.hint))]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The text of `{"error": "…"}`, at most 1 KiB without control characters; of another body its media type
        /// and length.
        body: String,
        /// The likely cause on the client's side.
        hint: Option<&'static str>,
    },
    /// The body does not follow the specification. The text of this error has nothing of the body, unlike the
    /// [`DecodeError`].
    #[error("the driver's response is malformed: {}", expectation(.0))]
    Malformed(DecodeError),
    /// The body exceeds the limit of the client.
    #[error("the driver's response has more than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Other responses have the memory for large ones; the call may be made again.
    #[error("other responses take the {limit} bytes of memory that all large ones share")]
    NoMemory {
        /// The memory of all responses of more than 64 KiB, in bytes.
        limit: usize,
    },
}

impl CallError {
    /// True if the call timed out, or connecting did, with
    /// [`HttpClientSettings::connect_timeout`](crate::HttpClientSettings::connect_timeout).
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Timeout { .. } => true,
            Self::Unreachable(error) => {
                causes(error.as_ref()).any(<dyn Error>::is::<ConnectTimeout>)
            }
            _ => false,
        }
    }

    /// True if connecting failed, so that the driver has not received the call.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        match self {
            // Under TLS 1.3 this includes errors after the client's side of the handshake.
            Self::Tls { .. } => true,
            Self::Unreachable(error) => error.is::<NoConnection>(),
            _ => false,
        }
    }

    /// The error of a request to this URL.
    pub(crate) fn of_request(url: &Uri, error: impl Into<BoxError>) -> Self {
        match Self::broken(error) {
            Self::Unreachable(source) if is_connect(source.as_ref()) => {
                let address = address(url);
                Self::Unreachable(Box::new(NoConnection { address, source }))
            }
            error => error,
        }
    }

    pub(crate) fn broken(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        let refused = causes(error.as_ref()).find_map(<dyn Error>::downcast_ref::<AddressRefused>);
        if let Some(refused) = refused {
            return Self::not_sent(refused.to_string());
        }
        match tls_problem::find(error.as_ref(), is_connect(error.as_ref())) {
            Some((problem, source)) => Self::Tls {
                problem,
                source: source.into(),
            },
            None => Self::Unreachable(error),
        }
    }

    pub(crate) fn not_sent(error: impl Into<BoxError>) -> Self {
        Self::NotSent(error.into())
    }
}

/// Connecting failed; names what the client connects to.
#[derive(Debug, thiserror::Error)]
#[error("{address}")]
struct NoConnection {
    address: String,
    #[source]
    source: BoxError,
}

/// Host and port, without the user and password that a URL may have.
fn address(url: &Uri) -> String {
    let host = url.host().unwrap_or_default();
    let is_tls = url.scheme() == Some(&Scheme::HTTPS);
    let port = url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    format!("{host}:{port}")
}

fn is_connect(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error
        .downcast_ref::<hyper_util::client::legacy::Error>()
        .is_some_and(hyper_util::client::legacy::Error::is_connect)
}

/// The expectation that a response does not meet, without its value: it may be another server's, which the user that
/// wrote the driver's URL must not read.
fn expectation(error: &DecodeError) -> String {
    match error {
        DecodeError::Field { field, problem } => match problem.rsplit_once(", expected ") {
            Some((_, expected)) => format!("{field}: expected {expected}"),
            None if problem.starts_with("missing field") => format!("{field}: {problem}"),
            None => format!("{field}: not a value that the specification allows"),
        },
        error => error.to_string(),
    }
}

struct Hint<'a>(&'a Option<&'static str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Why connections cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// A file cannot be read, or its contents cannot be used.
    #[error("{}: {problem}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The problem. Nothing of its contents is quoted.
        problem: String,
    },
    /// The token cannot be sent.
    #[error("{0}")]
    Token(&'static str),
    /// There is no CA to trust: none is configured, and the system has none.
    #[error("the system's root certificates cannot be used: {0}")]
    SystemRoots(String),
    /// The TLS library's error.
    #[error("setting up TLS: {0}")]
    Tls(String),
}

impl From<FileError> for HttpClientError {
    fn from(error: FileError) -> Self {
        let (path, problem) = match error {
            FileError::Read { path, source } => (path, source.to_string()),
            FileError::Contents { path, problem } => (path, problem),
        };
        Self::File { path, problem }
    }
}

impl From<ClientTlsError> for HttpClientError {
    fn from(error: ClientTlsError) -> Self {
        match error {
            ClientTlsError::File(error) => error.into(),
            ClientTlsError::SystemRoots(reason) => Self::SystemRoots(reason),
            ClientTlsError::Tls(error) => Self::Tls(error.to_string()),
        }
    }
}
