//! A watch that ends early.

use super::status_object;
use axum::body::{Body, Bytes, HttpBody};
use http::StatusCode;
use http_body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

#[derive(Debug, Clone, Copy)]
pub(super) enum StreamEnd {
    /// Like a watch that has reached its timeout.
    Quietly,
    /// With a broken connection.
    Broken,
    /// With the error that the resource version is too old.
    Expired,
}

/// The first frames of a body, followed by another end.
pub(super) struct Truncated {
    inner: Body,
    left: u64,
    end: Option<StreamEnd>,
}

impl Truncated {
    pub(super) const fn new(inner: Body, frames: u64, end: StreamEnd) -> Self {
        Self {
            inner,
            left: frames,
            end: Some(end),
        }
    }
}

impl HttpBody for Truncated {
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
            Some(StreamEnd::Broken) => {
                let broken = io::Error::from(io::ErrorKind::ConnectionReset);
                Some(Err(axum::Error::new(broken)))
            }
            Some(StreamEnd::Expired) => {
                let status = status_object(StatusCode::GONE, "Expired");
                let event = format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n");
                Some(Ok(Frame::data(event.into())))
            }
            Some(StreamEnd::Quietly) | None => None,
        })
    }
}
