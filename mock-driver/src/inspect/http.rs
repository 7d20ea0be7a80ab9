//! The state of the mock's own endpoints, bodies of requests to them, within limits of size and time, and
//! their responses.

use crate::cloud::Cloud;
use crate::differences::ClusterReader;
use crate::process::DriverProcess;
use crate::strict;
use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRef, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::LengthLimitError;
use lbcf_driver_sdk::wire;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The largest body, in bytes: identities and attributes are small.
const LIMIT: usize = 64 << 10;
/// The largest list of fault rules, in bytes: a thousand fit.
pub(super) const LIMIT_OF_RULES: usize = 1 << 20;
/// The largest state of a cloud, in bytes: some hundred thousand backends.
pub(super) const LIMIT_OF_STATE: usize = 64 << 20;
/// The limit of waiting for a body.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The state of the handlers, of which most need the cloud alone.
#[derive(Debug, Clone)]
pub(crate) struct Inspected {
    pub(crate) cloud: Cloud,
    pub(crate) process: DriverProcess,
    pub(crate) cluster: Option<Arc<dyn ClusterReader>>,
}

impl FromRef<Inspected> for Cloud {
    fn from_ref(inspected: &Inspected) -> Self {
        inspected.cloud.clone()
    }
}

/// The error of an endpoint, which is shown as `{"error":"…"}`.
#[derive(Debug)]
pub(super) struct EndpointError {
    status: StatusCode,
    message: String,
}

impl EndpointError {
    pub(super) fn new(status: StatusCode, message: impl ToString) -> Self {
        Self {
            status,
            message: message.to_string(),
        }
    }

    pub(super) fn bad(message: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn not_found(message: impl ToString) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl IntoResponse for EndpointError {
    fn into_response(self) -> Response {
        pretty(self.status, &json!({ "error": self.message }))
    }
}

/// A response with a JSON document.
pub(super) fn shown(value: &impl Serialize) -> Response {
    pretty(StatusCode::OK, value)
}

/// JSON with line breaks, for users.
fn pretty(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            let json = [(header::CONTENT_TYPE, "application/json")];
            (status, json, text + "\n").into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Reads a JSON object, whatever the content type of the request.
pub(super) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, EndpointError> {
    wire::from_slice(&bytes(request, LIMIT).await?).map_err(EndpointError::bad)
}

/// The same, and refuses unknown fields of types that do. An empty body is an object without fields.
pub(super) async fn read_strictly<T: DeserializeOwned>(
    request: Request,
) -> Result<T, EndpointError> {
    let value = match bytes(request, LIMIT).await?.trim_ascii() {
        b"" => json!({}),
        body => parsed(body)?,
    };
    strict::read(value).map_err(EndpointError::bad)
}

/// Reads any JSON up to a limit in bytes.
pub(super) async fn document(request: Request, limit: usize) -> Result<Value, EndpointError> {
    parsed(&bytes(request, limit).await?)
}

fn parsed(body: &[u8]) -> Result<Value, EndpointError> {
    serde_json::from_slice(body)
        .map_err(|error| EndpointError::bad(format!("the body is not JSON: {error}")))
}

async fn bytes(request: Request, limit: usize) -> Result<Bytes, EndpointError> {
    let Ok(body) = timeout(TIMEOUT, to_bytes(request.into_body(), limit)).await else {
        let message = format!("the body did not arrive within {TIMEOUT:?}");
        return Err(EndpointError::new(StatusCode::REQUEST_TIMEOUT, message));
    };
    body.map_err(|error| match error.into_inner() {
        error if error.is::<LengthLimitError>() => {
            let message = format!("the body has more than {limit} bytes");
            EndpointError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        error => EndpointError::bad(format!("the body cannot be read: {error}")),
    })
}
