//! The body of a request, which asks for permission when the connection is about to send it.
//!
//! A request waits in a queue until its connection's task runs, which may be long after the call
//! began, for example when the process was stopped in between.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// True while requests may still be sent; always without a condition.
#[derive(Clone, Default)]
pub(crate) struct Permission(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Permission {
    pub(crate) fn new(condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(condition)))
    }

    fn is_given(&self) -> bool {
        self.0.as_ref().is_none_or(|condition| condition())
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permission").finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the caller no longer permits the call")]
pub(crate) struct NotPermitted;

pub(crate) struct RequestBody {
    content: Full<Bytes>,
    permission: Permission,
}

impl RequestBody {
    pub(crate) fn new(content: Bytes, permission: Permission) -> Self {
        Self {
            content: Full::new(content),
            permission,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = NotPermitted;

    /// Called when the head is encoded and not yet sent: after an error nothing is.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NotPermitted>>> {
        if !self.permission.is_given() {
            return Poll::Ready(Some(Err(NotPermitted)));
        }
        let content = Pin::new(&mut self.content).poll_frame(context);
        content.map_err(|never| match never {})
    }

    fn is_end_stream(&self) -> bool {
        self.content.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.content.size_hint()
    }
}
