//! A clock that stands still until a test moves it.

use std::time::Duration;
use tokio::time::Instant;

/// How often tasks that are due get a turn before the clock is said to have moved.
const TURNS: usize = 100;

/// tokio's clock, paused: it stands still until the test moves it, or until nothing is left to do
/// but to wait; then it jumps to the next moment at which something is due. What waits for time,
/// a driver's jobs as well as the router's deadlines, therefore takes none in a test, and happens
/// in the same order each time.
///
/// ```
/// use lbcf_driver_sdk::testing::Clock;
/// use std::time::Duration;
///
/// #[tokio::test(start_paused = true)]
/// # async fn not_called() {}
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// # a_job_takes_its_time().await
/// # }
/// async fn a_job_takes_its_time() {
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
/// It needs the runtime of `#[tokio::test]`, which has one thread. A test that talks over sockets
/// cannot have it: to the clock, waiting for a socket is nothing to do.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
}

impl Clock {
    /// The test's clock, counting from now.
    ///
    /// # Panics
    /// If there is no runtime.
    #[must_use]
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    /// Moves the clock. What is due meanwhile happens at its time, one thing after the other;
    /// when this returns, all of it has.
    ///
    /// # Panics
    /// If the clock is not paused: write `#[tokio::test(start_paused = true)]`.
    pub async fn advance(&self, by: Duration) {
        // Says so if it is not paused, rather than to wait for real.
        tokio::time::advance(Duration::ZERO).await;
        // `tokio::time::advance` would jump over what is due in between.
        tokio::time::sleep(by).await;
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    }

    /// How far it has come.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
