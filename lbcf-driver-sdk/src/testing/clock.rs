//! A paused clock that a test moves.

use std::time::Duration;
use tokio::time::Instant;

/// The number of times that the test yields to tasks whose timers have fired.
const YIELDS: usize = 100;

/// tokio's paused clock: it only moves when the test moves it, or when all tasks wait; then it jumps to
/// the next timer. A driver's jobs and the router's deadlines therefore take no time in a test, and
/// run in the same order each time.
///
/// ```
/// use lbcf_driver_sdk::testing::Clock;
/// use std::time::Duration;
///
/// #[tokio::test(start_paused = true)]
/// # async fn not_called() {}
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// # a_job_takes_40_seconds().await
/// # }
/// async fn a_job_takes_40_seconds() {
///     let clock = Clock::start();
///     let job = tokio::spawn(tokio::time::sleep(Duration::from_secs(40)));
///     clock.advance(Duration::from_secs(39)).await;
///     assert!(!job.is_finished());
///     clock.advance(Duration::from_secs(1)).await;
///     assert!(job.is_finished());
///     assert_eq!(clock.elapsed(), Duration::from_secs(40));
/// }
/// ```
///
/// It requires the single-threaded runtime of `#[tokio::test]`. A test with sockets cannot use it: the
/// clock jumps while tasks wait for a socket.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    /// A clock that counts from now.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    /// Moves the clock. Timers fire in order, each at its time, and their tasks have run when this
    /// returns.
    ///
    /// # Panics
    /// If the clock is not paused: write `#[tokio::test(start_paused = true)]`.
    pub async fn advance(&self, by: Duration) {
        // Panics if the clock is not paused, instead of waiting.
        tokio::time::advance(Duration::ZERO).await;
        // `tokio::time::advance` would fire all timers at the end.
        tokio::time::sleep(by).await;
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
    }

    /// The time since [`start`](Self::start).
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
