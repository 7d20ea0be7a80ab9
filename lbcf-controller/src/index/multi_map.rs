use super::store::Diff;
use std::borrow::Borrow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// An index with several values for each key, in order.
#[derive(Debug)]
pub(super) struct MultiMap<K, V>(HashMap<K, Values<V>>);

/// Most keys have one value, for which a tree would take ten times the memory.
#[derive(Debug)]
enum Values<V> {
    One(V),
    Many(BTreeSet<V>),
}

impl<V: Ord> Values<V> {
    fn insert(&mut self, value: V) {
        match self {
            Self::One(one) if *one == value => {}
            Self::One(_) => {
                let one = std::mem::replace(self, Self::Many(BTreeSet::new()));
                if let (Self::One(one), Self::Many(many)) = (one, self) {
                    many.extend([one, value]);
                }
            }
            Self::Many(many) => {
                many.insert(value);
            }
        }
    }

    /// Returns whether no value is left.
    fn remove<Q: Ord + ?Sized>(&mut self, value: &Q) -> bool
    where
        V: Borrow<Q>,
    {
        match self {
            Self::One(one) => (*one).borrow() == value,
            Self::Many(many) => {
                many.remove(value);
                many.is_empty()
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &V> + use<'_, V> {
        let (one, many) = match self {
            Self::One(one) => (Some(one), None),
            Self::Many(many) => (None, Some(many)),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

impl<K, V> Default for MultiMap<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash, V: Ord> MultiMap<K, V> {
    pub(super) fn insert(&mut self, key: K, value: V) {
        match self.0.entry(key) {
            Entry::Occupied(mut values) => values.get_mut().insert(value),
            Entry::Vacant(values) => {
                values.insert(Values::One(value));
            }
        }
    }

    pub(super) fn remove<Q: Ord + ?Sized>(&mut self, key: &K, value: &Q)
    where
        V: Borrow<Q>,
    {
        let values = self.0.get_mut(key);
        if values.is_some_and(|values| values.remove(value)) {
            self.0.remove(key);
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
        self.0.get(key).into_iter().flat_map(Values::iter)
    }

    pub(super) fn contains<Q: Ord + ?Sized>(&self, key: &K, value: &Q) -> bool
    where
        V: Borrow<Q>,
    {
        match self.0.get(key) {
            Some(Values::One(one)) => one.borrow() == value,
            Some(Values::Many(many)) => many.contains(value),
            None => false,
        }
    }

    pub(super) fn count(&self, key: &K) -> usize {
        match self.0.get(key) {
            Some(Values::One(_)) => 1,
            Some(Values::Many(many)) => many.len(),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_values_in_order_until_the_last_is_removed() {
        let mut map = MultiMap::default();
        let values = |map: &MultiMap<&str, u32>| map.get(&"a").copied().collect::<Vec<_>>();
        map.remove(&"a", &1);
        for value in [2, 2, 1, 3, 1] {
            map.insert("a", value);
        }
        assert_eq!(values(&map), [1, 2, 3]);
        assert_eq!(map.count(&"a"), 3);
        for (value, left) in [(7, 3), (3, 2), (1, 1), (1, 1)] {
            map.remove(&"a", &value);
            assert_eq!(map.count(&"a"), left);
        }
        assert!(map.contains(&"a", &2) && !map.contains(&"a", &1));
        map.insert("b", 5);
        map.remove(&"b", &6);
        assert!(map.contains(&"b", &5) && !map.contains(&"b", &6));
        map.remove(&"a", &2);
        map.remove(&"b", &5);
        assert!(map.0.is_empty(), "nothing is left behind");
    }
}
