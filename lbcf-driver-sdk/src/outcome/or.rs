//! Outcomes from `Result` and `Option`: a message for the user on the spot, the inner error for
//! the log.

use super::{HookError, Rejection};
use std::error::Error;
use std::time::Duration;

/// Says what an error, or a value that is not there, means for the hook. The message is what the
/// user reads; the error itself goes to the log only.
///
/// ```
/// use lbcf_driver_sdk::{HookError, OrOutcome, Rejection};
///
/// fn connect() -> std::io::Result<()> {
///     Err(std::io::Error::other("10.0.0.7: token 42 refused"))
/// }
///
/// fn ensure() -> Result<(), HookError> {
///     connect().or_fail("cannot reach the cloud")
/// }
/// let failed = ensure().unwrap_err();
/// assert_eq!(failed.message(), "cannot reach the cloud");
/// assert_eq!(failed.source().unwrap().to_string(), "10.0.0.7: token 42 refused");
///
/// fn validate(zone: Option<&str>) -> Result<&str, Rejection> {
///     zone.or_reject("lbSpec.zone: missing: a zone such as \"a\" is needed")
/// }
/// assert!(validate(None).is_err());
/// ```
pub trait OrOutcome<T>: Sized {
    /// Or the operation failed.
    ///
    /// # Errors
    /// [`HookError::fail`] with the message.
    fn or_fail(self, message: impl Into<String>) -> Result<T, HookError>;

    /// Or the operation is not done yet, and is to be asked for again.
    ///
    /// # Errors
    /// [`HookError::running`] with the message.
    fn or_running(self, message: impl Into<String>) -> Result<T, HookError>;

    /// Or the decision is "no".
    ///
    /// # Errors
    /// [`Rejection`] with the message.
    fn or_reject(self, message: impl Into<String>) -> Result<T, Rejection>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> OrOutcome<T> for Result<T, E> {
    fn or_fail(self, message: impl Into<String>) -> Result<T, HookError> {
        self.map_err(|error| HookError::fail(message).because(error))
    }

    fn or_running(self, message: impl Into<String>) -> Result<T, HookError> {
        self.map_err(|error| HookError::running(message).because(error))
    }

    fn or_reject(self, message: impl Into<String>) -> Result<T, Rejection> {
        self.map_err(|error| Rejection::new(message).because(error))
    }
}

impl<T> OrOutcome<T> for Option<T> {
    fn or_fail(self, message: impl Into<String>) -> Result<T, HookError> {
        self.ok_or_else(|| HookError::fail(message))
    }

    fn or_running(self, message: impl Into<String>) -> Result<T, HookError> {
        self.ok_or_else(|| HookError::running(message))
    }

    fn or_reject(self, message: impl Into<String>) -> Result<T, Rejection> {
        self.ok_or_else(|| Rejection::new(message))
    }
}

/// Names when to ask again, at the end of a chain.
///
/// ```
/// use lbcf_driver_sdk::{HookError, OrOutcome, RetryAfter};
/// use std::time::Duration;
///
/// fn address(pod_ip: Option<String>) -> Result<String, HookError> {
///     pod_ip.or_running("the pod has no address yet").retry_after(Duration::from_secs(2))
/// }
/// assert_eq!(address(None).unwrap_err().delay(), Some(Duration::from_secs(2)));
/// ```
pub trait RetryAfter: Sized {
    /// Asks the controller to wait at least this long where it did not succeed. See
    /// [`HookError::retry_after`].
    #[must_use]
    fn retry_after(self, delay: Duration) -> Self;
}

impl<T> RetryAfter for Result<T, HookError> {
    fn retry_after(self, delay: Duration) -> Self {
        self.map_err(|hook_error| hook_error.retry_after(delay))
    }
}
