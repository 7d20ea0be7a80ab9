//! Request bodies, read with limits on size, time and memory.

use std::error::Error;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Bodies up to this size take nothing from the budget, so that ordinary clients are always served.
const SMALL: usize = 64 * 1024;
/// Bytes for each permit.
const PIECE: usize = 1024;

/// The size and the time that one body may take.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// The largest body, in bytes.
    pub bytes: usize,
    /// The part of a larger body, in bytes, that is read and discarded, so that a client that only reads after sending
    /// receives the error and not a closed connection.
    pub discarded: usize,
    /// When its last byte has to have arrived.
    pub until: Instant,
}

/// The memory that all connections of a server share for large bodies.
#[derive(Clone, Debug)]
pub struct BodyBudget(Arc<Semaphore>);

impl BodyBudget {
    /// A budget of this many bytes for bodies above 64 KiB.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let pieces = (bytes / PIECE).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(pieces)))
    }

    fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ReadBodyError> {
        let pieces = u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.0).try_acquire_many_owned(pieces);
        taken.map_err(|_| ReadBodyError::NoMemory)
    }
}

/// A body, with its share of the budget until it is dropped.
#[derive(Debug, Default)]
pub struct ReceivedBody {
    /// The whole body.
    pub bytes: Bytes,
    _memory: Option<OwnedSemaphorePermit>,
}

/// Errors of [`read`].
#[derive(Debug, thiserror::Error)]
pub enum ReadBodyError {
    /// The body is larger than its limit.
    #[error("the body is too large")]
    TooLarge,
    /// Other bodies have the memory; the client may try again.
    #[error("the server has no memory for the body")]
    NoMemory,
    /// The body did not arrive in time.
    #[error("the body did not arrive in time")]
    OutOfTime,
    /// The connection failed, for this reason.
    #[error("the body cannot be read: {0}")]
    Broken(Box<dyn Error + Send + Sync>),
}

/// Reads a body within its limits; without a budget, its memory is not counted.
///
/// # Errors
///
/// The body exceeds a limit, or the connection fails.
pub async fn read<B>(
    body: B,
    limits: BodyLimits,
    budget: Option<&BodyBudget>,
) -> Result<ReceivedBody, ReadBodyError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut whole = pin!(collect(body, limits, budget));
    // Most bodies are there already, and need no timer.
    if let Poll::Ready(result) = poll_fn(|context| Poll::Ready(whole.as_mut().poll(context))).await
    {
        return result;
    }
    let in_time = tokio::time::timeout_at(limits.until, whole).await;
    in_time.unwrap_or(Err(ReadBodyError::OutOfTime))
}

async fn collect<B>(
    mut body: B,
    limits: BodyLimits,
    budget: Option<&BodyBudget>,
) -> Result<ReceivedBody, ReadBodyError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let most = limits.bytes.saturating_add(limits.discarded);
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    // A client that announces too much need not send it.
    if announced > most {
        return Err(ReadBodyError::TooLarge);
    }
    let mut bytes = BytesMut::with_capacity(announced.min(SMALL));
    let mut memory: Option<OwnedSemaphorePermit> = None;
    let mut size = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ReadBodyError::Broken(error.into()))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        size = size.saturating_add(data.len());
        if size > limits.bytes {
            (bytes, memory) = (BytesMut::new(), None);
            if size > most {
                break;
            }
            continue;
        }
        let given = memory.as_ref().map_or(0, |m| m.num_permits() * PIECE);
        if let Some(budget) = budget.filter(|_| size > SMALL.max(given)) {
            // Doubling keeps the number of acquisitions small.
            let more = budget.take(size.next_power_of_two().min(limits.bytes) - given)?;
            match &mut memory {
                Some(memory) => memory.merge(more),
                None => memory = Some(more),
            }
        }
        bytes.extend_from_slice(&data);
    }
    if size > limits.bytes {
        return Err(ReadBodyError::TooLarge);
    }
    Ok(ReceivedBody {
        bytes: bytes.freeze(),
        _memory: memory,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body::Frame;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::Context;
    use std::time::Duration;

    const BYTES: usize = 3 * 1024 * 1024;

    fn limits() -> BodyLimits {
        BodyLimits {
            bytes: BYTES,
            discarded: 1000,
            until: Instant::now() + Duration::from_secs(60),
        }
    }

    /// A body of spaces that arrive a thousand at a time, and of an end that may never come.
    struct Spaces {
        left: usize,
        ends: bool,
    }

    impl Body for Spaces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let size = self.left.min(1000);
            self.left -= size;
            match (size, self.ends) {
                (0, true) => Poll::Ready(None),
                (0, false) => Poll::Pending,
                _ => Poll::Ready(Some(Ok(Frame::data(vec![b' '; size].into())))),
            }
        }
    }

    const fn of(left: usize) -> Spaces {
        Spaces { left, ends: true }
    }

    #[tokio::test]
    async fn memory_is_acquired_and_released() {
        let budget = BodyBudget::new(BYTES);
        let whole = budget.0.available_permits();
        let large = read(of(BYTES), limits(), Some(&budget)).await.unwrap();
        assert_eq!(large.bytes.len(), BYTES);
        assert_eq!(budget.0.available_permits(), 0);
        let refused = read(of(SMALL + 1), limits(), Some(&budget)).await;
        assert!(matches!(refused, Err(ReadBodyError::NoMemory)));
        assert!(read(of(SMALL), limits(), Some(&budget)).await.is_ok());
        drop(large);
        assert_eq!(budget.0.available_permits(), whole);
        assert!(read(of(SMALL + 1), limits(), Some(&budget)).await.is_ok());
        assert_eq!(budget.0.available_permits(), whole);
        let too_large = read(of(BYTES + 1), limits(), Some(&budget)).await;
        assert!(matches!(too_large, Err(ReadBodyError::TooLarge)));
        assert_eq!(budget.0.available_permits(), whole);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_times_out() {
        let slow = Spaces {
            left: 1,
            ends: false,
        };
        let refused = read(slow, limits(), None).await;
        assert!(matches!(refused, Err(ReadBodyError::OutOfTime)));
    }
}
