//! Watches that may end before their time.

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

use super::asked::{Asked, RequestFilter};
use super::fault::WatchEnd;
use super::refusal::Refusal;

/// The watches that are under way.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<Watches>);

#[derive(Debug, Default)]
struct Watches {
    next: u64,
    by_number: BTreeMap<u64, Arc<Known>>,
}

/// A watch as it is known from outside.
#[derive(Debug)]
struct Known {
    /// Group, plural, namespace and user agent: all that a watch can be chosen by.
    group: String,
    plural: String,
    namespace: String,
    user_agent: String,
    end: OnceLock<WatchEnd>,
    ended: CancellationToken,
}

impl Known {
    fn asked(&self) -> Asked<'_> {
        Asked {
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

/// A watch's place among those that are under way.
#[derive(Debug)]
pub(super) struct Registered {
    number: u64,
    known: Arc<Known>,
    running: Arc<Running>,
}

/// Notes a watch that begins.
pub(super) fn register(running: &Arc<Running>, asked: &Asked<'_>) -> Registered {
    let known = Arc::new(Known {
        group: asked.group.to_owned(),
        plural: asked.plural.to_owned(),
        namespace: asked.namespace.to_owned(),
        user_agent: asked.user_agent.to_owned(),
        end: OnceLock::new(),
        ended: CancellationToken::new(),
    });
    let mut watches = running.0.lock().unwrap_or_else(PoisonError::into_inner);
    let number = watches.next;
    watches.next += 1;
    watches.by_number.insert(number, Arc::clone(&known));
    drop(watches);
    Registered {
        number,
        known,
        running: Arc::clone(running),
    }
}

impl Running {
    /// Ends watches; returns how many.
    pub(super) fn end(&self, end: WatchEnd, filter: &RequestFilter) -> usize {
        let watches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = 0;
        for known in watches.by_number.values() {
            if filter.matches(&known.asked()) && known.end.set(end).is_ok() {
                known.ended.cancel();
                count += 1;
            }
        }
        count
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut watches = self
            .running
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        watches.by_number.remove(&self.number);
    }
}

/// A watch's body, which ends when it is told to.
pub(super) struct Watched {
    body: Body,
    registered: Registered,
    told: Pin<Box<WaitForCancellationFutureOwned>>,
    early: Option<Early>,
    /// Whether what was sent last is a whole line: half a line is no event.
    between_events: bool,
    /// What came together with the last event before the end.
    held: Bytes,
    /// Whether the server had the time to send what came before the break.
    sent: bool,
    over: bool,
}

/// What a fault has in mind for a watch.
pub(super) struct Early {
    pub(super) end: WatchEnd,
    /// After how many events more.
    pub(super) after: u64,
    /// The fault is no longer in force.
    pub(super) called_off: CancellationToken,
}

impl Watched {
    pub(super) fn new(body: Body, registered: Registered, early: Option<Early>) -> Self {
        let told = registered.known.ended.clone().cancelled_owned();
        Self {
            body,
            registered,
            told: Box::pin(told),
            early,
            between_events: true,
            held: Bytes::new(),
            sent: false,
            over: false,
        }
    }

    /// How it ends, if it ends now.
    fn ending(&self) -> Option<WatchEnd> {
        if !self.between_events {
            return None;
        }
        let early = self.early.as_ref();
        early
            .filter(|early| early.after == 0 && !early.called_off.is_cancelled())
            .map(|early| early.end)
            .or_else(|| self.registered.known.end.get().copied())
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.over {
            return Poll::Ready(None);
        }
        // Polled for its waker; what it tells is in `known`.
        let _ = self.told.as_mut().poll(context);
        if let Some(end) = self.ending() {
            if end == WatchEnd::Broken && !self.sent {
                // Servers send what they have when there is no more for the moment; an error would
                // have them forget it.
                self.sent = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.over = true;
            return Poll::Ready(match end {
                WatchEnd::Quiet => None,
                WatchEnd::Broken => Some(Err(axum::Error::new(reset()))),
                WatchEnd::Expired => {
                    let status = Refusal::expired().status(&self.registered.known.asked());
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
        if let Some(early) = &mut self.early
            && !early.called_off.is_cancelled()
        {
            let (length, events) = first_events(&data, early.after);
            early.after -= events;
            self.held = data.split_off(length);
        }
        self.between_events = data.ends_with(b"\n");
        Poll::Ready(Some(Ok(Frame::data(data))))
    }
}

/// How long the first so many events are, and how many of them there are. Each is a line.
fn first_events(data: &[u8], most: u64) -> (usize, u64) {
    let mut events = 0;
    for (at, _) in data.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        events += 1;
        if events == most {
            return (at + 1, events);
        }
    }
    (data.len(), events)
}

/// What a client sees of a connection that breaks.
pub(super) fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}
