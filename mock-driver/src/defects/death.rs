//! The end of a driver that a request has killed.

use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::watch;

/// Whether the driver is dead; clones are of the same driver.
#[derive(Debug, Clone)]
pub(crate) struct Death(watch::Sender<bool>);

impl Default for Death {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Death {
    pub(crate) fn come(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn has_come(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for it; mostly for ever.
    pub(crate) async fn comes(&self) {
        // The sender is here, so there always is one.
        let _ = self.0.subscribe().wait_for(|dead| *dead).await;
    }
}

/// What a dead driver answers where there is no port to close: the connection breaks.
pub(super) fn no_answer() -> Response {
    Body::new(Broken).into_response()
}

/// A body that ends before it begins.
struct Broken;

impl HttpBody for Broken {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
    }
}
