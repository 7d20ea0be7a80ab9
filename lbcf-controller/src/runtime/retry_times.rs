//! When what failed is tried again, by a clock that does not jump (d57).
//!
//! A Bind's `retryAfter` is wall-clock time, so that it binds the next process too. Each process translates
//! it once, when it stores or first reads it: a wall clock that is set back by a day would delay the retry
//! by a day, and one that is set forward would end every delay.

use crate::api::{Condition, ConditionStatus};
use crate::index::RequestKey;
use crate::process::lock::Mutex;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The largest difference that is expected between the clocks of two replicas.
const SKEW: SignedDuration = SignedDuration::from_mins(1);

/// By request: the stored time, and when that is.
#[derive(Debug, Default)]
pub(crate) struct RetryTimes(Mutex<HashMap<RequestKey, (String, Instant)>>);

impl RetryTimes {
    /// Remembers a time that this process stores.
    pub(crate) fn insert(&self, key: &RequestKey, stored: &str, delay: Duration) {
        if let Some(until) = Instant::now().checked_add(delay) {
            let time = (stored.to_owned(), until);
            self.0.lock().insert(key.clone(), time);
        }
    }

    /// Returns none if the stored time is over. `wall` is the present time of the wall clock, which
    /// counts only when this process first reads a time that another one stored, and `conditions` are
    /// those that were stored with the time.
    pub(crate) fn remaining(
        &self,
        key: &RequestKey,
        stored: &str,
        conditions: &[Condition],
        wall: Timestamp,
    ) -> Option<Duration> {
        let now = Instant::now();
        let mut times = self.0.lock();
        let until = match times.get(key) {
            Some((known, until)) if known == stored => *until,
            _ => {
                let wait = delay_of_other_process(stored, conditions, wall).unwrap_or_default();
                let until = now.checked_add(wait)?;
                times.insert(key.clone(), (stored.to_owned(), until));
                until
            }
        };
        let remaining = until.saturating_duration_since(now);
        (!remaining.is_zero()).then_some(remaining)
    }

    pub(crate) fn remove(&self, key: &RequestKey) {
        self.0.lock().remove(key);
    }
}

/// Returns the rest of a delay that another process stored; none if the clock was set back since, or
/// was wrong when the delay was stored: then the failure is in the future. So the rest is at most the
/// original delay and the time that the failure has lasted.
fn delay_of_other_process(
    stored: &str,
    conditions: &[Condition],
    wall: Timestamp,
) -> Option<Duration> {
    let at: Timestamp = stored.parse().ok()?;
    let is_in_future = |condition: &Condition| {
        let began = condition.last_transition_time.as_deref()?;
        let began: Timestamp = began.parse().ok()?;
        Some(began.duration_since(wall) > SKEW)
    };
    let mut failed = conditions
        .iter()
        .filter(|condition| condition.status == ConditionStatus::False);
    if failed.any(|condition| is_in_future(condition) == Some(true)) {
        return None;
    }
    Duration::try_from(at.duration_since(wall)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;

    const STORED: &str = "2026-01-01T00:05:00.001Z";

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    fn failed(since: &str) -> [Condition; 1] {
        [Condition {
            last_transition_time: Some(since.to_owned()),
            ..Condition::unmet("Ready", "EnsureFailed", "", None)
        }]
    }

    #[tokio::test(start_paused = true)]
    async fn d57_jumps_of_the_wall_clock_change_no_delay() {
        let (times, minute) = (RetryTimes::default(), Duration::from_secs(60));
        let key = RequestKey::Record(ObjectKey::new("ns", "r"));
        let conditions = failed("2026-01-01T00:04:00Z");
        times.insert(&key, STORED, minute);
        let remaining = |wall| times.remaining(&key, STORED, &conditions, at(wall));
        for wall in [
            "2025-12-31T00:04:00Z",
            "2026-01-01T00:04:00Z",
            "2026-01-02T00:04:00Z",
        ] {
            assert_eq!(remaining(wall), Some(minute), "{wall}");
        }
        tokio::time::advance(minute).await;
        assert_eq!(remaining("2025-12-31T00:04:00Z"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn d57_a_delay_of_an_earlier_process_applies_unless_the_clock_was_set_back_since() {
        let key = RequestKey::Record(ObjectKey::new("ns", "r"));
        let seconds = |since, wall, stored| {
            let times = RetryTimes::default();
            let wait = times.remaining(&key, stored, &failed(since), at(wall));
            wait.map(|wait| wait.as_secs())
        };
        let began = "2026-01-01T00:04:00Z";
        assert_eq!(seconds(began, "2026-01-01T00:04:30Z", STORED), Some(30));
        // The clocks of replicas differ.
        assert_eq!(seconds(began, "2026-01-01T00:03:30Z", STORED), Some(90));
        assert_eq!(seconds(began, "2025-12-31T00:04:30Z", STORED), None);
        assert_eq!(seconds(began, "2026-01-02T00:04:30Z", STORED), None);
        assert_eq!(seconds(began, "2026-01-01T00:04:30Z", "soon"), None);
    }
}
