//! A request's body, in pieces.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// The longest piece. What is left of a body says then how far its sending has come.
const LONGEST: usize = 64 << 10;

/// How a body is cut up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pieces: usize,
    pause: Duration,
}

impl Pace {
    /// As fast as it can be.
    pub(super) const FAST: Self = Self {
        pieces: 1,
        pause: Duration::ZERO,
    };

    /// In so many pieces, or one for each byte, with a pause before each but the first.
    pub(super) const fn slow(pieces: usize, pause: Duration) -> Self {
        Self { pieces, pause }
    }
}

/// A request's body, in pieces.
#[derive(Debug)]
pub(super) struct Pieces {
    left: Bytes,
    longest: usize,
    pause: Duration,
    pausing: Option<Pin<Box<Sleep>>>,
    is_sent: Arc<AtomicBool>,
}

impl Pieces {
    /// A body, and the flag that says that all of it is on its way.
    pub(super) fn new(body: Bytes, pace: Pace) -> (Self, Arc<AtomicBool>) {
        let is_sent = Arc::new(AtomicBool::new(body.is_empty()));
        let longest = body.len().div_ceil(pace.pieces.max(1));
        let pieces = Self {
            left: body,
            longest: longest.clamp(1, LONGEST),
            pause: pace.pause,
            pausing: None,
            is_sent: Arc::clone(&is_sent),
        };
        (pieces, is_sent)
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(pausing) = &mut self.pausing {
            ready!(pausing.as_mut().poll(cx));
            self.pausing = None;
        }
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.longest.min(self.left.len());
        let piece = self.left.split_to(length);
        if self.left.is_empty() {
            self.is_sent.store(true, Ordering::Relaxed);
        } else if !self.pause.is_zero() {
            self.pausing = Some(Box::pin(tokio::time::sleep(self.pause)));
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left.len()).unwrap_or(u64::MAX))
    }
}
