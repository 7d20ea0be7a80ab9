//! A connection and the requests over it.

use super::stream::{ReadableStream, Stream};
use crate::exchange::{NoResponse, Received};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::AbortHandle;

/// The longest body of a response, in bytes.
const BODY_LIMIT: usize = 4 << 20;
/// The longest head of a response, in bytes.
const HEAD_LIMIT: usize = 64 << 10;
/// The most headers of a response.
const MOST_HEADERS: usize = 256;
/// The time in which a connection has to get ready for the next request.
const READY_WITHIN: Duration = Duration::from_millis(100);

/// A connection, closed on drop.
pub(super) struct Connection {
    sender: SendRequest<TrackedBody>,
    /// When it was opened, in restarts of the driver.
    pub(super) generation: u64,
    driving: AbortHandle,
    /// Set when the peer no longer accepts bytes.
    is_refused: Arc<AtomicBool>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

#[derive(Debug)]
pub(super) struct ExchangeError {
    pub(super) reason: NoResponse,
    /// No byte of the request was sent.
    pub(super) is_unsent: bool,
}

impl Connection {
    /// Starts HTTP on a new stream.
    pub(super) async fn new(stream: Stream, generation: u64) -> Result<Self, NoResponse> {
        let (stream, is_refused) = ReadableStream::new(stream);
        let (sender, connection) = http1::Builder::new()
            .max_header_size(HEAD_LIMIT)
            .max_buf_size(HEAD_LIMIT)
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| no_response(&error))?;
        let driving = tokio::spawn(async move {
            // The future of the request gets the error, too.
            connection.await.ok();
        })
        .abort_handle();
        Ok(Self {
            sender,
            generation,
            driving,
            is_refused,
        })
    }

    /// True if another request may be sent now.
    pub(super) async fn is_ready(&mut self) -> bool {
        // The runtime has to poll its sockets to detect that the peer closed the connection.
        tokio::task::yield_now().await;
        if self.sender.is_closed() || self.is_refused.load(Ordering::Relaxed) {
            return false;
        }
        let ready = tokio::time::timeout(READY_WITHIN, self.sender.ready()).await;
        matches!(ready, Ok(Ok(())))
    }

    /// Sends a request and reads the whole response.
    pub(super) async fn exchange(
        &mut self,
        request: http::Request<TrackedBody>,
    ) -> Result<Received, ExchangeError> {
        let response = self.sender.try_send_request(request).await;
        let response = response.map_err(|mut error| ExchangeError {
            is_unsent: error.take_message().is_some(),
            reason: no_response(error.error()),
        })?;
        let (head, body) = response.into_parts();
        let body = read(body).await.map_err(|reason| ExchangeError {
            reason,
            is_unsent: false,
        })?;
        Ok(Received {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        })
    }
}

/// Reads the whole body. It is copied into one buffer, because frames of one byte each would need
/// many times their size.
async fn read(mut body: Incoming) -> Result<Bytes, NoResponse> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| no_response(&error))?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if whole.len() + data.len() > BODY_LIMIT {
            return Err(NoResponse::TooLarge(BODY_LIMIT));
        }
        whole.extend_from_slice(data);
    }
    Ok(whole.freeze())
}

/// Converts an error of hyper.
fn no_response(error: &hyper::Error) -> NoResponse {
    if error.is_parse_too_large() {
        return NoResponse::NotHttp(format!(
            "its head has more than {HEAD_LIMIT} bytes or {MOST_HEADERS} headers"
        ));
    }
    if error.is_parse() || error.is_parse_status() {
        return NoResponse::NotHttp(error.to_string());
    }
    if error.is_incomplete_message() {
        return NoResponse::Closed("it was closed".into());
    }
    if let Some(error) = cause::<io::Error>(error) {
        return match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                NoResponse::NotHttp(error.to_string())
            }
            _ => NoResponse::Closed(error.to_string()),
        };
    }
    if let Some(cause) = cause::<hyper::Error>(error) {
        // The request was cancelled because of this.
        return no_response(cause);
    }
    let message = error.to_string();
    // hyper has no other sign of a peer that sends before the request.
    if message.contains("unexpected message") {
        return NoResponse::NotHttp("the driver sent data before the request".into());
    }
    NoResponse::Closed(message)
}

/// The first source of this type.
fn cause<E: Error + 'static>(error: &hyper::Error) -> Option<&E> {
    let mut causes = std::iter::successors(error.source(), |cause| (**cause).source());
    causes.find_map(|cause| cause.downcast_ref())
}

/// The largest frame, so that the flag of a long body is not set long before it is sent.
const MAX_FRAME: usize = 64 << 10;

/// A body that sets a flag once it is sent.
#[derive(Debug)]
pub(super) struct TrackedBody {
    left: Bytes,
    is_sent: Arc<AtomicBool>,
}

impl TrackedBody {
    pub(super) fn new(body: Bytes) -> (Self, Arc<AtomicBool>) {
        let is_sent = Arc::new(AtomicBool::new(body.is_empty()));
        let flag = Arc::clone(&is_sent);
        let left = body;
        (Self { left, is_sent }, flag)
    }
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let length = MAX_FRAME.min(self.left.len());
        let frame = self.left.split_to(length);
        if self.left.is_empty() {
            self.is_sent.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.left.len()).unwrap_or(u64::MAX))
    }
}
