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
pub struct BodyBudget {
    free: Arc<Semaphore>,
    bytes: usize,
    value: usize,
}

impl BodyBudget {
    /// A budget of this many bytes for bodies above 64 KiB. `value` is the memory, in bytes, of a value of JSON once it is
    /// decoded: of a member of the server's maps, with its key.
    #[must_use]
    pub fn new(bytes: usize, value: usize) -> Self {
        let pieces = bytes.div_ceil(PIECE).min(Semaphore::MAX_PERMITS);
        let free = Arc::new(Semaphore::new(pieces));
        Self { free, bytes, value }
    }
}

/// A body's share of a budget, until it is dropped: keep it as long as the body, and what was decoded of it.
#[derive(Debug, Default)]
pub struct BodyMemory {
    size: usize,
    values: usize,
    taken: Option<OwnedSemaphorePermit>,
}

impl BodyMemory {
    /// Takes what the next part of the body needs.
    ///
    /// # Errors
    ///
    /// [`ReadBodyError::NoMemory`], or `TooLarge` for what the whole budget would not suffice for.
    pub fn add(&mut self, part: &[u8], budget: &BodyBudget) -> Result<(), ReadBodyError> {
        self.size += part.len();
        self.values += commas(part);
        if self.size <= SMALL {
            return Ok(());
        }
        let decoded = self.values * budget.value;
        if self.size + decoded > budget.bytes {
            return Err(ReadBodyError::TooLarge);
        }
        // A buffer that grows doubles, and takes its old half, too.
        let needed = (self.size.next_power_of_two() * 3 / 2 + decoded).min(budget.bytes);
        let taken = self.taken.as_ref().map_or(0, |t| t.num_permits() * PIECE);
        let more = needed.saturating_sub(taken);
        if more == 0 {
            return Ok(());
        }
        let pieces = u32::try_from(more.div_ceil(PIECE)).unwrap_or(u32::MAX);
        let more = Arc::clone(&budget.free).try_acquire_many_owned(pieces);
        let more = more.map_err(|_| ReadBodyError::NoMemory)?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        Ok(())
    }
}

/// In pieces whose number fits a byte, which are counted sixteen bytes at a time.
fn commas(part: &[u8]) -> usize {
    let of_piece = |piece: &[u8]| piece.iter().map(|&byte| u8::from(byte == b',')).sum::<u8>();
    part.chunks(255).map(of_piece).map(usize::from).sum()
}

/// A body that was read.
#[derive(Debug, Default)]
pub struct ReceivedBody {
    /// The whole body.
    pub bytes: Bytes,
    /// Its share of the budget.
    pub memory: BodyMemory,
}

/// Errors of [`read`].
#[derive(Debug, thiserror::Error)]
pub enum ReadBodyError {
    /// The body is larger than its limit, or has too many values for the budget.
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
    let mut memory = BodyMemory::default();
    let mut size = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ReadBodyError::Broken(error.into()))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        size = size.saturating_add(data.len());
        if size > limits.bytes {
            (bytes, memory) = (BytesMut::new(), BodyMemory::default());
            if size > most {
                break;
            }
            continue;
        }
        if let Some(budget) = budget {
            memory.add(&data, budget)?;
        }
        bytes.extend_from_slice(&data);
    }
    if size > limits.bytes {
        return Err(ReadBodyError::TooLarge);
    }
    Ok(ReceivedBody {
        bytes: bytes.freeze(),
        memory,
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
        let budget = BodyBudget::new(BYTES, 0);
        let whole = budget.free.available_permits();
        let large = read(of(BYTES), limits(), Some(&budget)).await.unwrap();
        assert_eq!(large.bytes.len(), BYTES);
        assert_eq!(budget.free.available_permits(), 0);
        let refused = read(of(SMALL + 1), limits(), Some(&budget)).await;
        assert!(matches!(refused, Err(ReadBodyError::NoMemory)));
        assert!(read(of(SMALL), limits(), Some(&budget)).await.is_ok());
        drop(large);
        assert_eq!(budget.free.available_permits(), whole);
        assert!(read(of(SMALL + 1), limits(), Some(&budget)).await.is_ok());
        assert_eq!(budget.free.available_permits(), whole);
        let too_large = read(of(BYTES + 1), limits(), Some(&budget)).await;
        assert!(matches!(too_large, Err(ReadBodyError::TooLarge)));
        assert_eq!(budget.free.available_permits(), whole);
    }

    #[test]
    fn d101_what_is_decoded_of_a_body_takes_memory_too() {
        const VALUE: usize = 256;
        let budget = BodyBudget::new(BYTES, VALUE);
        let free = || budget.free.available_permits() * PIECE;
        let of = |values: usize| {
            let mut body = vec![b' '; 2 * SMALL];
            body[..values].fill(b',');
            let mut memory = BodyMemory::default();
            memory.add(&body, &budget).map(|()| memory)
        };
        let mut small = BodyMemory::default();
        small.add(&[b','; SMALL], &budget).unwrap();
        assert_eq!(free(), BYTES, "a small one costs nothing");
        let memory = of(8).unwrap();
        assert_eq!(free(), BYTES - 3 * SMALL - 8 * VALUE);
        let most = (BYTES - 2 * SMALL) / VALUE;
        assert!(matches!(of(most), Err(ReadBodyError::NoMemory)));
        assert!(matches!(of(most + 1), Err(ReadBodyError::TooLarge)));
        drop(memory);
        assert!(of(most).is_ok());
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
