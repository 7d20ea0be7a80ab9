//! The delays of requests that failed.

use std::time::Duration;

/// Exponential backoff: how long a request waits after failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The shortest wait; 5 s by default.
    pub min: Duration,
    /// The wait after the first failure, which doubles with each further one; 10 s by default.
    pub step: Duration,
    /// The longest wait; 2 min by default.
    pub max: Duration,
}

impl Default for Backoff {
    /// The original controller's durations: 5 s, 10 s and 2 min.
    fn default() -> Self {
        Self {
            min: Duration::from_secs(5),
            step: Duration::from_secs(10),
            max: Duration::from_secs(120),
        }
    }
}

impl Backoff {
    /// The wait after a number of failures in a row (1 or more). `jitter`, from 0 to 1, shortens it
    /// by up to a fifth, so that requests that failed together are not retried together.
    #[must_use]
    pub fn after(&self, failures: u32, jitter: f64) -> Duration {
        let doublings = failures.saturating_sub(1).min(30);
        let full = self
            .step
            .saturating_mul(1 << doublings)
            .clamp(self.min, self.max.max(self.min));
        full.mul_f64(1.0 - 0.2 * jitter.clamp(0.0, 1.0))
            .max(self.min)
    }
}

/// A duration that is longer by a random amount of up to a tenth.
pub(crate) fn spread(time: Duration) -> Duration {
    time.mul_f64(0.1_f64.mul_add(jitter(), 1.0))
}

/// A random number from 0 to 1.
pub(crate) fn jitter() -> f64 {
    f64::from(uuid::Uuid::new_v4().as_bytes()[0]) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b137_b138_d22_waits_double_up_to_the_longest() {
        let backoff = Backoff::default();
        let seconds: Vec<u64> = (1..=6).map(|n| backoff.after(n, 0.0).as_secs()).collect();
        assert_eq!(seconds, [10, 20, 40, 80, 120, 120]);
        assert_eq!(backoff.after(u32::MAX, 0.0).as_secs(), 120);
    }

    #[test]
    fn d22_jitter_shortens_by_a_fifth_at_most_and_never_below_the_minimum() {
        let backoff = Backoff::default();
        assert_eq!(backoff.after(1, 1.0), Duration::from_secs(8));
        let narrow = Backoff {
            min: Duration::from_secs(9),
            ..backoff
        };
        assert_eq!(narrow.after(1, 1.0), Duration::from_secs(9));
    }
}
