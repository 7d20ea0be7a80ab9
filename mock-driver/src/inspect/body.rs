//! Reading what is sent to the mock's own endpoints, within limits of size and time.

use super::Refused;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use lbcf_driver_sdk::wire;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;

/// How large a body may be, in bytes: an identity and attributes are small.
pub(super) const LIMIT: usize = 64 << 10;
/// How long it may take to arrive.
const TIME: Duration = Duration::from_secs(10);

/// The JSON object that a request carries, whatever it says that it carries.
pub(super) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, Refused> {
    let body = timeout(TIME, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let message = format!("the body did not arrive within {TIME:?}");
        Refused::new(StatusCode::REQUEST_TIMEOUT, message)
    })?;
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("the body has more than {LIMIT} bytes");
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        status => Refused::new(status, rejection.body_text()),
    })?;
    let value = wire::from_slice(&body);
    value.map_err(|problem| Refused::new(StatusCode::BAD_REQUEST, problem.to_string()))
}
