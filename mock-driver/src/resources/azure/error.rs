//! Why the cloud refuses a request, by the cloud's own codes.

/// A request that was processed and refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct AzureError {
    /// The status code of HTTP.
    pub status: u16,
    /// The cloud's code, such as `PublicIPAddressCannotBeDeleted`.
    pub code: &'static str,
    /// Which resource, and why.
    pub message: String,
}

impl AzureError {
    pub(super) fn bad_request(code: &'static str, message: String) -> Self {
        Self {
            status: 400,
            code,
            message,
        }
    }

    pub(super) fn not_found(kind: &str, id: &impl ToString) -> Self {
        Self {
            status: 404,
            code: "ResourceNotFound",
            message: format!("{kind} {} does not exist", id.to_string()),
        }
    }

    pub(super) fn stale(kind: &str, id: &impl ToString) -> Self {
        Self {
            status: 412,
            code: "PreconditionFailed",
            message: format!("{kind} {} has changed since it was read", id.to_string()),
        }
    }

    pub(super) fn busy(kind: &str, id: &impl ToString) -> Self {
        Self {
            status: 409,
            code: "AnotherOperationInProgress",
            message: format!("{kind} {} is being changed", id.to_string()),
        }
    }

    /// True if the resource has changed since it was read.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.status == 412
    }

    /// True if it passes by itself: another change has not been completed.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(
            self.code,
            "AnotherOperationInProgress" | "ReferencedResourceNotProvisioned"
        )
    }
}
