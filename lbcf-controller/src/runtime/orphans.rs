//! Gives each record without an owner a grace period, in which its owner may appear and adopt it.
//!
//! This is kept in memory only: after a start they wait the whole time again.

use crate::api::ObjectKey;
use crate::process::lock::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Since when each record without an owner is known to have none.
#[derive(Debug, Default)]
pub(crate) struct Orphans(Mutex<HashMap<ObjectKey, Instant>>);

impl Orphans {
    /// Returns the rest of `grace_period`, which begins with the first call for a record; zero when it
    /// is over.
    pub(crate) fn wait(&self, record: &ObjectKey, grace_period: Duration) -> Duration {
        let now = Instant::now();
        let since = *self.0.lock().entry(record.clone()).or_insert(now);
        grace_period.saturating_sub(now.duration_since(since))
    }

    /// Ends the time of a record that has an owner again or no longer exists.
    pub(crate) fn remove(&self, record: &ObjectKey) {
        self.0.lock().remove(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn d34_the_time_begins_when_a_record_is_found_without_an_owner() {
        let (orphans, record) = (Orphans::default(), ObjectKey::new("ns", "r"));
        let minute = Duration::from_secs(60);
        assert_eq!(orphans.wait(&record, minute), minute);
        tokio::time::advance(minute / 3).await;
        assert_eq!(orphans.wait(&record, minute), minute / 3 * 2);
        tokio::time::advance(minute).await;
        assert_eq!(orphans.wait(&record, minute), Duration::ZERO);
        orphans.remove(&record);
        assert_eq!(orphans.wait(&record, minute), minute);
    }
}
