//! One key, many values.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Look-ups that give several answers, in order.
#[derive(Debug)]
pub(super) struct MultiMap<K, V>(HashMap<K, BTreeSet<V>>);

impl<K, V> Default for MultiMap<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash, V: Ord> MultiMap<K, V> {
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.0.entry(key).or_default().insert(value);
    }

    pub(super) fn remove(&mut self, key: &K, value: &V) {
        if let Some(values) = self.0.get_mut(key) {
            values.remove(value);
            if values.is_empty() {
                self.0.remove(key);
            }
        }
    }

    pub(super) fn get(&self, key: &K) -> impl Iterator<Item = &V> + use<'_, K, V> {
        self.0.get(key).into_iter().flatten()
    }

    pub(super) fn contains<Q: Ord + ?Sized>(&self, key: &K, value: &Q) -> bool
    where
        V: std::borrow::Borrow<Q>,
    {
        self.0.get(key).is_some_and(|values| values.contains(value))
    }

    pub(super) fn count(&self, key: &K) -> usize {
        self.0.get(key).map_or(0, BTreeSet::len)
    }
}
