//! Bodies of requests that are read ahead, and of responses that break off.

use axum::BoxError;
use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The limit of a body that is read ahead, in bytes: that of the SDK.
const LIMIT: usize = 4 << 20;
/// How long a body is waited for. One that takes longer reaches the SDK in parts, which then waits for
/// the rest itself.
const TIMEOUT: Duration = Duration::from_secs(4);

/// A body whose beginning was read ahead.
#[derive(Debug)]
pub(super) struct Prefixed {
    pub(super) read: Bytes,
    pub(super) rest: Body,
}

/// Reads a whole body; one that is too long, too slow or cut off comes back with its beginning.
pub(super) async fn read(mut body: Body) -> Result<Bytes, Prefixed> {
    let deadline = Instant::now() + TIMEOUT;
    let mut read = Vec::new();
    loop {
        match timeout_at(deadline, body.frame()).await {
            Ok(None) => return Ok(read.into()),
            Ok(Some(Ok(frame))) => {
                if let Some(data) = frame.data_ref() {
                    read.extend_from_slice(data);
                }
                if read.len() <= LIMIT {
                    continue;
                }
            }
            // The next frame of a body that failed is an error, too, or none.
            Ok(Some(Err(error))) => body = Body::new(Truncated::failed(error)),
            Err(_) => {}
        }
        return Err(Prefixed {
            read: read.into(),
            rest: body,
        });
    }
}

impl HttpBody for Prefixed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.read.is_empty() {
            return Pin::new(&mut self.rest).poll_frame(context);
        }
        Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.read)))))
    }
}

/// A body that ends with an error, which breaks the connection off.
#[derive(Debug)]
pub(super) struct Truncated {
    begin: Bytes,
    announced: u64,
    /// The server first sends what it has.
    is_sent: bool,
    error: Option<BoxError>,
}

impl Truncated {
    /// The first half of a body, which announces the whole length.
    pub(super) fn new(mut whole: Bytes) -> Self {
        let announced = whole.len() as u64;
        whole.truncate(whole.len() / 2);
        Self {
            begin: whole,
            announced,
            is_sent: false,
            error: Some("the response was cut off by a fault".into()),
        }
    }

    fn failed(error: axum::Error) -> Self {
        Self {
            begin: Bytes::new(),
            announced: 1,
            is_sent: true,
            error: Some(error.into_inner()),
        }
    }
}

impl HttpBody for Truncated {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if !self.begin.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.begin)))));
        }
        if !self.is_sent {
            self.is_sent = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.error.take().map(Err))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.announced)
    }
}
