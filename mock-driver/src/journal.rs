//! The webhook calls and their outcomes: counters for tests that limit the number of calls, and the
//! last calls one by one for users.
//!
//! The log belongs to the cloud and not to the server, so it outlives restarts of the driver.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of calls of each webhook, at one point in time. It counts the calls that reach the
/// driver: neither malformed ones nor those that join an equal call in flight.
///
/// ```
/// # use mock_driver::Cloud;
/// # let cloud = Cloud::empty();
/// let before = cloud.calls();
/// // … the cluster is idle …
/// assert_eq!(cloud.calls().difference(&before).total(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WebhookCalls(BTreeMap<&'static str, u64>);

impl WebhookCalls {
    /// The calls of one webhook; 0 for an unknown name.
    #[must_use]
    pub fn get(&self, webhook: &str) -> u64 {
        self.0.get(webhook).copied().unwrap_or_default()
    }

    /// The calls of all webhooks together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// The calls since `earlier`, without webhooks that were not called.
    #[must_use]
    pub fn difference(&self, earlier: &Self) -> Self {
        let since = |(name, calls): (&&'static str, &u64)| {
            let calls = calls.saturating_sub(earlier.get(name));
            (calls > 0).then_some((*name, calls))
        };
        Self(self.0.iter().filter_map(since).collect())
    }

    /// The webhooks that were called, with the number of calls.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(name, calls)| (*name, *calls))
    }

    /// The number of calls by webhook.
    #[must_use]
    pub const fn as_map(&self) -> &BTreeMap<&'static str, u64> {
        &self.0
    }
}

/// One call of a webhook, with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    /// Its number among all calls, from 1.
    pub sequence: u64,
    /// The name of the webhook, such as `ensureBackend`.
    pub webhook: String,
    /// The call's recordID; empty where the webhook has none.
    #[serde(rename = "recordID")]
    pub record_id: String,
    /// The call's retryID; empty where the webhook has none.
    #[serde(rename = "retryID")]
    pub retry_id: String,
    /// Whether the request had `dryRun` set.
    pub dry_run: bool,
    /// The outcome: `Succ`, `Fail` or `Running`; for a webhook that decides, `Accepted` or `Refused`.
    pub status: String,
    /// The message of the reply.
    pub msg: String,
}

#[derive(Debug, Default)]
pub(crate) struct CallLog(Mutex<Log>);

#[derive(Debug, Default)]
struct Log {
    counts: BTreeMap<&'static str, u64>,
    sequence: u64,
    entries: VecDeque<JournalEntry>,
}

impl CallLog {
    pub(crate) fn snapshot(&self) -> WebhookCalls {
        WebhookCalls(self.lock().counts.clone())
    }

    pub(crate) fn entries(&self) -> Vec<JournalEntry> {
        self.lock().entries.iter().cloned().collect()
    }

    /// Removes all entries. The counters keep their values, which are compared with earlier ones.
    pub(crate) fn clear(&self) {
        self.lock().entries.clear();
    }

    pub(crate) fn count(&self, webhook: &'static str) {
        *self.lock().counts.entry(webhook).or_default() += 1;
    }

    /// Appends an entry, numbers it, and keeps the last `size` entries.
    pub(crate) fn add(&self, mut entry: JournalEntry, size: usize) {
        let mut log = self.lock();
        log.sequence += 1;
        entry.sequence = log.sequence;
        log.entries.push_back(entry);
        let excess = log.entries.len().saturating_sub(size);
        log.entries.drain(..excess);
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_names_what_was_called_since() {
        let log = CallLog::default();
        log.count("healthz");
        let before = log.snapshot();
        log.count("ensureBackend");
        log.count("ensureBackend");
        let since = log.snapshot().difference(&before);
        assert_eq!(since.as_map(), &BTreeMap::from([("ensureBackend", 2)]));
        assert_eq!((since.get("healthz"), since.total()), (0, 2));
        assert_eq!(since.iter().collect::<Vec<_>>(), [("ensureBackend", 2)]);
    }

    #[test]
    fn the_journal_keeps_the_last_calls_and_continues_counting() {
        let log = CallLog::default();
        let entry = JournalEntry {
            sequence: 0,
            webhook: "healthz".into(),
            record_id: String::new(),
            retry_id: String::new(),
            dry_run: false,
            status: "Succ".into(),
            msg: String::new(),
        };
        for _ in 0..5 {
            log.add(entry.clone(), 2);
        }
        let kept: Vec<_> = log.entries().iter().map(|entry| entry.sequence).collect();
        assert_eq!(kept, [4, 5]);
        log.clear();
        log.add(entry, 2);
        assert_eq!(log.entries()[0].sequence, 6);
    }
}
