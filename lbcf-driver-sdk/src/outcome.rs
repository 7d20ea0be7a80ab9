//! How a hook says what came of it.
//!
//! The wire knows three ends of an operation (`Succ`, `Fail`, `Running`) and two of a decision
//! (yes, no). In Rust the good end is `Ok`, and everything else is one closed type: [`HookError`]
//! for operations, [`Rejection`] for decisions. Both are made from any error by `?`, so a driver's
//! own errors need no mapping; like `anyhow::Error`, they are therefore no `std::error::Error`
//! themselves.
//!
//! ```
//! use lbcf_driver_sdk::{HookError, OrOutcome, RetryAfter};
//! use std::time::Duration;
//!
//! fn port(text: &str) -> Result<u16, HookError> {
//!     Ok(text.parse::<u16>()?) // becomes `Fail` with the error's text
//! }
//! assert_eq!(port("8o").unwrap_err().message(), "invalid digit found in string");
//!
//! fn listener(text: &str) -> Result<u16, HookError> {
//!     // The user reads this, the log has the parser's words.
//!     text.parse().or_fail(format!("{text:?} names no listener"))
//! }
//! assert_eq!(listener("8o").unwrap_err().message(), "\"8o\" names no listener");
//!
//! fn address(ip: Option<&str>) -> Result<&str, HookError> {
//!     ip.or_running("the pod has no address yet").retry_after(Duration::from_secs(3))
//! }
//! assert_eq!(address(None).unwrap_err().delay(), Some(Duration::from_secs(3)));
//! ```
//!
//! # Which one when
//!
//! | what happened | say | what the controller does |
//! |---|---|---|
//! | it is done, or it was done already | `Ok(…)` | goes on |
//! | it is under way, or waits for something that comes by itself | [`HookError::running`] | asks again, soon and evenly; no alarm |
//! | it went wrong, or somebody has to do something first | [`HookError::fail`] | tries again at growing intervals; a warning that the user reads |
//! | a wish that can never be fulfilled, in a hook that validates | [`Rejection`] | the user's object is not stored |
//! | what is to go does not exist | `Ok(())` | goes on |
//!
//! * A cloud that throttles is `Fail` with [`retry_after`](HookError::retry_after): the time that it
//!   names, if it names one. A cloud that cannot be reached is `Fail`.
//! * In a hook that validates, what cannot be known right now (the cloud does not answer) is
//!   better let through: the operation that follows tells, and is tried again; the user's
//!   `kubectl apply` is not.
//! * Creating that takes longer than a call is `Running` until it is done: the `jobs`
//!   module (feature `server`) keeps the books.
//!
//! # Who reads what
//!
//! The message goes onto the wire and into events and conditions: everybody who may read the
//! user's objects reads it. Name the field, its value and what is allowed. The error behind it,
//! given by [`because`](HookError::because), goes to the driver's log and nowhere else.
//!
//! What `?` makes of an error has the error's own text as message. That is right for errors made
//! for users, such as this crate's [`FieldError`](crate::fields::FieldError); a cloud client's
//! error may quote a URL with a token in it, or a whole page of HTML. Give those a message of your
//! own with [`OrOutcome`], or let the error type of your client decide once and for all: one that
//! is *not* a `std::error::Error` can say itself what it becomes.
//!
//! ```
//! use lbcf_driver_sdk::HookError;
//! use std::time::Duration;
//!
//! // No `impl Error for CloudError`, or the SDK's own conversion would apply.
//! enum CloudError {
//!     Busy,
//!     Denied { code: String, request: String },
//! }
//!
//! impl From<CloudError> for HookError {
//!     fn from(error: CloudError) -> Self {
//!         match error {
//!             CloudError::Busy => Self::fail("the cloud is busy").retry_after(Duration::from_secs(30)),
//!             CloudError::Denied { code, request } => Self::fail(format!("the cloud says no: {code}"))
//!                 .because(format!("request was {request}")),
//!         }
//!     }
//! }
//!
//! fn create() -> Result<(), HookError> {
//!     Err(CloudError::Denied { code: "QuotaExceeded".into(), request: "token=42".into() })?
//! }
//! assert_eq!(create().unwrap_err().message(), "the cloud says no: QuotaExceeded");
//! ```

