//! The deadline of a request, derived from the API server's timeout (u45).

use lbcf_serving::duration;
use std::time::Duration;
use tokio::time::Instant;

/// The API server's timeout where the request names none.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);
/// The longest timeout that a webhook configuration allows.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Reserved for assembling and sending the response.
const MARGIN: Duration = Duration::from_secs(1);

/// The time for a request, from its query such as `timeout=10s`.
pub(super) fn request_timeout(query: Option<&str>) -> Duration {
    let timeout = query
        .unwrap_or_default()
        .split('&')
        .find_map(|pair| pair.strip_prefix("timeout="))
        .and_then(|text| duration::parse(text).ok())
        .filter(|timeout| !timeout.is_zero())
        .unwrap_or(DEFAULT_WAIT)
        .min(MAX_WAIT);
    // At most a fifth of the timeout is reserved.
    timeout - MARGIN.min(timeout / 5)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    /// The time from the start to the deadline.
    pub(super) timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        Self {
            at: Instant::now() + timeout,
            timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u45_the_api_servers_timeout_is_kept_with_a_margin() {
        for (query, millis) in [
            (Some("timeout=10s"), 9_000),
            (Some("x=y&timeout=30s"), 29_000),
            (Some("timeout=1m"), 29_000),
            (Some("timeout=1s"), 800),
            (Some("timeout=0s"), 9_000),
            (Some("timeout=soon"), 9_000),
            (Some(""), 9_000),
            (None, 9_000),
        ] {
            assert_eq!(request_timeout(query).as_millis(), millis, "{query:?}");
        }
    }
}
