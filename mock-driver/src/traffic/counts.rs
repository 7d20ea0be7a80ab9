//! Counters of the data plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// The counts of a listener or a backend since it exists, for one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrafficCounts {
    /// Of a listener: connections, or sessions of UDP. Of a backend: those, or requests of HTTP.
    pub open: u64,
    /// Connections, or sessions of UDP, so far.
    pub connections: u64,
    /// Requests of HTTP, or datagrams of UDP, so far.
    pub requests: u64,
    /// Of a listener: what no backend has served. Of a backend: attempts that failed, after which
    /// another one may have served.
    pub failed: u64,
}

impl AddAssign for TrafficCounts {
    fn add_assign(&mut self, other: Self) {
        self.open += other.open;
        self.connections += other.connections;
        self.requests += other.requests;
        self.failed += other.failed;
    }
}

/// The events that are counted; what is open is counted apart.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    Connection,
    Request,
    Failure,
}

/// The number of seconds of which counts are kept.
pub(crate) const SECONDS: i64 = 120;

/// Counters; they are read one by one, so one may be ahead of another.
#[derive(Debug, Default)]
pub(super) struct Counters {
    open: AtomicU64,
    /// In the order of [`Count`].
    counts: [AtomicU64; 3],
    /// The counts of the last seconds since 1970 in which there was something to count.
    recent: Mutex<BTreeMap<i64, [u64; 3]>>,
    /// Counts the same of several, without seconds.
    total: Option<Arc<Self>>,
}

impl Counters {
    /// Counters whose counts `total` has, too, and keeps.
    pub(super) fn part_of(total: &Arc<Self>) -> Self {
        Self {
            total: Some(Arc::clone(total)),
            ..Self::default()
        }
    }

    pub(super) fn opened(&self) {
        self.open.fetch_add(1, Relaxed);
        if let Some(total) = &self.total {
            total.opened();
        }
    }

    /// Returns whether nothing is open any more.
    pub(super) fn closed(&self) -> bool {
        if let Some(total) = &self.total {
            total.closed();
        }
        self.open.fetch_sub(1, Relaxed) == 1
    }

    pub(super) fn count(&self, what: Count) {
        self.counts[what as usize].fetch_add(1, Relaxed);
        if let Some(total) = &self.total {
            total.counts[what as usize].fetch_add(1, Relaxed);
        }
        self.count_at(jiff::Timestamp::now().as_second(), what);
    }

    fn count_at(&self, second: i64, what: Count) {
        let recent = self.recent.lock();
        let mut recent = recent.unwrap_or_else(PoisonError::into_inner);
        recent.entry(second).or_default()[what as usize] += 1;
        if recent.len() > SECONDS as usize {
            recent.pop_first();
        }
    }

    /// The counts of the last seconds in which there was something to count, in the order of [`Count`].
    pub(super) fn recent(&self) -> BTreeMap<i64, [u64; 3]> {
        let recent = self.recent.lock();
        recent.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn open(&self) -> u64 {
        self.open.load(Relaxed)
    }

    pub(super) fn read(&self) -> TrafficCounts {
        let [connections, requests, failed] = self.counts.each_ref().map(|it| it.load(Relaxed));
        TrafficCounts {
            open: self.open(),
            connections,
            requests,
            failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_seconds_are_kept_and_no_more() {
        let counters = Counters::default();
        for second in 0..1000 {
            counters.count_at(second, Count::Request);
            counters.count_at(second, Count::Failure);
        }
        let recent = counters.recent();
        assert!(recent.keys().copied().eq(880..1000), "{recent:?}");
        assert!(recent.values().all(|counts| *counts == [0, 1, 1]));
    }
}
