use super::store::Diff;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// An index with several values for each key, in order.
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

    /// Inserts or removes a value.
    pub(super) fn set(&mut self, key: K, value: V, is_present: bool) {
        if is_present {
            self.insert(key, value);
        } else {
            self.remove(&key, &value);
        }
    }

    /// Replaces the entries of an object's old state by those of its new state.
    pub(super) fn update<T, E>(&mut self, diff: &Diff<T>, entries: impl Fn(&T) -> E)
    where
        E: IntoIterator<Item = (K, V)>,
    {
        for (state, is_present) in [(&diff.old, false), (&diff.new, true)] {
            for (key, value) in state.as_deref().map(&entries).into_iter().flatten() {
                self.set(key, value, is_present);
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
