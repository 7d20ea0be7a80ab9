//! Errors that are answered on purpose.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::asked::Asked;

/// An error that a request is answered with, as a Kubernetes `Status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    code: u16,
    reason: Cow<'static, str>,
    /// Without one, what Kubernetes says of a conflict on the object.
    message: Option<Cow<'static, str>>,
    retry_after_seconds: Option<u32>,
}

impl Refusal {
    /// Any error: an HTTP status code of 400 or more, the reason that clients decide by, and words.
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

    /// 409: somebody else wrote in between.
    #[must_use]
    pub const fn conflict() -> Self {
        Self {
            code: 409,
            reason: Cow::Borrowed("Conflict"),
            message: None,
            retry_after_seconds: None,
        }
    }

    /// 410: what was asked for is forgotten.
    #[must_use]
    pub const fn expired() -> Self {
        Self::known(410, "Expired", "too old resource version: 1 (2)")
    }

    /// 429: the server is busy, and says when to come again.
    #[must_use]
    pub const fn too_many_requests(retry_after_seconds: u32) -> Self {
        Self::known(
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        )
        .retry_after(retry_after_seconds)
    }

    /// 500: something is broken.
    #[must_use]
    pub const fn internal_error() -> Self {
        let message = "Internal error occurred: a fault was injected";
        Self::known(500, "InternalError", message)
    }

    /// 503: the server cannot be had at the moment.
    #[must_use]
    pub const fn service_unavailable() -> Self {
        Self::known(
            503,
            "ServiceUnavailable",
            "the server is currently unable to handle the request",
        )
    }

    /// 504: it took too long.
    #[must_use]
    pub const fn timeout() -> Self {
        Self::known(
            504,
            "Timeout",
            "Timeout: request did not complete within requested timeout",
        )
    }

    /// Says when to come again, in the answer and in its `Retry-After` header.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// The `Status`.
    pub(super) fn status(&self, asked: &Asked<'_>) -> Value {
        let mut details = json!({});
        let message = match &self.message {
            Some(message) => message.clone(),
            None => {
                let mut qualified = asked.plural.to_owned();
                details = json!({"name": asked.name, "kind": asked.plural});
                if !asked.group.is_empty() {
                    details["group"] = Value::from(asked.group);
                    qualified = format!("{qualified}.{}", asked.group);
                }
                Cow::Owned(format!(
                    "Operation cannot be fulfilled on {qualified} {:?}: the object has been modified; please apply your changes to the latest version and try again",
                    asked.name
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

    /// The answer.
    pub(super) fn response(&self, asked: &Asked<'_>) -> Response {
        let mut response = Response::new(Body::from(self.status(asked).to_string()));
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
