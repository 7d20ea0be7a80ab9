//! Keys that wait: until a time, or after their last reconciliation.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// Keys by the time at which they are due, each at most once; at the same time, in the order in which
/// they were scheduled.
#[derive(Debug)]
pub(super) struct DelayQueue<K> {
    due: BTreeMap<(Instant, u64), K>,
    scheduled: HashMap<K, (Instant, u64)>,
    sequence: u64,
}

impl<K> Default for DelayQueue<K> {
    fn default() -> Self {
        Self {
            due: BTreeMap::new(),
            scheduled: HashMap::new(),
            sequence: 0,
        }
    }
}

impl<K: Clone + Eq + Hash> DelayQueue<K> {
    /// Schedules a key, in place of any time that it had.
    pub(super) fn set(&mut self, key: K, time: Option<Instant>) {
        if let Some(before) = self.scheduled.remove(&key) {
            self.due.remove(&before);
        }
        if let Some(time) = time {
            self.sequence += 1;
            self.scheduled.insert(key.clone(), (time, self.sequence));
            self.due.insert((time, self.sequence), key);
        }
    }

    /// Schedules a key, unless it is due earlier.
    pub(super) fn set_earlier(&mut self, key: K, time: Instant) {
        if self.scheduled.get(&key).is_none_or(|(due, _)| *due > time) {
            self.set(key, Some(time));
        }
    }

    /// Takes the next key that is due.
    pub(super) fn pop(&mut self, now: Instant) -> Option<K> {
        let entry = self.due.first_entry()?;
        if entry.key().0 > now {
            return None;
        }
        let key = entry.remove();
        self.scheduled.remove(&key);
        Some(key)
    }

    /// When the next key is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.keys().next().map(|(time, _)| *time)
    }
}

/// The most pods without a wait.
const FEW: usize = 100;
const WAIT_PER_POD: Duration = Duration::from_micros(20);

/// Limits how often big workloads and services are reconciled; maps those that wait to the end of their
/// wait.
///
/// Reconciling one costs time in proportion to its pods; reconciling it for each of a thousand pods that
/// become ready would cost a million. So one with many pods waits after each time, in proportion.
#[derive(Debug)]
pub(super) struct Throttle<K>(HashMap<K, Instant>);

impl<K> Default for Throttle<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash + Ord> Throttle<K> {
    /// Takes the keys that need not wait. Returns them, and when the first of the others is ready.
    pub(super) fn take_ready(
        &mut self,
        dirty: &mut BTreeSet<K>,
        now: Instant,
    ) -> (BTreeSet<K>, Option<Instant>) {
        self.0.retain(|_, until| *until > now);
        let (wait, ready) = std::mem::take(dirty)
            .into_iter()
            .partition(|key| self.0.contains_key(key));
        *dirty = wait;
        let next = dirty.iter().filter_map(|key| self.0.get(key).copied());
        (ready, next.min())
    }

    /// Lets a key with this many pods wait after it was reconciled.
    pub(super) fn add(&mut self, key: K, pods: usize, now: Instant) {
        if pods > FEW {
            let pods = u32::try_from(pods).unwrap_or(u32::MAX);
            let until = now + WAIT_PER_POD.saturating_mul(pods);
            self.0.insert(key, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_due_in_order_and_once() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut queue = DelayQueue::default();
        queue.set("late", Some(after(9)));
        queue.set("soon", Some(after(1)));
        queue.set("soon", Some(after(2)));
        queue.set("never", Some(after(1)));
        queue.set("never", None);
        queue.set_earlier("soon", after(5));
        queue.set("later", Some(after(10)));
        queue.set_earlier("later", after(9));
        assert_eq!(queue.next(), Some(after(2)));
        assert_eq!(queue.pop(after(1)), None);
        assert_eq!(queue.pop(after(3)), Some("soon"));
        assert_eq!(queue.pop(after(3)), None);
        assert_eq!(queue.pop(after(9)), Some("late"));
        assert_eq!(queue.pop(after(9)), Some("later"));
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn only_big_ones_wait() {
        let now = Instant::now();
        let mut throttle = Throttle::default();
        throttle.add("small", 3, now);
        throttle.add("big", 1000, now);
        let mut dirty = BTreeSet::from(["big", "other", "small"]);
        let later = now + Duration::from_millis(20);
        assert_eq!(
            throttle.take_ready(&mut dirty, now),
            (BTreeSet::from(["other", "small"]), Some(later))
        );
        assert_eq!(dirty, BTreeSet::from(["big"]));
        assert_eq!(
            throttle.take_ready(&mut dirty, later),
            (BTreeSet::from(["big"]), None)
        );
        assert!(dirty.is_empty() && throttle.0.is_empty());
    }
}
