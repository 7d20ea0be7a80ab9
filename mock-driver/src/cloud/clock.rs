//! The cloud's clock: the machine's, or one that only the test advances, so that tests of slow
//! operations are fast and deterministic.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
// The machine's clock, except in tests that pause or advance tokio's.
use tokio::time::Instant;

/// Measures the time since its creation.
///
/// ```
/// use mock_driver::Clock;
/// use std::time::Duration;
///
/// let clock = Clock::manual();
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now(), Duration::from_secs(60));
/// ```
#[derive(Debug, Clone)]
pub struct Clock {
    started: Option<Instant>,
    advanced: Arc<Mutex<Duration>>,
}

impl Clock {
    /// The machine's clock, starting at zero.
    #[must_use]
    pub fn system() -> Self {
        Self {
            started: Some(Instant::now()),
            advanced: Arc::default(),
        }
    }

    /// A clock that only [`advance`](Self::advance) moves. Clones are the same clock.
    #[must_use]
    pub fn manual() -> Self {
        Self {
            started: None,
            advanced: Arc::default(),
        }
    }

    /// The time since the clock was created.
    #[must_use]
    pub fn now(&self) -> Duration {
        let advanced = *self.advanced.lock().unwrap_or_else(PoisonError::into_inner);
        advanced.saturating_add(self.started.map_or(Duration::ZERO, |start| start.elapsed()))
    }

    /// Moves the clock forward, also one that follows the machine's.
    pub fn advance(&self, by: Duration) {
        let mut advanced = self.advanced.lock().unwrap_or_else(PoisonError::into_inner);
        *advanced = advanced.saturating_add(by);
    }
}
