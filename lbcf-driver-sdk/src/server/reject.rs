//! Responses to calls, and those that are not a driver's.
//!
//! A webhook's response has status 200, also for "no", "failed" and "still running", which its body
//! expresses. Any other status means that the call was not a proper webhook call, and its body is
//! `{"error": "…"}` for the reader of the controller's event.

use super::outcome::Outcome;
use crate::webhook::ALL;
use axum::body::Bytes;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// A status and a JSON body, cheap to clone for several calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookResponse {
    status: StatusCode,
    body: Bytes,
    outcome: Outcome,
}

impl HookResponse {
    /// The driver's response as JSON.
    pub(super) fn ok(written: serde_json::Result<Vec<u8>>, outcome: Outcome) -> Self {
        match written {
            Ok(body) => Self {
                status: StatusCode::OK,
                body: body.into(),
                outcome,
            },
            Err(error) => reject(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("the response cannot be written as JSON: {error}"),
            ),
        }
    }

    pub(super) const fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// In bytes, without status and headers.
    pub(super) fn size(&self) -> usize {
        self.body.len()
    }
}

impl IntoResponse for HookResponse {
    fn into_response(self) -> Response {
        let json = HeaderValue::from_static("application/json");
        let mut response = Response::new(self.body.into());
        *response.status_mut() = self.status;
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

/// An error that is not the driver's response.
pub(super) fn reject(status: StatusCode, error: impl Into<String>) -> HookResponse {
    let body = serde_json::json!({ "error": error.into() });
    HookResponse {
        status,
        body: body.to_string().into(),
        outcome: if status.is_client_error() {
            Outcome::Rejected
        } else {
            Outcome::Panicked
        },
    }
}

/// 500, for calls whose hook panicked.
pub(super) fn panicked(webhook: &str) -> HookResponse {
    reject(
        StatusCode::INTERNAL_SERVER_ERROR,
        format!("{webhook}: the driver panicked, see its log"),
    )
}

/// 404, with the names of the webhooks.
pub(super) fn not_found(uri: &Uri) -> HookResponse {
    let names: Vec<_> = ALL.iter().map(|webhook| webhook.name).collect();
    reject(
        StatusCode::NOT_FOUND,
        format!(
            "{}: no webhook has this path; the webhooks are {}",
            uri.path(),
            names.join(", ")
        ),
    )
}

/// 405; axum adds the `Allow` header.
pub(super) fn wrong_method(method: &Method) -> HookResponse {
    reject(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{method}: webhooks are called with POST"),
    )
}
