//! Faults: an effect, a filter and a schedule, which decides which of the matching requests it hits; and the error
//! responses of injected faults.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::request::{RequestFilter, RequestInfo, Verb};
use crate::status::ApiError;

/// An early end of a watch.
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
    /// At most until the fault ends.
    Delay(Duration),
    Abort(ErrorResponse),
    Disconnect,
}

impl Effect {
    /// The request is not handled.
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
        Self::delay(Duration::MAX)
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
        Self::delay_response(Duration::MAX)
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    /// The number of requests that pass first.
    pub(super) skip: u64,
    /// The largest number of requests that are hit.
    pub(super) times: u64,
    /// The probability of a hit, and the seed.
    pub(super) chance: Option<(f64, u64)>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            skip: 0,
            times: u64::MAX,
            chance: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FaultProgress {
    pub(super) matched: u64,
    pub(super) hits: u64,
}

impl FaultProgress {
    /// Counts a request. Returns whether it is hit.
    pub(super) fn next(&mut self, schedule: &Schedule) -> bool {
        let number = self.matched;
        self.matched += 1;
        let hit = number >= schedule.skip
            && self.hits < schedule.times
            && schedule
                .chance
                .is_none_or(|(chance, seed)| fraction(seed, number) < chance);
        self.hits += u64::from(hit);
        hit
    }
}

/// A number from 0 to 1 that depends on the seed and the request's number alone (SplitMix64).
fn fraction(seed: u64, number: u64) -> f64 {
    let mut mixed = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // 32 bits are exact in a float.
    f64::from(u32::try_from(mixed >> 32).unwrap_or(u32::MAX)) / (f64::from(u32::MAX) + 1.0)
}

/// An error response with a Kubernetes `Status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorResponse {
    code: u16,
    reason: String,
    /// `None` for the message of a conflict, which names the object.
    message: Option<String>,
    retry_after_seconds: Option<u32>,
}

impl ErrorResponse {
    /// Any error: an HTTP status code (400 to 599), the machine-readable reason and a message.
    pub fn new(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.clamp(400, 599),
            reason: reason.into(),
            message: Some(message.into()),
            retry_after_seconds: None,
        }
    }

    /// 409 `Conflict`: another client has written the object.
    pub fn conflict() -> Self {
        let message = None;
        Self {
            message,
            ..Self::new(409, "Conflict", "")
        }
    }

    /// 410 `Expired`: the resource version is too old.
    pub fn expired() -> Self {
        Self::new(410, "Expired", "too old resource version: 1 (2)")
    }

    /// 429 `TooManyRequests`, with the time after which the client may retry.
    pub fn too_many_requests(retry_after_seconds: u32) -> Self {
        let message =
            "the server has received too many requests and has asked us to try again later";
        Self::new(429, "TooManyRequests", message).retry_after(retry_after_seconds)
    }

    /// 500 `InternalError`, as for a failure of the storage.
    pub fn internal_error() -> Self {
        let message = "Internal error occurred: a fault was injected";
        Self::new(500, "InternalError", message)
    }

    /// Sets `details.retryAfterSeconds` and the `Retry-After` header.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    pub(super) fn status(&self, request: &RequestInfo<'_>) -> Value {
        let error = match &self.message {
            Some(message) => {
                let error = ApiError::with_reason(self.code, self.reason.clone(), message);
                error.with(json!({}))
            }
            None => ApiError::modified_in((request.group, request.plural), request.name),
        };
        let mut status = error.to_value();
        if let Some(seconds) = self.retry_after_seconds {
            status["details"]["retryAfterSeconds"] = Value::from(seconds);
        }
        status
    }

    pub(super) fn response(&self, request: &RequestInfo<'_>) -> Response {
        let mut response = Response::new(Body::from(self.status(request).to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(schedule: Schedule, requests: u64) -> Vec<u64> {
        let mut progress = FaultProgress::default();
        let hits = (0..requests).filter(|_| progress.next(&schedule)).collect();
        assert_eq!(progress.matched, requests);
        hits
    }

    #[test]
    fn skip_and_times_limit_the_hits() {
        assert_eq!(hits(Schedule::default(), 3), [0, 1, 2]);
        let schedule = Schedule {
            skip: 1,
            times: 2,
            chance: None,
        };
        assert_eq!(hits(schedule, 9), [1, 2]);
    }

    #[test]
    fn chance_is_reproducible_and_has_the_given_probability() {
        let schedule = |chance, seed| Schedule {
            chance: Some((chance, seed)),
            ..Schedule::default()
        };
        let first = hits(schedule(0.3, 7), 10_000);
        assert_eq!(first, hits(schedule(0.3, 7), 10_000));
        assert_ne!(first, hits(schedule(0.3, 8), 10_000));
        assert!((2_800..3_200).contains(&first.len()), "{}", first.len());
        assert!(hits(schedule(0.0, 7), 100).is_empty());
        assert_eq!(hits(schedule(1.0, 7), 100).len(), 100);
    }
}
