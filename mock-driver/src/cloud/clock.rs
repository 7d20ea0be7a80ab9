//! The cloud's clock: the machine's, or one that stands still until somebody moves it, so that a
//! test of something slow is neither slow nor a matter of luck.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
// The machine's clock, but for tests that let tokio's run ahead.
use tokio::time::Instant;

/// Tells how much time has passed since it was made.
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
    moved: Arc<Mutex<Duration>>,
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self {
            started: Some(Instant::now()),
            moved: Arc::default(),
        }
    }

    /// A clock that only [`advance`](Self::advance) moves. Clones are the same clock.
    #[must_use]
    pub fn manual() -> Self {
        Self {
            started: None,
            moved: Arc::default(),
        }
    }

    /// The time since this clock was made.
    #[must_use]
    pub fn now(&self) -> Duration {
        let moved = *self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        moved + self.started.map_or(Duration::ZERO, |start| start.elapsed())
    }

    /// Moves the clock forward; the machine's as well.
    pub fn advance(&self, by: Duration) {
        *self.moved.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}
