//! Outcomes from `Result` and `Option`: a message for the user on the spot, the inner error for
//! the log.

use super::{NotSucc, Refusal};
use std::error::Error;
use std::time::Duration;

/// Says what an error, or a value that is not there, means for the hook. The message is what the
/// user reads; the error itself goes to the log only.
///
/// ```
/// use lbcf_driver_sdk::{NotSucc, OrOutcome, Refusal};
///
/// fn connect() -> std::io::Result<()> {
///     Err(std::io::Error::other("10.0.0.7: token 42 refused"))
/// }
///
/// fn ensure() -> Result<(), NotSucc> {
///     connect().or_fail("cannot reach the cloud")
/// }
/// let failed = ensure().unwrap_err();
/// assert_eq!(failed.message(), "cannot reach the cloud");
/// assert_eq!(failed.source().unwrap().to_string(), "10.0.0.7: token 42 refused");
///
/// fn validate(zone: Option<&str>) -> Result<&str, Refusal> {
///     zone.or_refuse("lbSpec.zone: missing: a zone such as \"a\" is needed")
/// }
/// assert!(validate(None).is_err());
/// ```
pub trait OrOutcome<T>: Sized {
    /// Or the operation failed.
    ///
    /// # Errors
    /// [`NotSucc::fail`] with the message.
    fn or_fail(self, message: impl Into<String>) -> Result<T, NotSucc>;

    /// Or the operation is not done yet, and is to be asked for again.
    ///
    /// # Errors
    /// [`NotSucc::running`] with the message.
    fn or_running(self, message: impl Into<String>) -> Result<T, NotSucc>;

    /// Or the decision is "no".
    ///
    /// # Errors
    /// [`Refusal`] with the message.
    fn or_refuse(self, message: impl Into<String>) -> Result<T, Refusal>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrOutcome<T> for Result<T, E> {
    fn or_fail(self, message: impl Into<String>) -> Result<T, NotSucc> {
        self.map_err(|error| NotSucc::fail(message).because(error))
    }

    fn or_running(self, message: impl Into<String>) -> Result<T, NotSucc> {
        self.map_err(|error| NotSucc::running(message).because(error))
    }

    fn or_refuse(self, message: impl Into<String>) -> Result<T, Refusal> {
        self.map_err(|error| Refusal::new(message).because(error))
    }
}

impl<T> OrOutcome<T> for Option<T> {
    fn or_fail(self, message: impl Into<String>) -> Result<T, NotSucc> {
        self.ok_or_else(|| NotSucc::fail(message))
    }

    fn or_running(self, message: impl Into<String>) -> Result<T, NotSucc> {
        self.ok_or_else(|| NotSucc::running(message))
    }

    fn or_refuse(self, message: impl Into<String>) -> Result<T, Refusal> {
        self.ok_or_else(|| Refusal::new(message))
    }
}

/// Names when to ask again, at the end of a chain.
///
/// ```
/// use lbcf_driver_sdk::{NotSucc, OrOutcome, RetryAfter};
/// use std::time::Duration;
///
/// fn address(pod_ip: Option<String>) -> Result<String, NotSucc> {
///     pod_ip.or_running("the pod has no address yet").retry_after(Duration::from_secs(2))
/// }
/// assert_eq!(address(None).unwrap_err().delay(), Some(Duration::from_secs(2)));
/// ```
pub trait RetryAfter: Sized {
    /// Asks the controller to wait at least this long where it did not succeed. See
    /// [`NotSucc::retry_after`].
    #[must_use]
    fn retry_after(self, delay: Duration) -> Self;
}

impl<T> RetryAfter for Result<T, NotSucc> {
    fn retry_after(self, delay: Duration) -> Self {
        self.map_err(|not_succ| not_succ.retry_after(delay))
    }
}
