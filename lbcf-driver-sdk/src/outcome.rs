#![doc = include_str!("docs/modules/outcome.md")]

mod or;

pub use or::{OrOutcome, RetryAfter};

use crate::webhook::{Reason, Status};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Shared, because one outcome may be the response to several calls.
type Source = Arc<dyn Error + Send + Sync>;

/// The outcome of an operation that did not succeed: it failed, or it is still running.
#[derive(Debug, Clone)]
pub struct HookError {
    status: Status,
    message: String,
    delay: Option<Duration>,
    reason: Option<Reason>,
    source: Option<Source>,
}

impl HookError {
    /// A failure. The controller retries with backoff, unless
    /// [`retry_after`](Self::retry_after) sets a delay. The message is for the user.
    pub fn fail(message: impl Into<String>) -> Self {
        Self {
            status: Status::Fail,
            message: message.into(),
            delay: None,
            reason: None,
            source: None,
        }
    }

    /// A failure of a class that controllers know. The message is for the user.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason: Some(reason),
            ..Self::fail(message)
        }
    }

    /// The operation is still running, and the controller calls again. The message is for the user.
    pub fn running(message: impl Into<String>) -> Self {
        Self {
            status: Status::Running,
            message: message.into(),
            delay: None,
            reason: None,
            source: None,
        }
    }

    pub(crate) fn not_listed() -> Self {
        Self::fail("this driver does not list backends (listBackends)")
    }

    /// Sets the least time until the next call, for failures and for running operations. Rounded up
    /// to whole seconds.
    #[must_use]
    pub const fn retry_after(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Adds the cause, an error or text, which is logged and not sent to the user.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// The class of the failure, if it has one.
    #[must_use]
    pub const fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// Either `Fail` or `Running`, never `Succ`.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// True if the status is `Running`.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.status, Status::Running)
    }

    /// The message for the user.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The least time until the next call; `None` leaves it to the controller.
    #[must_use]
    pub const fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// The cause, for the log.
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

/// For checks that validations and operations share: a rejection is a failure with the same message. It has the
/// reason [`InvalidArgument`](Reason::InvalidArgument) if the author rejected, and not where an error of the cloud
/// did, which may pass.
impl From<Rejection> for HookError {
    fn from(rejection: Rejection) -> Self {
        Self {
            reason: rejection.reason,
            source: rejection.source,
            ..Self::fail(rejection.message)
        }
    }
}

/// The decision "no", with the reason.
#[derive(Debug, Clone)]
pub struct Rejection {
    message: String,
    /// That of the failure where an operation rejects.
    reason: Option<Reason>,
    source: Option<Source>,
}

impl Rejection {
    /// A rejection with a message for the user: name the field, its value and the allowed values.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            reason: Some(Reason::InvalidArgument),
            source: None,
        }
    }

    pub(crate) fn not_judged() -> Self {
        Self::new("this driver does not judge pods (judgePodDeregister)")
    }

    /// Adds the cause, an error or text, which is logged and not sent to the user.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// The message for the user.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The cause, for the log.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.source.as_deref()
    }
}

/// Compares only the messages, because inner errors cannot be compared.
impl PartialEq for Rejection {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

impl Eq for Rejection {}

/// A rejection with the error's own text as message: see
/// [who reads what](crate::outcome#who-reads-what).
impl<E: Error + Send + Sync + 'static> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self {
            reason: None,
            ..Self::new(error.to_string()).because(error)
        }
    }
}

/// For requests to the cloud that validations and operations share. A decision cannot wait, so
/// `Running` is a rejection that asks to try again later.
impl From<HookError> for Rejection {
    fn from(hook_error: HookError) -> Self {
        let message = match hook_error.status {
            Status::Running => format!("{}, please try again later", hook_error.message),
            Status::Succ | Status::Fail => hook_error.message,
        };
        Self {
            message,
            reason: hook_error.reason,
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

/// An error with its sources, on one line.
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
