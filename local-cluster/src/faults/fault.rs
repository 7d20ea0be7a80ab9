//! Faults: an effect, a filter and a schedule.

use std::time::Duration;

use super::error_response::ErrorResponse;
use super::request::{RequestFilter, RequestInfo, Verb};
use super::schedule::Schedule;

/// How a watch ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The response ends, as after the watch's timeout.
    Clean,
    /// The connection is reset.
    Broken,
    /// The server sends an `ERROR` event with code 410.
    Expired,
}

/// When a fault acts on a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    Before(FaultAction),
    After(FaultAction),
    /// On a watch, after this many events.
    Watch(WatchEnd, u64),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FaultAction {
    Delay(Duration),
    /// A delay until the fault ends.
    Hold,
    Abort(ErrorResponse),
    Disconnect,
}

impl Effect {
    /// Whether the request is not handled.
    pub(super) const fn prevents(&self) -> bool {
        matches!(
            self,
            Self::Before(FaultAction::Abort(_) | FaultAction::Disconnect)
        )
    }
}

/// A fault: its effect, the requests that it affects, and how often.
///
/// By default it affects every request for objects as long as its [`FaultGuard`](crate::FaultGuard)
/// lives.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub(super) effect: Effect,
    filter: RequestFilter,
    pub(super) schedule: Schedule,
}

impl Fault {
    fn new(effect: Effect) -> Self {
        Self {
            effect,
            filter: RequestFilter::default(),
            schedule: Schedule::default(),
        }
    }

    /// The request is handled later.
    pub fn delay(time: Duration) -> Self {
        Self::new(Effect::Before(FaultAction::Delay(time)))
    }

    /// The request is handled when the fault's guard is dropped.
    pub fn hold() -> Self {
        Self::new(Effect::Before(FaultAction::Hold))
    }

    /// The request is not handled; the response is an error.
    pub fn abort(error: ErrorResponse) -> Self {
        Self::new(Effect::Before(FaultAction::Abort(error)))
    }

    /// The request is not handled, and the connection ends without a response. In process, the
    /// response's body fails.
    pub fn disconnect() -> Self {
        Self::new(Effect::Before(FaultAction::Disconnect))
    }

    /// The request is handled, and its response is sent later.
    pub fn delay_response(time: Duration) -> Self {
        Self::new(Effect::After(FaultAction::Delay(time)))
    }

    /// The request is handled, and its response is sent when the fault's guard is dropped.
    pub fn hold_response() -> Self {
        Self::new(Effect::After(FaultAction::Hold))
    }

    /// The request is handled, and its response is replaced by an error.
    pub fn replace_response(error: ErrorResponse) -> Self {
        Self::new(Effect::After(FaultAction::Abort(error)))
    }

    /// The request is handled, and the connection ends without a response. In process, the response's
    /// body fails.
    pub fn drop_response() -> Self {
        Self::new(Effect::After(FaultAction::Disconnect))
    }

    /// Watches that start while the fault is active end after this many events, bookmarks included.
    /// [`Faults::end_watches`](crate::Faults::end_watches) ends running watches.
    pub fn end_watch(end: WatchEnd, after_events: u64) -> Self {
        Self::new(Effect::Watch(end, after_events))
    }

    /// Affects only requests that match the filter.
    #[must_use]
    pub fn of(mut self, filter: RequestFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Does not affect the first requests that match.
    #[must_use]
    pub const fn skip(mut self, requests: u64) -> Self {
        self.schedule.skip = requests;
        self
    }

    /// Affects at most this many requests.
    #[must_use]
    pub const fn times(mut self, requests: u64) -> Self {
        self.schedule.times = requests;
        self
    }

    /// Affects each request with this probability, from 0 to 1. The seed and the order of the requests
    /// alone decide which.
    #[must_use]
    pub const fn chance(mut self, probability: f64, seed: u64) -> Self {
        self.schedule.chance = Some((probability, seed));
        self
    }

    pub(super) fn matches(&self, request: &RequestInfo<'_>) -> bool {
        let applies = !matches!(self.effect, Effect::Watch(..)) || request.verb == Verb::Watch;
        applies && self.filter.matches(request)
    }
}
