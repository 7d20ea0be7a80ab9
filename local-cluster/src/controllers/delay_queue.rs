//! Keys that become due at a time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

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
}
