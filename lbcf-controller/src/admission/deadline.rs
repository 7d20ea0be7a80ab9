//! Until when an answer is worth anything: the API server says how long it waits (u45).

use std::time::Duration;
use tokio::time::Instant;

/// How long the API server waits where it does not say.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);
/// The longest that it can be told to wait.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// What the answer's way back may take, and what is left to put it together.
const MARGIN: Duration = Duration::from_secs(1);

/// How long to work on a request, from its query: `timeout=10s`.
pub(super) fn patience(query: Option<&str>) -> Duration {
    let timeout = query
        .unwrap_or_default()
        .split('&')
        .find_map(|pair| pair.strip_prefix("timeout="))
        .and_then(|text| crate::go_duration::parse(text).ok())
        .filter(|timeout| !timeout.is_zero())
        .unwrap_or(DEFAULT_WAIT)
        .min(MAX_WAIT);
    // Of a short time only a part is held back.
    timeout - MARGIN.min(timeout / 5)
}

/// When to have answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    at: Instant,
    patience: Duration,
}

impl Deadline {
    pub(super) fn after(patience: Duration) -> Self {
        Self {
            at: Instant::now() + patience,
            patience,
        }
    }

    pub(super) const fn at(self) -> Instant {
        self.at
    }

    /// All the time that there was.
    pub(super) const fn patience(self) -> Duration {
        self.patience
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
            assert_eq!(patience(query).as_millis(), millis, "{query:?}");
        }
    }
}
