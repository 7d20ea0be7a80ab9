//! Idle connections to a backend that the next requests use.

use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// How many idle connections are kept for a backend.
const IDLE: usize = 256;

/// The body of a request to a backend.
#[derive(Debug)]
pub(super) enum RequestBody {
    /// The one that the client is sending.
    Client(Incoming),
    Empty,
}

pub(super) type Sender = SendRequest<RequestBody>;

#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<PoolState>);

#[derive(Debug, Default)]
struct PoolState {
    /// The one that was used last is used next, so that unneeded ones are closed by the backend.
    idle: Vec<Sender>,
    is_closed: bool,
}

impl Pool {
    pub(super) fn take(&self) -> Option<Sender> {
        let mut state = self.lock();
        std::iter::from_fn(|| state.idle.pop()).find(|sender| !sender.is_closed())
    }

    /// Keeps a connection whose response has been read.
    pub(super) fn put(&self, sender: Sender) {
        let mut state = self.lock();
        if !state.is_closed && state.idle.len() < IDLE && !sender.is_closed() {
            state.idle.push(sender);
        }
    }

    /// Closes the idle connections, and keeps none any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.idle.clear();
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut *self {
            Self::Client(body) => Pin::new(body).poll_frame(context),
            Self::Empty => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Client(body) => body.is_end_stream(),
            Self::Empty => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Client(body) => body.size_hint(),
            Self::Empty => SizeHint::with_exact(0),
        }
    }
}
