//! A stream whose peer has to finish what it began.
//!
//! The HTTP library has one limit for being idle and for sending half the head of a request. The
//! one has to be long, for connections that are kept for later; the other short, for peers that
//! only want to hold a place.
//!
//! And the library makes a timer for each request, which takes memory, locks that all threads
//! share, and one more look for bytes. Here a connection has one for as long as it lives: when it
//! fires it is put off, if a request came meanwhile.

use super::limits::Limits;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Counts a connection's requests. Clones count the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: AtomicUsize,
    over: AtomicUsize,
}

impl Requests {
    /// The head of a request is there; it is over when the result is dropped.
    pub(super) fn begin(&self) -> Answering {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }

    /// Whether none is being answered.
    pub(super) fn is_none(&self) -> bool {
        self.begun() == self.0.over.load(Ordering::Relaxed)
    }

    fn begun(&self) -> usize {
        self.0.begun.load(Ordering::Relaxed)
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Answering(Requests);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.over.fetch_add(1, Ordering::Relaxed);
    }
}

/// Fails when a request does not come for too long, when its head takes too long, and when the peer
/// takes none of what is sent.
#[derive(Debug)]
pub(super) struct Impatient<S> {
    inner: S,
    requests: Requests,
    idle_limit: Duration,
    idle: Option<Pin<Box<Sleep>>>,
    /// Since when it is open, or when something was last sent.
    idle_since: Instant,
    head_limit: Duration,
    /// How many requests had begun when bytes came that belong to none of them.
    head_after: Option<usize>,
    head: Option<Pin<Box<Sleep>>>,
    stall_limit: Duration,
    /// Runs while the peer takes nothing.
    stall: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    pub(super) fn new(inner: S, limits: Limits, requests: Requests) -> Self {
        Self {
            inner,
            requests,
            idle_limit: limits.idle,
            idle: None,
            idle_since: Instant::now(),
            head_limit: limits.head,
            head_after: None,
            head: None,
            stall_limit: limits.stall,
            stall: None,
        }
    }

    /// Bytes came.
    fn came(&mut self) {
        if self.requests.is_none() && self.head_after.is_none() {
            self.head_after = Some(self.requests.begun());
        }
    }

    /// Nothing came: is a request due, or the rest of its head?
    fn due(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.head_after == Some(self.requests.begun()) {
            let limit = self.head_limit;
            if let Poll::Ready(late) = wait(&mut self.head, limit, context) {
                return Poll::Ready(late);
            }
        } else {
            self.head_after = None;
            self.head = None;
        }
        self.request_due(context)
    }

    fn request_due(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let limit = self.idle_limit;
        let timer = self.idle.get_or_insert_with(|| Box::pin(sleep(limit)));
        loop {
            ready!(timer.as_mut().poll(context));
            let now = Instant::now();
            let is_idle = self.requests.is_none() && self.stall.is_none();
            let since = if is_idle { self.idle_since } else { now };
            let due = since + limit;
            if due <= now {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            timer.as_mut().reset(due);
        }
    }

    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.idle_since = Instant::now();
        }
        self.sent(context, sent)
    }

    fn sent<T>(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.stall = None;
            return sent;
        }
        let limit = self.stall_limit;
        wait(&mut self.stall, limit, context)
    }
}

/// Fails when it has waited for long enough.
fn wait<T>(
    timer: &mut Option<Pin<Box<Sleep>>>,
    limit: Duration,
    context: &mut Context<'_>,
) -> Poll<io::Result<T>> {
    let timer = timer.get_or_insert_with(|| Box::pin(sleep(limit)));
    ready!(timer.as_mut().poll(context));
    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_read(context, buffer) {
            Poll::Pending => self.due(context),
            ready => {
                self.came();
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.written(context, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.inner).poll_write_vectored(context, bytes);
        self.written(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.inner).poll_flush(context);
        self.sent(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.inner).poll_shutdown(context);
        self.sent(context, sent)
    }
}

#[cfg(test)]
mod tests;
