//! Waiting for conditions.

use std::fmt::Debug;
use std::time::Duration;
use tokio::time::Instant;

/// The longest that any condition may take. Only a defect takes as long, so it is generous: a busy
/// machine is slow, and a watch that breaks repeatedly is restarted after up to 30 s.
pub(crate) const DEADLINE: Duration = Duration::from_secs(600);
/// The pause between two probes grows from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Waits until `probe` returns `expected`.
///
/// # Panics
/// After the deadline of 10 min, with the value that was seen last.
pub async fn until_is<T: PartialEq + Debug>(what: &str, expected: T, probe: impl AsyncFn() -> T) {
    let (deadline, mut pause) = (Instant::now() + DEADLINE, FIRST_PAUSE);
    loop {
        let seen = probe().await;
        if seen == expected {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "not within {}s: {what}\n expected: {expected:?}\n      seen: {seen:?}",
            DEADLINE.as_secs()
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

/// Waits until `probe` returns something, and returns it.
///
/// # Panics
/// After the deadline of 10 min.
pub async fn until<T>(what: &str, probe: impl AsyncFn() -> Option<T>) -> T {
    until_within(DEADLINE, what, probe).await
}

/// Like [`until`], with a deadline of its own.
pub async fn until_within<T>(
    timeout: Duration,
    what: &str,
    probe: impl AsyncFn() -> Option<T>,
) -> T {
    let (deadline, mut pause) = (Instant::now() + timeout, FIRST_PAUSE);
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "not within {}s: {what}",
            timeout.as_secs()
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}
