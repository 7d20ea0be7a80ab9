//! Limits how often big workloads and services are reconciled.
//!
//! Reconciling one costs time in proportion to its pods; reconciling it for each of a thousand pods that
//! become ready would cost a million. So one with many pods waits after each time, in proportion.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// With no more pods than this there is no wait.
const FEW: usize = 100;
const WAIT_PER_POD: Duration = Duration::from_micros(20);

/// The keys that wait, and until when.
#[derive(Debug)]
pub(super) struct Throttle<K> {
    waiting: HashMap<K, Instant>,
}

impl<K> Default for Throttle<K> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
        }
    }
}

impl<K: Clone + Eq + Hash + Ord> Throttle<K> {
    /// Takes the keys that need not wait. Returns them, and when the first of the others is ready.
    pub(super) fn take_ready(
        &mut self,
        dirty: &mut BTreeSet<K>,
        now: Instant,
    ) -> (BTreeSet<K>, Option<Instant>) {
        self.waiting.retain(|_, until| *until > now);
        let (wait, ready) = std::mem::take(dirty)
            .into_iter()
            .partition(|key| self.waiting.contains_key(key));
        *dirty = wait;
        let next = dirty
            .iter()
            .filter_map(|key| self.waiting.get(key).copied());
        (ready, next.min())
    }

    /// Lets a key with this many pods wait after it was reconciled.
    pub(super) fn add(&mut self, key: K, pods: usize, now: Instant) {
        if pods > FEW {
            let pods = u32::try_from(pods).unwrap_or(u32::MAX);
            let until = now + WAIT_PER_POD.saturating_mul(pods);
            self.waiting.insert(key, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(dirty.is_empty() && throttle.waiting.is_empty());
    }
}
