//! Reading of request bodies with limits on size, time and memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::LIMIT;
use crate::status::ApiError;

/// The time limit of any request on a cluster.
const DEADLINE: Duration = Duration::from_secs(60);
/// Bodies up to this size take nothing from the budget, so that ordinary clients are always served.
const SMALL: usize = 64 * 1024;
/// Bytes for each permit.
const PIECE: usize = 1024;

/// The memory that all connections of a server share for large bodies.
#[derive(Clone, Debug)]
pub(crate) struct BodyBudget(Arc<Semaphore>);

impl BodyBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(
            (bytes / PIECE).min(Semaphore::MAX_PERMITS),
        )))
    }

    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let pieces = u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX);
        Arc::clone(&self.0)
            .try_acquire_many_owned(pieces)
            .map_err(|_| ApiError::too_many_requests())
    }
}

/// A body, with its share of the budget until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    _memory: Option<OwnedSemaphorePermit>,
}

/// Reads a body of at most [`LIMIT`] bytes within [`DEADLINE`].
pub(crate) async fn read(body: Body, budget: Option<&BodyBudget>) -> Result<Received, ApiError> {
    tokio::time::timeout(DEADLINE, collect(body, budget))
        .await
        .unwrap_or_else(|_| Err(ApiError::out_of_time()))
}

async fn collect(body: Body, budget: Option<&BodyBudget>) -> Result<Received, ApiError> {
    // A client that announces too much need not send it.
    if body.size_hint().lower() > LIMIT as u64 {
        return Err(ApiError::too_large(LIMIT));
    }
    let mut body = Limited::new(body, LIMIT);
    let mut bytes = BytesMut::new();
    let mut memory: Option<OwnedSemaphorePermit> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.downcast_ref::<LengthLimitError>().is_some() {
                ApiError::too_large(LIMIT)
            } else {
                ApiError::bad_request(format!("reading the body: {error}"))
            }
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let size = bytes.len() + data.len();
        if let Some(budget) = budget
            && size > SMALL
        {
            let given = memory.as_ref().map_or(0, |m| m.num_permits() * PIECE);
            // Doubling keeps the number of acquisitions small.
            if size > given {
                let more = budget.take(size.next_power_of_two().min(LIMIT) - given)?;
                match &mut memory {
                    Some(memory) => memory.merge(more),
                    None => memory = Some(more),
                }
            }
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Received {
        bytes: bytes.freeze(),
        _memory: memory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{StreamExt as _, stream};
    use std::convert::Infallible;

    fn of(size: usize) -> Body {
        let pieces = (0..size.div_ceil(1000)).map(move |n| (size - n * 1000).min(1000));
        let pieces = pieces.map(|size| Ok::<_, Infallible>(vec![b' '; size]));
        Body::from_stream(stream::iter(pieces))
    }

    #[tokio::test]
    async fn memory_is_acquired_and_released() {
        let budget = BodyBudget::new(LIMIT);
        let whole = budget.0.available_permits();
        let large = read(of(LIMIT), Some(&budget)).await.unwrap();
        assert_eq!(
            (large.bytes.len(), budget.0.available_permits()),
            (LIMIT, 0)
        );
        let refused = read(of(SMALL + 1), Some(&budget)).await.unwrap_err();
        assert_eq!(refused.code(), 429);
        assert!(read(of(SMALL), Some(&budget)).await.is_ok());
        drop(large);
        assert_eq!(budget.0.available_permits(), whole);
        assert!(read(of(SMALL + 1), Some(&budget)).await.is_ok());
        assert_eq!(budget.0.available_permits(), whole);
        let too_large = read(of(LIMIT + 1), Some(&budget)).await.unwrap_err();
        assert_eq!(
            too_large.message(),
            "Request entity too large: limit is 3145728"
        );
        assert_eq!(budget.0.available_permits(), whole);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_times_out() {
        let first = stream::iter([Ok::<_, Infallible>("{")]);
        let slow = Body::from_stream(first.chain(stream::pending()));
        let refused = read(slow, None).await.unwrap_err();
        assert_eq!(
            (refused.code(), refused.message()),
            (
                504,
                "Timeout: request did not complete within requested timeout"
            )
        );
    }
}
