//! Reading a request's body within limits of size, time and memory.

use super::reject::{HookResponse, reject};
use axum::body::Body;
use axum::http::StatusCode;
use lbcf_serving::body::{BodyBudget, BodyLimits, ReadBodyError, ReceivedBody};
use tokio::time::Instant;

/// The part of a body that is too large which is read and discarded, in bytes.
const DISCARDED: usize = 16 << 20;

/// The memory, in bytes, of all bodies of more than 64 KiB that arrive, or whose hooks wait or run.
const MEMORY: usize = 64 << 20;

/// The memory of an entry of a map of strings, in bytes. Kubernetes' objects stay text.
const ENTRY: usize = 128;

/// The memory for bodies of which each may have so many bytes.
pub(super) fn budget(limit: usize) -> BodyBudget {
    BodyBudget::new(MEMORY.max(limit), ENTRY)
}

/// The whole body, if it has at most `limit` bytes and arrives by `until`.
pub(super) async fn read(
    body: Body,
    limit: usize,
    until: Instant,
    budget: &BodyBudget,
) -> Result<ReceivedBody, HookResponse> {
    let limits = BodyLimits {
        bytes: limit,
        discarded: DISCARDED,
        until,
    };
    let received = lbcf_serving::body::read(body, limits, Some(budget)).await;
    received.map_err(|error| match error {
        ReadBodyError::TooLarge => reject(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body has more than {limit} bytes, or too many values"),
        ),
        ReadBodyError::NoMemory => reject(
            StatusCode::SERVICE_UNAVAILABLE,
            "other requests have the memory for large bodies",
        ),
        ReadBodyError::OutOfTime => reject(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time",
        ),
        ReadBodyError::Broken(error) => reject(
            StatusCode::BAD_REQUEST,
            format!("the body was cut off: {error}"),
        ),
    })
}
