//! Response bodies of watches, which faults can end early.

use std::collections::BTreeMap;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame};
use serde_json::json;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::fault::{ErrorResponse, WatchEnd};
use super::request::{RequestFilter, RequestInfo};

#[derive(Debug, Default)]
pub(super) struct WatchRegistry(Mutex<Watches>);

#[derive(Debug, Default)]
struct Watches {
    next: u64,
    by_number: BTreeMap<u64, Arc<RunningWatch>>,
}

#[derive(Debug)]
struct RunningWatch {
    group: String,
    plural: String,
    namespace: String,
    user_agent: String,
    end: OnceLock<WatchEnd>,
    ended: CancellationToken,
}

impl RunningWatch {
    fn request(&self) -> RequestInfo<'_> {
        RequestInfo {
            verb: super::Verb::Watch,
            group: &self.group,
            plural: &self.plural,
            subresource: "",
            namespace: &self.namespace,
            name: "",
            user_agent: &self.user_agent,
        }
    }
}

/// A running watch; removed from the registry when this is dropped.
#[derive(Debug)]
pub(super) struct RegisteredWatch {
    number: u64,
    watch: Arc<RunningWatch>,
    registry: Arc<WatchRegistry>,
}

pub(super) fn register(
    registry: &Arc<WatchRegistry>,
    request: &RequestInfo<'_>,
) -> RegisteredWatch {
    let watch = Arc::new(RunningWatch {
        group: request.group.to_owned(),
        plural: request.plural.to_owned(),
        namespace: request.namespace.to_owned(),
        user_agent: request.user_agent.to_owned(),
        end: OnceLock::new(),
        ended: CancellationToken::new(),
    });
    let mut watches = registry.0.lock().unwrap_or_else(PoisonError::into_inner);
    let number = watches.next;
    watches.next += 1;
    watches.by_number.insert(number, Arc::clone(&watch));
    drop(watches);
    RegisteredWatch {
        number,
        watch,
        registry: Arc::clone(registry),
    }
}

impl WatchRegistry {
    pub(super) fn end(&self, end: WatchEnd, filter: &RequestFilter) -> usize {
        let watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = 0;
        for watch in watches.by_number.values() {
            if filter.matches(&watch.request()) && watch.end.set(end).is_ok() {
                watch.ended.cancel();
                count += 1;
            }
        }
        count
    }
}

impl Drop for RegisteredWatch {
    fn drop(&mut self) {
        let mut watches = self
            .registry
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        watches.by_number.remove(&self.number);
    }
}

/// The body of a watch, which can end early.
pub(super) struct WatchBody {
    body: Body,
    registered: RegisteredWatch,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    planned: Option<PlannedEnd>,
    /// The data sent so far ends with a whole event.
    between_events: bool,
    /// Data that was read together with the last event before the planned end.
    held: Bytes,
    /// The server had a chance to send its buffer before the connection breaks.
    flushed: bool,
    ended: bool,
}

/// The end of a watch that a fault plans.
pub(super) struct PlannedEnd {
    pub(super) end: WatchEnd,
    /// The number of events that are still sent.
    pub(super) after: u64,
    /// The fault has ended.
    pub(super) cancelled: CancellationToken,
}

impl WatchBody {
    pub(super) fn new(
        body: Body,
        registered: RegisteredWatch,
        planned: Option<PlannedEnd>,
    ) -> Self {
        let cancelled = registered.watch.ended.clone().cancelled_owned();
        Self {
            body,
            registered,
            cancelled: Box::pin(cancelled),
            planned,
            between_events: true,
            held: Bytes::new(),
            flushed: false,
            ended: false,
        }
    }

    /// The end of the watch, if it ends now.
    fn ending(&self) -> Option<WatchEnd> {
        if !self.between_events {
            return None;
        }
        let planned = self.planned.as_ref();
        planned
            .filter(|planned| planned.after == 0 && !planned.cancelled.is_cancelled())
            .map(|planned| planned.end)
            .or_else(|| self.registered.watch.end.get().copied())
    }
}

impl HttpBody for WatchBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // Polled for its waker only.
        let _ = self.cancelled.as_mut().poll(context);
        if let Some(end) = self.ending() {
            if end == WatchEnd::Broken && !self.flushed {
                // A server flushes its buffer when the body is pending, and drops it on an error.
                self.flushed = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.ended = true;
            return Poll::Ready(match end {
                WatchEnd::Clean => None,
                WatchEnd::Broken => Some(Err(axum::Error::new(reset()))),
                WatchEnd::Expired => {
                    let status = ErrorResponse::expired().status(&self.registered.watch.request());
                    let event = json!({"type": "ERROR", "object": status});
                    Some(Ok(Frame::data(Bytes::from(format!("{event}\n")))))
                }
            });
        }
        let polled = if self.held.is_empty() {
            Pin::new(&mut self.body).poll_frame(context)
        } else {
            Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.held)))))
        };
        let Poll::Ready(Some(Ok(frame))) = polled else {
            return polled;
        };
        let mut data = match frame.into_data() {
            Ok(data) => data,
            Err(other) => return Poll::Ready(Some(Ok(other))),
        };
        if let Some(planned) = &mut self.planned
            && !planned.cancelled.is_cancelled()
        {
            let (length, events) = first_events(&data, planned.after);
            planned.after -= events;
            self.held = data.split_off(length);
        }
        self.between_events = data.ends_with(b"\n");
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

/// The length of the first events, at most `max`, and their number. Each event is a line.
fn first_events(data: &[u8], max: u64) -> (usize, u64) {
    let mut events = 0;
    for (at, _) in data.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        events += 1;
        if events == max {
            return (at + 1, events);
        }
    }
    (data.len(), events)
}

/// The error that a client reads when the connection breaks.
pub(super) fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}
