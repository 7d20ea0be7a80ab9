//! The body of a request.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// The largest frame, so that the flag of a long body is not set long before it is sent.
const MAX_FRAME: usize = 64 << 10;

/// A body that sets a flag once it is sent.
#[derive(Debug)]
pub(super) struct TrackedBody {
    left: Bytes,
    is_sent: Arc<AtomicBool>,
}

impl TrackedBody {
    pub(super) fn new(body: Bytes) -> (Self, Arc<AtomicBool>) {
        let is_sent = Arc::new(AtomicBool::new(body.is_empty()));
        let flag = Arc::clone(&is_sent);
        let left = body;
        (Self { left, is_sent }, flag)
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let length = MAX_FRAME.min(self.left.len());
        let frame = self.left.split_to(length);
        if self.left.is_empty() {
            self.is_sent.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left.len()).unwrap_or(u64::MAX))
    }
}