mod or;

pub use or::{OrOutcome, RetryAfter};

use crate::webhook::Status;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What is behind an outcome, for the log. Shared, since one outcome may answer several calls.
type Source = Arc<dyn Error + Send + Sync>;

/// An operation did not succeed: it failed, or it is still running.
#[derive(Debug, Clone)]
pub struct HookError {
    status: Status,
    message: String,
    delay: Option<Duration>,
    source: Option<Source>,
}

impl HookError {
    /// It failed. The controller calls again, at growing intervals unless
    /// [`retry_after`](Self::retry_after) names one. The message is for the user.
    pub fn fail(message: impl Into<String>) -> Self {
        Self {
            status: Status::Fail,
            message: message.into(),
            delay: None,
            source: None,
        }
    }

    /// It is under way. The controller calls again to ask. The message is for the user.
    pub fn running(message: impl Into<String>) -> Self {
        Self {
            status: Status::Running,
            message: message.into(),
            delay: None,
            source: None,
        }
    }

    /// Asks the controller to wait at least this long, for a failure as well as for what still
    /// runs. The wire knows whole seconds: fractions are rounded up.
    #[must_use]
    pub const fn retry_after(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Adds the error behind it, which goes to the log and not to the user. Text will do.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// `Fail` or `Running`.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Whether it is still running.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.status, Status::Running)
    }

    /// What the user reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How long the controller shall wait at least.
    #[must_use]
    pub const fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// The error behind it, for the log.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.source.as_deref()
    }
}

/// A failure with the error's own text as message: see
/// [who reads what](crate::outcome#who-reads-what).
impl<E: Error + Send + Sync + 'static> From<E> for HookError {
    fn from(error: E) -> Self {
        Self::fail(error.to_string()).because(error)
    }
}

/// For a check that validating and working hooks share: what is refused in the first fails in the
/// second, with the same words.
impl From<Rejection> for HookError {
    fn from(rejection: Rejection) -> Self {
        Self {
            status: Status::Fail,
            message: rejection.message,
            delay: None,
            source: rejection.source,
        }
    }
}

/// A decision is "no".
#[derive(Debug, Clone)]
pub struct Rejection {
    message: String,
    source: Option<Source>,
}

impl Rejection {
    /// Says no, and why: name the field, its value and what is allowed.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// The rejection of a driver that has no opinion on pods.
    pub(crate) fn not_judged() -> Self {
        Self::new("this driver does not judge pods (judgePodDeregister)")
    }

    /// Adds the error behind it, which goes to the log and not to the user. Text will do.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// What the user reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error behind it, for the log.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.source.as_deref()
    }
}

/// Refusals are equal when the user reads the same.
impl PartialEq for Rejection {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

impl Eq for Rejection {}

/// A "no" with the error's own text: see [who reads what](crate::outcome#who-reads-what).
impl<E: Error + Send + Sync + 'static> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self::new(error.to_string()).because(error)
    }
}

/// For a question to the cloud that validating and working hooks share. A decision cannot wait,
/// so "not yet" is a "no" for now.
impl From<HookError> for Rejection {
    fn from(hook_error: HookError) -> Self {
        let message = match hook_error.status {
            Status::Running => format!("{}, please try again later", hook_error.message),
            Status::Succ | Status::Fail => hook_error.message,
        };
        Self {
            message,
            source: hook_error.source,
        }
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.status, self.message)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Errors with what is behind them, for one line of a log.
#[cfg(feature = "server")]
pub(crate) fn chain(error: &(dyn Error + Send + Sync)) -> String {
    let mut chain = error.to_string();
    let mut deeper = error.source();
    while let Some(error) = deeper {
        chain = format!("{chain}: {error}");
        deeper = error.source();
    }
    chain
}

#[cfg(test)]
mod tests;
