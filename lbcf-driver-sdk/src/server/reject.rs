//! Answers as they go onto the wire, and the errors that are no answer of a driver.
//!
//! Only status 200 counts as a webhook's answer: "no", "failed" and "still running" are all 200
//! with a body that says so. Any other status means "that was no webhook call", and its body is
//! `{"error": "…"}` for the person who reads the controller's event.

use crate::webhook::ALL;
use axum::body::Bytes;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A status and a JSON body, cheap to hand to several calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Answer {
    /// A driver's answer.
    pub(super) fn ok(response: &impl Serialize) -> Self {
        match serde_json::to_vec(response) {
            Ok(body) => Self {
                status: StatusCode::OK,
                body: body.into(),
            },
            Err(error) => reject(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("the answer cannot be written as JSON: {error}"),
            ),
        }
    }

    /// What it takes to keep it.
    pub(super) fn size(&self) -> usize {
        self.body.len()
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        (self.status, [(header::CONTENT_TYPE, json)], self.body).into_response()
    }
}

/// An error that is no answer of the driver.
pub(super) fn reject(status: StatusCode, error: impl Into<String>) -> Answer {
    let body = serde_json::json!({ "error": error.into() });
    Answer {
        status,
        body: body.to_string().into(),
    }
}

/// 500, for those who waited for a hook that panicked.
pub(super) fn panicked(webhook: &str) -> Answer {
    reject(
        StatusCode::INTERNAL_SERVER_ERROR,
        format!("{webhook}: the driver has a defect and broke off; its log tells more"),
    )
}

/// 404, with what would have been found.
pub(super) async fn not_found(uri: Uri) -> Answer {
    let known: Vec<_> = ALL.iter().map(|webhook| webhook.name).collect();
    reject(
        StatusCode::NOT_FOUND,
        format!(
            "{}: no webhook has this path; the webhooks are {}",
            uri.path(),
            known.join(", ")
        ),
    )
}

/// 405; axum adds the `Allow` header.
pub(super) async fn wrong_method(method: axum::http::Method) -> Answer {
    reject(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{method}: webhooks are called with POST"),
    )
}
