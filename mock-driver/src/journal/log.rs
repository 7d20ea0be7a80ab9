//! The webhook calls so far: counted, and the last ones one by one.

use super::entry::{CallQuery, JournalEntry};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The limit of all bodies in the journal, in bytes.
pub(super) const BODIES: usize = 64 << 20;

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

/// Numbers of calls by webhook and outcome.
pub(crate) type Outcomes = BTreeMap<(&'static str, &'static str), u64>;

#[derive(Debug, Default)]
pub(crate) struct CallLog {
    log: Mutex<Log>,
    /// The number of the last entry.
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Log {
    counts: BTreeMap<&'static str, u64>,
    /// The entries so far, by webhook and outcome.
    outcomes: Outcomes,
    sequence: u64,
    entries: VecDeque<JournalEntry>,
    /// The length of all bodies.
    bodies: usize,
}

impl CallLog {
    pub(crate) fn snapshot(&self) -> WebhookCalls {
        WebhookCalls(self.lock().counts.clone())
    }

    /// The numbers of all entries so far, whether or not they are kept.
    pub(crate) fn outcomes(&self) -> Outcomes {
        self.lock().outcomes.clone()
    }

    /// The entries that fit, oldest first.
    pub(crate) fn entries(&self, filter: &CallQuery) -> Vec<JournalEntry> {
        let log = self.lock();
        // Those who poll ask for what is new among many.
        let since = filter.since.unwrap_or_default();
        let begin = log.entries.partition_point(|it| it.sequence <= since);
        let entries = log.entries.range(begin..);
        let fitting = entries.filter(|entry| filter.fits(entry));
        fitting.cloned().collect()
    }

    /// The last entries without their bodies, newest first.
    pub(crate) fn last(&self, count: usize) -> Vec<JournalEntry> {
        let log = self.lock();
        let last = log.entries.iter().rev().take(count);
        last.cloned().map(JournalEntry::without_bodies).collect()
    }

    /// Announces the number of the last entry.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Removes all entries. The counters keep their values, which are compared with earlier ones.
    pub(crate) fn clear(&self) {
        let mut log = self.lock();
        log.entries.clear();
        log.bodies = 0;
    }

    pub(crate) fn count(&self, webhook: &'static str) {
        *self.lock().counts.entry(webhook).or_default() += 1;
    }

    /// Appends an entry, numbers it, and keeps the last `size` entries, or fewer where their bodies
    /// are too long.
    pub(crate) fn add(&self, mut entry: JournalEntry, size: usize) {
        let mut log = self.lock();
        log.sequence += 1;
        entry.sequence = log.sequence;
        *log.outcomes.entry(entry.outcome()).or_default() += 1;
        log.bodies += entry.bodies();
        log.entries.push_back(entry);
        while log.entries.len() > size || log.bodies > BODIES {
            let Some(oldest) = log.entries.pop_front() else {
                break;
            };
            log.bodies -= oldest.bodies();
        }
        let last = log.sequence;
        drop(log);
        // Two calls may come here in the wrong order.
        self.last.send_if_modified(|known| {
            let is_newer = *known < last;
            *known = last.max(*known);
            is_newer
        });
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a reader of the journal is. One that reads too slowly misses entries, which the numbers
/// show, and costs no memory.
#[derive(Debug)]
pub(crate) struct CallFollower {
    log: Arc<CallLog>,
    query: CallQuery,
    last: watch::Receiver<u64>,
    pending: VecDeque<JournalEntry>,
}

impl CallFollower {
    /// Entries from `query.since` on, or else those to come.
    pub(crate) fn new(log: &Arc<CallLog>, mut query: CallQuery) -> Self {
        let last = log.watch();
        query.since.get_or_insert(*last.borrow());
        Self {
            log: Arc::clone(log),
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
            self.pending = self.log.entries(&self.query).into();
            if self.pending.is_empty() {
                // The sender belongs to the log.
                let _ = self.last.changed().await;
            }
        }
    }
}
