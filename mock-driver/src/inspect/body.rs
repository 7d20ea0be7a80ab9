//! Reads the bodies of requests to the mock's own endpoints, within limits of size and time.

use super::EndpointError;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use lbcf_driver_sdk::wire;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;

/// The largest body, in bytes: identities and attributes are small.
pub(super) const LIMIT: usize = 64 << 10;
/// How long a body may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads a JSON object, whatever the content type of the request.
pub(super) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, EndpointError> {
    let body = timeout(TIMEOUT, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let message = format!("the body did not arrive within {TIMEOUT:?}");
        EndpointError::new(StatusCode::REQUEST_TIMEOUT, message)
    })?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("the body has more than {LIMIT} bytes");
            EndpointError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        status => EndpointError::new(status, rejection.body_text()),
    })?;
    let value = wire::from_slice(&body);
    value.map_err(|problem| EndpointError::new(StatusCode::BAD_REQUEST, problem.to_string()))
}
