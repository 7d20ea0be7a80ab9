//! The bytes of a connection, whatever carries them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Something that carries bytes both ways.
pub(super) trait Carrier: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Carrier for T {}

/// A connection to a driver, whatever carries it.
pub(super) type Stream = Box<dyn Carrier>;

/// A stream that can still be read when the peer takes no more bytes: a driver that answers 413
/// and closes has answered, so what cannot be written any more goes nowhere, without an error.
pub(super) struct Readable {
    stream: Stream,
    /// Set with the first byte that went nowhere.
    is_refused: Arc<AtomicBool>,
}

impl Readable {
    /// Wraps a stream; the flag is set with the first byte that the peer does not take.
    pub(super) fn new(stream: Stream) -> (Self, Arc<AtomicBool>) {
        let is_refused = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_refused);
        (Self { stream, is_refused }, flag)
    }

    fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// What a write came to, with `length` for one that failed.
    fn settled<T>(&self, result: io::Result<T>, instead: T) -> io::Result<T> {
        Ok(result.unwrap_or_else(|_| {
            self.is_refused.store(true, Ordering::Relaxed);
            instead
        }))
    }
}

impl AsyncRead for Readable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Readable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_refused() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        Poll::Ready(self.settled(written, bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_refused() {
            return Poll::Ready(Ok(()));
        }
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        Poll::Ready(self.settled(flushed, ()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
