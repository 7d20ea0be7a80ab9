//! A stream with timeouts.
//!
//! hyper has one limit for being idle and for half the head of a request. The one has to be long, for
//! connections that are kept for later; the other short, for clients that only hold a permit.
//!
//! And hyper makes a timer for each request, which takes memory, locks that all threads share, and
//! one more poll for bytes. Here a connection has one for as long as it lives: when it fires it is
//! put off, if a request came meanwhile.

use super::activity::Connection;
use super::limits::Limits;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// Fails when a request does not come for too long, when its head or its body takes too long, and
/// when the client takes none of what is sent.
#[derive(Debug)]
pub(super) struct TimedIo<S> {
    inner: S,
    /// Makes closing `inner` a reset.
    reset: fn(&S),
    connection: Connection,
    idle_limit: Duration,
    idle: Option<Pin<Box<Sleep>>>,
    /// When it was opened, or something was last sent.
    idle_since: Instant,
    head_limit: Duration,
    /// The number of requests when bytes came that belong to none of them.
    head_after: Option<usize>,
    head: Option<Pin<Box<Sleep>>>,
    body_limit: Duration,
    body: Option<Pin<Box<Sleep>>>,
    stall_limit: Duration,
    /// Runs while the client takes nothing.
    stall: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedIo<S> {
    pub(super) fn new(inner: S, reset: fn(&S), limits: &Limits, connection: Connection) -> Self {
        Self {
            inner,
            reset,
            connection,
            idle_limit: limits.idle,
            idle: None,
            idle_since: Instant::now(),
            head_limit: limits.head,
            head_after: None,
            head: None,
            body_limit: limits.body,
            body: None,
            stall_limit: limits.stall,
            stall: None,
        }
    }

    fn received(&mut self) {
        if self.connection.is_idle() && self.head_after.is_none() {
            self.head_after = Some(self.connection.requests());
        }
    }

    /// Fails when a request, or the rest of its head, is overdue.
    fn check_overdue(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.head_after == Some(self.connection.requests()) {
            let limit = self.head_limit;
            if let Poll::Ready(late) = wait(&mut self.head, limit, context) {
                return Poll::Ready(late);
            }
        } else {
            self.head_after = None;
            self.head = None;
        }
        if self.check_body(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.check_idle(context)
    }

    fn check_body(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let since = self.connection.waiting_since();
        let Some(since) = since.filter(|_| self.stall.is_none()) else {
            return Poll::Pending;
        };
        let due = since + self.body_limit;
        let timer = self.body.get_or_insert_with(|| Box::pin(sleep_until(due)));
        // That of an earlier request.
        if timer.deadline() != due {
            timer.as_mut().reset(due);
        }
        timer.as_mut().poll(context)
    }

    fn check_idle(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let limit = self.idle_limit;
        let timer = self.idle.get_or_insert_with(|| Box::pin(sleep(limit)));
        loop {
            ready!(timer.as_mut().poll(context));
            let now = Instant::now();
            let is_idle = self.connection.is_idle() && self.stall.is_none();
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
            if self.stall.take().is_some() {
                self.connection.set_waiting(false);
            }
            return sent;
        }
        self.connection.set_waiting(true);
        let limit = self.stall_limit;
        wait(&mut self.stall, limit, context)
    }
}

impl<S> Drop for TimedIo<S> {
    fn drop(&mut self) {
        if self.connection.resets() {
            (self.reset)(&self.inner);
        }
    }
}

/// Fails when the limit is over, counted from the first call.
fn wait<T>(
    timer: &mut Option<Pin<Box<Sleep>>>,
    limit: Duration,
    context: &mut Context<'_>,
) -> Poll<io::Result<T>> {
    let timer = timer.get_or_insert_with(|| Box::pin(sleep(limit)));
    ready!(timer.as_mut().poll(context));
    Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_read(context, buffer) {
            Poll::Pending => self.check_overdue(context),
            ready => {
                self.received();
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
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
