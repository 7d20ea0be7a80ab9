//! A token bucket: a rate with a burst, for requests of the controller and for the hooks of a driver. The time is an argument.

use std::time::Duration;
use tokio::time::Instant;

/// A limited number of tokens, of which new ones come at a rate.
#[derive(Debug)]
pub struct TokenBucket {
    interval: Duration,
    /// There is a token if `full_at` is at most this far ahead.
    tolerance: Duration,
    /// Stored instead of the number of tokens, which changes with time.
    full_at: Instant,
}

impl TokenBucket {
    /// A full bucket of `burst` tokens, which gets `per_second` new ones a second.
    #[must_use]
    pub fn new(per_second: u32, burst: u32, now: Instant) -> Self {
        Self::with_interval(Duration::from_secs(1) / per_second.max(1), burst, now)
    }

    /// A full bucket of `burst` tokens, which gets a new one after each interval.
    #[must_use]
    pub fn with_interval(interval: Duration, burst: u32, now: Instant) -> Self {
        Self {
            interval,
            tolerance: interval.saturating_mul(burst.saturating_sub(1)),
            full_at: now,
        }
    }

    /// True if it is as it was when it was new.
    #[must_use]
    pub fn is_full(&self, now: Instant) -> bool {
        self.full_at <= now
    }

    /// Takes a token.
    ///
    /// # Errors
    /// When there will be one.
    pub fn take(&mut self, now: Instant) -> Result<(), Instant> {
        self.take_leaving(0, now)
    }

    /// The same, but leaves so many of the tokens of the burst to others.
    ///
    /// # Errors
    /// When there will be one more.
    pub fn take_leaving(&mut self, rest: u32, now: Instant) -> Result<(), Instant> {
        let ahead = self.full_at.saturating_duration_since(now);
        let of_others = self.interval.saturating_mul(rest);
        let tolerance = self.tolerance.saturating_sub(of_others);
        if ahead > tolerance {
            return Err(now + (ahead - tolerance));
        }
        self.full_at = self.full_at.max(now) + self.interval;
        Ok(())
    }

    /// Takes the next token that is not taken, and returns when there will be one: those who wait for it go in the order in
    /// which they came.
    pub fn reserve(&mut self, now: Instant) -> Instant {
        let ahead = self.full_at.saturating_duration_since(now);
        self.full_at = self.full_at.max(now) + self.interval;
        now + ahead.saturating_sub(self.tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b147_a_burst_passes_and_then_so_many_requests_a_second() {
        let began = Instant::now();
        let at = |millis| began + Duration::from_millis(millis);
        let mut bucket = TokenBucket::new(4, 3, began);
        for _ in 0..3 {
            assert_eq!(bucket.take(at(0)), Ok(()));
        }
        assert_eq!(bucket.take(at(0)), Err(at(250)));
        assert_eq!(bucket.take(at(100)), Err(at(250)), "waiting takes no token");
        assert_eq!(bucket.take(at(250)), Ok(()));
        assert_eq!(bucket.take(at(250)), Err(at(500)));
        for _ in 0..3 {
            assert_eq!(bucket.take(at(60_000)), Ok(()), "it never holds more");
        }
        assert_eq!(bucket.take(at(60_000)), Err(at(60_250)));
    }

    #[test]
    fn those_who_wait_have_tokens_of_their_own() {
        let began = Instant::now();
        let at = |millis| began + Duration::from_millis(millis);
        let mut bucket = TokenBucket::new(4, 2, began);
        let reserved: Vec<_> = (0..4).map(|_| bucket.reserve(at(0))).collect();
        assert_eq!(reserved, [at(0), at(0), at(250), at(500)]);
        assert_eq!(bucket.take(at(600)), Err(at(750)), "they are first");
        assert_eq!(bucket.reserve(at(800)), at(800));
    }

    #[test]
    fn numbers_at_the_edge_do_not_overflow() {
        let now = Instant::now();
        for (per_second, burst) in [(0, 0), (1, u32::MAX), (u32::MAX, u32::MAX), (u32::MAX, 0)] {
            let mut bucket = TokenBucket::new(per_second, burst, now);
            assert_eq!(bucket.take(now), Ok(()));
        }
    }
}
