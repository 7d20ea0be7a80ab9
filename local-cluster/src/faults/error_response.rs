//! Error responses of injected faults.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::request::RequestInfo;

/// An error response with a Kubernetes `Status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorResponse {
    code: u16,
    reason: Cow<'static, str>,
    /// `None` for the message of a conflict, which names the object.
    message: Option<Cow<'static, str>>,
    retry_after_seconds: Option<u32>,
}

impl ErrorResponse {
    /// Any error: an HTTP status code (400 to 599), the machine-readable reason and a message.
    pub fn new(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.clamp(400, 599),
            reason: Cow::Owned(reason.into()),
            message: Some(Cow::Owned(message.into())),
            retry_after_seconds: None,
        }
    }

    const fn known(code: u16, reason: &'static str, message: &'static str) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
            message: Some(Cow::Borrowed(message)),
            retry_after_seconds: None,
        }
    }

    /// 409 `Conflict`: another client has written the object.
    #[must_use]
    pub const fn conflict() -> Self {
        Self {
            code: 409,
            reason: Cow::Borrowed("Conflict"),
            message: None,
            retry_after_seconds: None,
        }
    }

    /// 410 `Expired`: the resource version is too old.
    #[must_use]
    pub const fn expired() -> Self {
        Self::known(410, "Expired", "too old resource version: 1 (2)")
    }

    /// 429 `TooManyRequests`, with the time after which the client may retry.
    #[must_use]
    pub const fn too_many_requests(retry_after_seconds: u32) -> Self {
        Self::known(
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        )
        .retry_after(retry_after_seconds)
    }

    /// 500 `InternalError`, as for a failure of the storage.
    #[must_use]
    pub const fn internal_error() -> Self {
        let message = "Internal error occurred: a fault was injected";
        Self::known(500, "InternalError", message)
    }

    /// 503 `ServiceUnavailable`, as for an overloaded server.
    #[must_use]
    pub const fn service_unavailable() -> Self {
        Self::known(
            503,
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        )
    }

    /// 504 `Timeout`, as for a request that took too long.
    #[must_use]
    pub const fn timeout() -> Self {
        Self::known(
            504,
            "Timeout",
            "Timeout: request did not complete within requested timeout",
        )
    }

    /// Sets `details.retryAfterSeconds` and the `Retry-After` header.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    pub(super) fn status(&self, request: &RequestInfo<'_>) -> Value {
        let mut details = json!({});
        let message = match &self.message {
            Some(message) => message.clone(),
            None => {
                let mut qualified = request.plural.to_owned();
                details = json!({"name": request.name, "kind": request.plural});
                if !request.group.is_empty() {
                    details["group"] = Value::from(request.group);
                    qualified = format!("{qualified}.{}", request.group);
                }
                Cow::Owned(format!(
                    "Operation cannot be fulfilled on {qualified} {:?}: the object has been modified; please apply your changes to the latest version and try again",
                    request.name
                ))
            }
        };
        if let Some(seconds) = self.retry_after_seconds {
            details["retryAfterSeconds"] = Value::from(seconds);
        }
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": self.reason, "details": details, "code": self.code,
        })
    }

    pub(super) fn response(&self, request: &RequestInfo<'_>) -> Response {
        let mut response = Response::new(Body::from(self.status(request).to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
