//! Not to look at something big at every small change of it.
//!
//! To look at a workload costs what its pods are; when each of a thousand becomes ready, looking a
//! thousand times would cost a million. So something that has many parts rests after each look, in
//! proportion; what has few does not.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// So many parts are few.
const FEW: usize = 100;
/// How long one rests for each part.
const REST: Duration = Duration::from_micros(20);

/// What rests, and how long.
#[derive(Debug)]
pub(super) struct Pace<K> {
    resting: HashMap<K, Instant>,
}

impl<K> Default for Pace<K> {
    fn default() -> Self {
        Self {
            resting: HashMap::new(),
        }
    }
}

impl<K: Clone + Eq + Hash + Ord> Pace<K> {
    /// Takes what may be looked at now; says when the first of the rest may be.
    pub(super) fn take(
        &mut self,
        dirty: &mut BTreeSet<K>,
        now: Instant,
    ) -> (Vec<K>, Option<Instant>) {
        self.resting.retain(|_, until| *until > now);
        let mut next: Option<Instant> = None;
        let (rest, ready) = std::mem::take(dirty).into_iter().partition(|key| {
            let until = self.resting.get(key).copied();
            next = next.into_iter().chain(until).min();
            until.is_some()
        });
        *dirty = rest;
        let ready: BTreeSet<K> = ready;
        (ready.into_iter().collect(), next)
    }

    /// Lets something rest that was just looked at.
    pub(super) fn rest(&mut self, key: &K, parts: usize, now: Instant) {
        if parts > FEW {
            let parts = u32::try_from(parts).unwrap_or(u32::MAX);
            let rest = REST.saturating_mul(parts);
            self.resting.insert(key.clone(), now + rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_big_rests() {
        let now = Instant::now();
        let mut pace = Pace::default();
        pace.rest(&"small", 3, now);
        pace.rest(&"big", 1000, now);
        let mut dirty = BTreeSet::from(["big", "other", "small"]);
        let later = now + Duration::from_millis(20);
        assert_eq!(
            pace.take(&mut dirty, now),
            (vec!["other", "small"], Some(later))
        );
        assert_eq!(dirty, BTreeSet::from(["big"]));
        assert_eq!(pace.take(&mut dirty, later), (vec!["big"], None));
        assert!(dirty.is_empty() && pace.resting.is_empty());
    }
}
