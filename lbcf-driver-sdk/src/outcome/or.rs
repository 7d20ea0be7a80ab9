//! Outcomes from `Result` and `Option`, with a message for the user.

use super::{HookError, Rejection};
use std::error::Error;
use std::time::Duration;

/// Converts an error or a missing value to an outcome. The message is for the user; the error itself
/// is only logged.
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
    /// Converts to a failure of the operation.
    ///
    /// # Errors
    /// [`HookError::fail`] with the message.
    fn or_fail(self, message: impl Into<String>) -> Result<T, HookError>;

    /// Converts to an operation that is still running.
    ///
    /// # Errors
    /// [`HookError::running`] with the message.
    fn or_running(self, message: impl Into<String>) -> Result<T, HookError>;

    /// Converts to a rejection.
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
        self.map_err(|error| Rejection {
            reason: None,
            ..Rejection::new(message).because(error)
        })
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

/// Sets the retry delay of a `Result`'s error.
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
    /// See [`HookError::retry_after`]; without effect on success.
    #[must_use]
    fn retry_after(self, delay: Duration) -> Self;
}

impl<T> RetryAfter for Result<T, HookError> {
    fn retry_after(self, delay: Duration) -> Self {
        self.map_err(|hook_error| hook_error.retry_after(delay))
    }
}
