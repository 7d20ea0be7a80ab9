//! What a fault is.

use std::time::Duration;

use super::asked::{Asked, RequestFilter, Verb};
use super::refusal::Refusal;
use super::schedule::Schedule;

/// How a watch ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// As it does when its time is over.
    Quiet,
    /// The connection breaks.
    Broken,
    /// The server says that it has forgotten what came since: an `ERROR` event with code 410.
    Expired,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// Before it is carried out.
    Before(Trouble),
    /// When it has been carried out.
    After(Trouble),
    /// To a watch, after so many events.
    Watch(WatchEnd, u64),
}

/// What happens before or after a request is carried out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    Delay(Duration),
    /// A delay to the fault's end.
    Hold,
    Refuse(Refusal),
    /// The connection ends without an answer.
    Cut,
}

impl Effect {
    /// Whether the request is not carried out.
    pub(super) const fn prevents(&self) -> bool {
        matches!(self, Self::Before(Trouble::Refuse(_) | Trouble::Cut))
    }
}

/// A fault: what happens, to which requests, and how often. Without more being said it happens to
/// every request for objects, as long as its guard lives.
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

    /// The request is carried out later.
    pub fn delay(time: Duration) -> Self {
        Self::new(Effect::Before(Trouble::Delay(time)))
    }

    /// The request is carried out when the fault's guard is dropped.
    pub fn hold() -> Self {
        Self::new(Effect::Before(Trouble::Hold))
    }

    /// The request is not carried out, but answered with an error.
    pub fn refuse(refusal: Refusal) -> Self {
        Self::new(Effect::Before(Trouble::Refuse(refusal)))
    }

    /// The request is not carried out, and the connection ends without an answer. In process, the
    /// answer's body fails.
    pub fn cut() -> Self {
        Self::new(Effect::Before(Trouble::Cut))
    }

    /// The request is carried out, and answered later.
    pub fn delay_answer(time: Duration) -> Self {
        Self::new(Effect::After(Trouble::Delay(time)))
    }

    /// The request is carried out, and answered when the fault's guard is dropped.
    pub fn hold_answer() -> Self {
        Self::new(Effect::After(Trouble::Hold))
    }

    /// The request is carried out, and answered with an error all the same.
    pub fn refuse_afterwards(refusal: Refusal) -> Self {
        Self::new(Effect::After(Trouble::Refuse(refusal)))
    }

    /// The request is carried out, and the connection ends without an answer. In process, the
    /// answer's body fails.
    pub fn lose_answer() -> Self {
        Self::new(Effect::After(Trouble::Cut))
    }

    /// Watches end after so many events, bookmarks included; those are meant that begin while the
    /// fault is in force. [`Faults::end_watches`](crate::Faults::end_watches) ends others.
    pub fn end_watch(end: WatchEnd, after_events: u64) -> Self {
        Self::new(Effect::Watch(end, after_events))
    }

    /// Concerns these requests only.
    #[must_use]
    pub fn of(mut self, filter: RequestFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Lets so many requests pass first.
    #[must_use]
    pub const fn skip(mut self, requests: u64) -> Self {
        self.schedule.skip = requests;
        self
    }

    /// Strikes so many requests and no more.
    #[must_use]
    pub const fn times(mut self, requests: u64) -> Self {
        self.schedule.times = requests;
        self
    }

    /// Strikes each request with this probability, from 0 to 1. Which ones, the seed and their order
    /// decide alone.
    #[must_use]
    pub const fn chance(mut self, probability: f64, seed: u64) -> Self {
        self.schedule.chance = Some((probability, seed));
        self
    }

    pub(super) fn concerns(&self, asked: &Asked<'_>) -> bool {
        let is_its_kind = !matches!(self.effect, Effect::Watch(..)) || asked.verb == Verb::Watch;
        is_its_kind && self.filter.matches(asked)
    }
}
