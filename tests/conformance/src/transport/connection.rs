//! One connection, and requests over it.

use super::pieces::Pieces;
use super::stream::{Readable, Stream};
use crate::exchange::{NoAnswer, Received};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::AbortHandle;

/// The longest body of an answer, in bytes.
pub(super) const BODY_LIMIT: usize = 4 << 20;
/// The longest head of an answer, in bytes.
const HEAD_LIMIT: usize = 64 << 10;
/// The most headers of an answer.
const MOST_HEADERS: usize = 256;
/// How long a connection may take after an answer to be ready for the next request: it has only
/// to notice.
const READY_WITHIN: Duration = Duration::from_millis(100);

/// One connection. It ends when this is dropped.
pub(super) struct Connection {
    sender: SendRequest<Pieces>,
    driving: AbortHandle,
    /// Set when the peer takes no more bytes.
    is_refused: Arc<AtomicBool>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

/// Why there is no answer, and whether the request has left at all.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) reason: NoAnswer,
    /// Nothing of the request was sent.
    pub(super) is_unsent: bool,
}

impl Connection {
    /// HTTP over a new stream.
    pub(super) async fn new(stream: Stream) -> Result<Self, NoAnswer> {
        let (stream, is_refused) = Readable::new(stream);
        let (sender, connection) = http1::Builder::new()
            .max_header_size(HEAD_LIMIT)
            .max_buf_size(HEAD_LIMIT)
            .max_headers(MOST_HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| no_answer(&error))?;
        let driving = tokio::spawn(async move {
            // What ends it badly, the request's own future hears.
            connection.await.ok();
        })
        .abort_handle();
        Ok(Self {
            sender,
            driving,
            is_refused,
        })
    }

    /// Whether another request may be sent now.
    pub(super) async fn is_ready(&mut self) -> bool {
        // That the peer has closed it is noticed when the runtime looks at its sockets.
        tokio::task::yield_now().await;
        if self.sender.is_closed() || self.is_refused.load(Ordering::Relaxed) {
            return false;
        }
        let ready = tokio::time::timeout(READY_WITHIN, self.sender.ready()).await;
        matches!(ready, Ok(Ok(())))
    }

    /// Sends a request and reads the whole answer.
    pub(super) async fn exchange(
        &mut self,
        request: http::Request<Pieces>,
    ) -> Result<Received, Failed> {
        let answer = self
            .sender
            .try_send_request(request)
            .await
            .map_err(|mut error| Failed {
                is_unsent: error.take_message().is_some(),
                reason: no_answer(error.error()),
            })?;
        let (head, body) = answer.into_parts();
        let body = read(body).await.map_err(|reason| Failed {
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

/// The whole body. It is copied together as it comes, since pieces of one byte each would take
/// many times their length.
async fn read(mut body: Incoming) -> Result<Bytes, NoAnswer> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| no_answer(&error))?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if whole.len() + data.len() > BODY_LIMIT {
            return Err(NoAnswer::TooLarge(BODY_LIMIT));
        }
        whole.extend_from_slice(data);
    }
    Ok(whole.freeze())
}

/// What a failure of hyper's means here.
fn no_answer(error: &hyper::Error) -> NoAnswer {
    if error.is_parse_too_large() {
        return NoAnswer::NotHttp(format!(
            "its head has more than {HEAD_LIMIT} bytes or {MOST_HEADERS} headers"
        ));
    }
    if error.is_parse() || error.is_parse_status() {
        return NoAnswer::NotHttp(error.to_string());
    }
    if error.is_incomplete_message() {
        return NoAnswer::Closed("it was closed".into());
    }
    if let Some(error) = cause::<io::Error>(error) {
        return match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                NoAnswer::NotHttp(error.to_string())
            }
            _ => NoAnswer::Closed(error.to_string()),
        };
    }
    if let Some(cause) = cause::<hyper::Error>(error) {
        // Canceled, because of this.
        return no_answer(cause);
    }
    let words = error.to_string();
    // hyper does not tell otherwise that the peer spoke first.
    if words.contains("unexpected message") {
        return NoAnswer::NotHttp("the driver spoke before it was asked".into());
    }
    NoAnswer::Closed(words)
}

/// The first cause of this type.
fn cause<E: Error + 'static>(error: &hyper::Error) -> Option<&E> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref() {
            return Some(found);
        }
        next = cause.source();
    }
    None
}
