//! The wall clock, which can jump.

use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;

/// The wall clock: what conditions, events and `retryAfter` show. Delays, periods and the lease are
/// measured by clocks that do not jump. The default is the system's.
#[derive(Clone, Default)]
pub struct WallClock(Option<Arc<dyn Fn() -> Timestamp + Send + Sync>>);

impl WallClock {
    /// Another clock than the system's, for tests in which it jumps.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(now)))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.as_ref().map_or_else(Timestamp::now, |now| now())
    }
}

impl fmt::Debug for WallClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "WallClock"
        } else {
            "System"
        })
    }
}

impl PartialEq for WallClock {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for WallClock {}
