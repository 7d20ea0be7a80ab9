//! Answers as they go onto the wire, and the errors that are no answer of a driver.
//!
//! Only status 200 counts as a webhook's answer: "no", "failed" and "still running" are all 200
//! with a body that says so. Any other status means "that was no webhook call", and its body is
//! `{"error": "…"}` for the person who reads the controller's event.

use super::metrics::Outcome;
use crate::webhook::ALL;
use axum::body::Bytes;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// A status and a JSON body, cheap to hand to several calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    status: StatusCode,
    body: Bytes,
    outcome: Outcome,
}

impl Answer {
    /// A driver's answer, and what it says.
    pub(super) fn ok(response: &impl Serialize, outcome: Outcome) -> Self {
        match serde_json::to_vec(response) {
            Ok(body) => Self {
                status: StatusCode::OK,
                body: body.into(),
                outcome,
            },
            Err(error) => reject(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("the answer cannot be written as JSON: {error}"),
            ),
        }
    }

    pub(super) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) const fn outcome(&self) -> Outcome {
        self.outcome
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
        outcome: if status.is_client_error() {
            Outcome::Rejected
        } else {
            Outcome::Panicked
        },
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
pub(super) fn not_found(uri: &Uri) -> Answer {
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
pub(super) fn wrong_method(method: &Method) -> Answer {
    reject(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{method}: webhooks are called with POST"),
    )
}
