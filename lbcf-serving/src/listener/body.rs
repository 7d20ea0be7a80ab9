use super::activity::Connection;
use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A request's body. Its connection knows while the client has not sent all of it.
#[derive(Debug)]
pub struct RequestBody {
    body: Incoming,
    connection: Connection,
}

impl RequestBody {
    pub(super) const fn new(body: Incoming, connection: Connection) -> Self {
        Self { body, connection }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending() {
            self.connection.set_waiting(true);
        } else if self.body.is_end_stream() {
            self.connection.set_waiting(false);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.connection.set_waiting(false);
    }
}

/// A response's body with a value that is dropped at its end.
#[derive(Debug)]
pub struct GuardedBody<B, G> {
    body: B,
    guard: Option<G>,
}

impl<B, G> GuardedBody<B, G> {
    /// The guard is dropped with the last frame, or with the body.
    pub const fn new(body: B, guard: G) -> Self {
        Self {
            body,
            guard: Some(guard),
        }
    }
}

impl<B: Body + Unpin, G: Unpin> Body for GuardedBody<B, G> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.guard = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
