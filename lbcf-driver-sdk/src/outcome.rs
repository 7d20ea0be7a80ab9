//! How a hook says what came of it.
//!
//! The wire knows three ends of an operation (`Succ`, `Fail`, `Running`) and two of a decision
//! (yes, no). In Rust the good end is `Ok`, and everything else is one closed type: [`NotSucc`]
//! for operations, [`Refusal`] for decisions. Both are made from any error by `?`, so a driver's
//! own errors need no mapping; like `anyhow::Error`, they are therefore no `std::error::Error`
//! themselves.
//!
//! ```
//! use lbcf_driver_sdk::NotSucc;
//! use std::time::Duration;
//!
//! fn port(text: &str) -> Result<u16, NotSucc> {
//!     Ok(text.parse::<u16>()?) // becomes `Fail` with the error's text
//! }
//! assert_eq!(port("8o").unwrap_err().message(), "invalid digit found in string");
//!
//! let later = NotSucc::running("creating listener").retry_after(Duration::from_secs(3));
//! assert_eq!(later.delay(), Some(Duration::from_secs(3)));
//! ```

use crate::webhook::Status;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// An operation did not succeed: it failed, or it is still running.
#[derive(Debug)]
pub struct NotSucc {
    status: Status,
    message: String,
    delay: Option<Duration>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl NotSucc {
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

    /// Asks the controller to wait at least this long. The wire knows whole seconds: fractions
    /// are rounded up.
    #[must_use]
    pub const fn retry_after(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }

    /// Adds the error behind it, which goes to the log and not to the user.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// `Fail` or `Running`.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
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

impl<E: Error + Send + Sync + 'static> From<E> for NotSucc {
    fn from(error: E) -> Self {
        Self::fail(error.to_string()).because(error)
    }
}

/// A decision is "no".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    message: String,
}

impl Refusal {
    /// Says no, and why: name the field, its value and what is allowed.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// The refusal of a driver that has no opinion on pods.
    pub(crate) fn not_judged() -> Self {
        Self::new("this driver does not judge pods (judgePodDeregister)")
    }

    /// What the user reads.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl<E: Error> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

impl fmt::Display for NotSucc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.status, self.message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
