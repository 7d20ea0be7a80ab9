//! Why a call got no answer.

use super::connector::ConnectTimeout;
use super::tls_problem::{self, TlsProblem};
use crate::wire::DecodeError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// A call that got no answer.
///
/// What the driver did is unknown, but for [`NotSent`](Self::NotSent) and where
/// [`is_connect`](Self::is_connect) says that no connection came about: there it did nothing. The
/// specification's operations may all be called again.
///
/// ```
/// use lbcf_driver_sdk::client::CallError;
///
/// fn advice(error: &CallError) -> &'static str {
///     match error {
///         CallError::Tls { .. } => "look at the certificates",
///         CallError::Status { status: 401 | 403, .. } => "look at the token",
///         error if error.is_connect() => "is the driver there?",
///         error if error.is_timeout() => "is the driver slow, or the timeout short?",
///         _ => "look into the driver's log",
///     }
/// }
/// # let _ = advice;
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There was nothing to send: the request cannot be written as one.
    #[error("the call cannot be made: {}", Chain(.0.as_ref()))]
    NotSent(#[source] BoxError),
    /// No connection, or it broke before the answer was there.
    #[error("cannot reach the driver: {}", Chain(.0.as_ref()))]
    Unreachable(#[source] BoxError),
    /// The driver and the client do not trust each other, or one of them speaks no TLS.
    #[error("cannot reach the driver: {problem}: {source}")]
    Tls {
        /// What is wrong.
        problem: TlsProblem,
        /// The same as the TLS library says it, with names and times.
        #[source]
        source: BoxError,
    },
    /// The answer was not there in time. The driver may still be at work.
    #[error("no answer from the driver within {after:?}")]
    Timeout {
        /// How long it was waited for.
        after: Duration,
    },
    /// The driver answered with another status than 200.
    #[error("the driver answered with HTTP status {status}, only 200 is an answer: {body}{}", Hint(.hint))]
    Status {
        /// The status code.
        status: u16,
        /// What the driver says: the text of `{"error": "…"}`, or else the beginning of the body;
        /// at most 1 KiB, and without control characters.
        body: String,
        /// What may be the cause on this side.
        hint: Option<&'static str>,
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

impl CallError {
    /// Whether something was waited for in vain: the answer, or with
    /// [`HttpClientBuilder::connect_timeout`](super::HttpClientBuilder::connect_timeout) the
    /// connection.
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

    /// Whether no connection came about, so that the driver cannot have seen the call.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        match self {
            // Also after the handshake as this side sees it, which ends first under TLS 1.3.
            Self::Tls { .. } => true,
            Self::Unreachable(error) => is_connect(error.as_ref()),
            _ => false,
        }
    }

    /// Of a connection that failed.
    pub(super) fn broken(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        match tls_problem::find(error.as_ref(), is_connect(error.as_ref())) {
            Some((problem, source)) => Self::Tls {
                problem,
                source: source.into(),
            },
            None => Self::Unreachable(error),
        }
    }

    pub(super) fn not_sent(error: impl Into<BoxError>) -> Self {
        Self::NotSent(error.into())
    }
}

fn is_connect(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error
        .downcast_ref::<hyper_util::client::legacy::Error>()
        .is_some_and(hyper_util::client::legacy::Error::is_connect)
}

/// An error and what is behind it. What an [`std::io::Error`] was made of is behind it, too, which
/// its source does not say.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        match wrapped {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
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

/// A hint behind what it belongs to.
struct Hint<'a>(&'a Option<&'static str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}
