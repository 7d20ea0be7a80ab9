//! Reads the bodies of requests to the mock's own endpoints, within limits of size and time.

use super::EndpointError;
use crate::strict;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use lbcf_driver_sdk::wire;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::time::Duration;
use tokio::time::timeout;

/// The largest body, in bytes: identities and attributes are small.
pub(super) const LIMIT: usize = 64 << 10;
/// The largest document, in bytes: a thousand fault rules fit.
pub(super) const LONG_LIMIT: usize = 1 << 20;
/// The largest state of a cloud, in bytes: some hundred thousand backends.
pub(super) const LONGEST: usize = 64 << 20;
/// How long a body may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a JSON object, whatever the content type of the request.
pub(super) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, EndpointError> {
    wire::from_slice(&bytes(request, LIMIT).await?).map_err(bad)
}

/// The same, and refuses unknown fields of types that do. An empty body is an object without fields.
pub(super) async fn read_strictly<T: DeserializeOwned>(
    request: Request,
) -> Result<T, EndpointError> {
    let value = match bytes(request, LIMIT).await?.trim_ascii() {
        b"" => Value::Object(Map::new()),
        body => parsed(body)?,
    };
    strict::read(value).map_err(bad)
}

/// Reads any JSON, for routes with the long limit.
pub(super) async fn json(request: Request) -> Result<Value, EndpointError> {
    parsed(&bytes(request, LONG_LIMIT).await?)
}

/// Reads any JSON, for routes with the longest limit.
pub(super) async fn document(request: Request) -> Result<Value, EndpointError> {
    parsed(&bytes(request, LONGEST).await?)
}

fn parsed(body: &[u8]) -> Result<Value, EndpointError> {
    serde_json::from_slice(body).map_err(|error| bad(format!("the body is not JSON: {error}")))
}

fn bad(problem: impl ToString) -> EndpointError {
    EndpointError::new(StatusCode::BAD_REQUEST, problem.to_string())
}

async fn bytes(request: Request, limit: usize) -> Result<Bytes, EndpointError> {
    let body = timeout(TIMEOUT, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let message = format!("the body did not arrive within {TIMEOUT:?}");
        EndpointError::new(StatusCode::REQUEST_TIMEOUT, message)
    })?;
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("the body has more than {limit} bytes");
            EndpointError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        status => EndpointError::new(status, rejection.body_text()),
    })
}
