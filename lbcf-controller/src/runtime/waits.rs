//! Since when objects wait (d44).
//!
//! This is kept in memory only, because most waits end within a moment and are not worth a write.

use crate::index::RequestKey;
use crate::process::lock::Mutex;
use crate::process::wall_clock::WallClock;
use jiff::Timestamp;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Since when an object waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since {
    pub at: Timestamp,
    pub lasted: Duration,
}

/// Times at which objects began to wait. An object waits for one thing at a time: a reason, or the
/// webhook that responds `Running`.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    began: Mutex<HashMap<RequestKey, (&'static str, Timestamp, Instant)>>,
    wall_clock: WallClock,
}

impl Waits {
    pub(crate) fn new(wall_clock: WallClock) -> Self {
        Self {
            began: Mutex::default(),
            wall_clock,
        }
    }

    /// Begins an object's wait, unless it waits for the same already, and returns since when it
    /// does. `stored` is when it began according to an earlier process.
    pub(crate) fn begin(
        &self,
        key: &RequestKey,
        what: &'static str,
        stored: Option<Timestamp>,
    ) -> Since {
        let now = Instant::now();
        let mut waits = self.began.lock();
        let known = waits.get(key).filter(|(known, ..)| *known == what).copied();
        let (_, at, since) = known.unwrap_or_else(|| {
            let at = self.wall_clock.now();
            let earlier = stored.and_then(|stored| {
                let lasted = Duration::try_from(at.duration_since(stored)).ok()?;
                Some((what, stored, now.checked_sub(lasted)?))
            });
            let began = earlier.unwrap_or((what, at, now));
            waits.insert(key.clone(), began);
            began
        });
        let lasted = now.duration_since(since);
        Since { at, lasted }
    }

    /// Ends an object's wait; returns whether it waited.
    pub(crate) fn end(&self, key: &RequestKey) -> bool {
        self.began.lock().remove(key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ObjectKey;

    fn key() -> RequestKey {
        RequestKey::Record(ObjectKey::new("ns", "r"))
    }

    #[tokio::test(start_paused = true)]
    async fn d44_a_wait_lasts_until_it_ends_or_is_for_something_else() {
        let (waits, second) = (Waits::default(), Duration::from_secs(1));
        let begin = |what| waits.begin(&key(), what, None).lasted;
        assert!(!waits.end(&key()));
        assert_eq!(begin("A"), Duration::ZERO);
        tokio::time::advance(second).await;
        assert_eq!(begin("A"), second);
        assert_eq!(begin("B"), Duration::ZERO);
        tokio::time::advance(second).await;
        assert!(waits.end(&key()));
        assert_eq!(begin("B"), Duration::ZERO);
    }
}
