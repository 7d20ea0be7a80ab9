//! Reading a request's body within limits of size and time.

use super::reject::{HookResponse, reject};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tokio::time::Instant;

/// The part of a body that is too large which is read and discarded, in bytes, so that a client that
/// only reads after sending receives the error and not a closed connection.
const DISCARD: usize = 16 << 20;

/// The whole body, if it has at most `limit` bytes and arrives by `deadline`.
pub(super) async fn read(
    body: Body,
    limit: usize,
    deadline: Instant,
) -> Result<Bytes, HookResponse> {
    let mut whole = pin!(collect(body, limit));
    // Most bodies are there already, and need no timer.
    if let Poll::Ready(result) = poll_fn(|context| Poll::Ready(whole.as_mut().poll(context))).await
    {
        return result;
    }
    match tokio::time::timeout_at(deadline, whole).await {
        Ok(result) => result,
        Err(_) => Err(reject(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive in time",
        )),
    }
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, HookResponse> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut whole = Vec::with_capacity(announced.min(limit));
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            reject(
                StatusCode::BAD_REQUEST,
                format!("the body was cut off: {error}"),
            )
        })?;
        let Ok(data) = frame.into_data() else {
            continue; // trailers
        };
        length = length.saturating_add(data.len());
        if length <= limit {
            whole.extend_from_slice(&data);
        } else if length > limit.saturating_add(DISCARD) {
            break;
        }
    }
    if length > limit {
        return Err(reject(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body has more than {limit} bytes"),
        ));
    }
    Ok(whole.into())
}
