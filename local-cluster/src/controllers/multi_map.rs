//! A map from keys to sets of values; keys without values are not kept.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

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

    pub(super) fn remove<Q, W>(&mut self, key: &Q, value: &W)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
        V: Borrow<W>,
        W: Ord + ?Sized,
    {
        if let Some(values) = self.0.get_mut(key) {
            values.remove(value);
            if values.is_empty() {
                self.0.remove(key);
            }
        }
    }

    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&BTreeSet<V>>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    pub(super) fn count<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> usize
    where
        K: Borrow<Q>,
    {
        self.0.get(key).map_or(0, BTreeSet::len)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
