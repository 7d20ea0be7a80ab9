//! The byte stream of a connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(super) trait ReadWrite: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for T {}

/// TCP, TLS, or a pipe in this process.
pub(super) type Stream = Box<dyn ReadWrite>;

/// A stream that stays readable when the peer no longer accepts bytes: a driver may respond with 413
/// and close the connection before the end of the request. Bytes that cannot be written are dropped
/// without an error.
pub(super) struct ReadableStream {
    stream: Stream,
    /// Set with the first dropped byte.
    is_refused: Arc<AtomicBool>,
}

impl ReadableStream {
    /// Wraps a stream; the flag is set with the first byte that the peer does not accept.
    pub(super) fn new(stream: Stream) -> (Self, Arc<AtomicBool>) {
        let is_refused = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_refused);
        (Self { stream, is_refused }, flag)
    }

    fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Replaces the error of a failed write by a value.
    fn ignore_error<T>(&self, result: io::Result<T>, instead: T) -> io::Result<T> {
        Ok(result.unwrap_or_else(|_| {
            self.is_refused.store(true, Ordering::Relaxed);
            instead
        }))
    }
}

impl AsyncRead for ReadableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ReadableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_refused() {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        Poll::Ready(self.ignore_error(written, bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_refused() {
            return Poll::Ready(Ok(()));
        }
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        Poll::Ready(self.ignore_error(flushed, ()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
