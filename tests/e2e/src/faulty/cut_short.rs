//! A watch that ends before its time.

use super::status_object;
use axum::body::{Body, Bytes, HttpBody};
use http::StatusCode;
use http_body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// How a watch ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// As it does when its time is over.
    Quietly,
    /// The connection breaks.
    Broken,
    /// The server says that it has forgotten what came since then.
    Expired,
}

/// The first frames of a body, and then an end of another kind.
pub(super) struct CutShort {
    inner: Body,
    left: u64,
    end: Option<End>,
}

impl CutShort {
    pub(super) const fn new(inner: Body, frames: u64, end: End) -> Self {
        Self {
            inner,
            left: frames,
            end: Some(end),
        }
    }
}

impl HttpBody for CutShort {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.left > 0 {
            self.left -= 1;
            return Pin::new(&mut self.inner).poll_frame(context);
        }
        Poll::Ready(match self.end.take() {
            Some(End::Broken) => {
                let broken = io::Error::from(io::ErrorKind::ConnectionReset);
                Some(Err(axum::Error::new(broken)))
            }
            Some(End::Expired) => {
                let status = status_object(StatusCode::GONE, "Expired");
                let event = format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n");
                Some(Ok(Frame::data(event.into())))
            }
            Some(End::Quietly) | None => None,
        })
    }
}
