use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

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
