//! Waiting for a condition, for as long as a user would.

use std::time::{Duration, Instant};

/// The time to wait for a condition. The garbage collector of a cluster takes up to 30 s to notice new CRDs.
const DEADLINE: Duration = Duration::from_secs(60);
const PROBE_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until `probe` returns something, and returns it.
pub(crate) async fn until<T>(
    what: &str,
    probe: impl AsyncFn() -> Result<Option<T>, String>,
) -> Result<T, String> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = probe().await? {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err(format!("not within {} s: {what}", DEADLINE.as_secs()));
        }
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
}
