//! Following the journal: every entry once, as it is written.

use super::{CallQuery, JournalEntry};
use crate::cloud::Cloud;
use std::collections::VecDeque;
use tokio::sync::watch;

/// Where a reader of the journal is. One that reads too slowly misses entries, which the numbers
/// show, and costs no memory.
#[derive(Debug)]
pub(crate) struct CallFollower {
    cloud: Cloud,
    query: CallQuery,
    last: watch::Receiver<u64>,
    pending: VecDeque<JournalEntry>,
}

impl CallFollower {
    /// Entries from `query.since` on, or else those to come.
    pub(crate) fn new(cloud: Cloud, mut query: CallQuery) -> Self {
        let last = cloud.call_log().watch();
        query.since.get_or_insert(*last.borrow());
        Self {
            cloud,
            query,
            last,
            pending: VecDeque::new(),
        }
    }

    /// The next entry that fits.
    pub(crate) async fn next(&mut self) -> JournalEntry {
        loop {
            if let Some(entry) = self.pending.pop_front() {
                self.query.since = Some(entry.sequence);
                return entry;
            }
            self.last.mark_unchanged();
            self.pending = self.cloud.call_log().entries(&self.query).into();
            if self.pending.is_empty() {
                // The sender belongs to the cloud, of which this has a handle.
                let _ = self.last.changed().await;
            }
        }
    }
}
