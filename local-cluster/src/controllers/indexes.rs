//! Objects by their labels, and selectors by the labels that they require.
//!
//! Both are found by a single label, so a look-up costs in proportion to the objects with that label
//! and not to those in the namespace. Callers match the results themselves.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use serde_json::Value;

use crate::object::{Object, entries};
use crate::selector::LabelSelector;

/// A map from keys to sets of values; keys without values are not kept.
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

type Label = (String, String);

/// A namespace and a label in it.
type NamespacedLabel = (String, Label);

/// The uids of objects by namespace and label.
#[derive(Debug, Default)]
pub(super) struct LabelIndex {
    by_namespace: MultiMap<String, String>,
    by_label: MultiMap<NamespacedLabel, String>,
    indexed: HashMap<String, (String, Vec<Label>)>,
}

impl LabelIndex {
    pub(super) fn insert(&mut self, uid: &str, namespace: &str, object: &Object) {
        let entry = (namespace.to_owned(), labels(object));
        if self.indexed.get(uid) == Some(&entry) {
            return;
        }
        self.remove(uid);
        let (namespace, labels) = &entry;
        self.by_namespace.insert(namespace.clone(), uid.to_owned());
        for label in labels {
            let key = (namespace.clone(), label.clone());
            self.by_label.insert(key, uid.to_owned());
        }
        self.indexed.insert(uid.to_owned(), entry);
    }

    pub(super) fn remove(&mut self, uid: &str) {
        if let Some((namespace, labels)) = self.indexed.remove(uid) {
            self.by_namespace.remove(&namespace, uid);
            for label in labels {
                self.by_label.remove(&(namespace.clone(), label), uid);
            }
        }
    }

    /// The uids of objects among which are all that the selector matches.
    pub(super) fn candidates(&self, namespace: &str, selector: &LabelSelector) -> Vec<String> {
        let rarest = required(namespace, selector).min_by_key(|key| self.by_label.count(key));
        let uids = match rarest {
            Some(key) => self.by_label.get(&key),
            None => self.by_namespace.get(namespace),
        };
        uids.into_iter().flatten().cloned().collect()
    }
}

/// Selectors by namespace and a label that they require; each belongs to the object with a uid.
#[derive(Debug, Default)]
pub(super) struct SelectorIndex {
    by_label: MultiMap<NamespacedLabel, String>,
    /// Selectors that require no label with a single value.
    others: MultiMap<String, String>,
    indexed: HashMap<String, IndexedSelector>,
}

#[derive(Debug)]
struct IndexedSelector {
    namespace: String,
    key: Option<NamespacedLabel>,
    selector: LabelSelector,
}

impl SelectorIndex {
    /// Inserts the selector of an object, in place of the one that it had.
    pub(super) fn insert(&mut self, uid: &str, namespace: &str, selector: LabelSelector) {
        if self
            .indexed
            .get(uid)
            .is_some_and(|known| known.selector == selector && known.namespace == namespace)
        {
            return;
        }
        self.remove(uid);
        // Of several labels the one that the fewest selectors require.
        let key = required(namespace, &selector).min_by_key(|key| self.by_label.count(key));
        match &key {
            Some(key) => self.by_label.insert(key.clone(), uid.to_owned()),
            None => self.others.insert(namespace.to_owned(), uid.to_owned()),
        }
        let entry = IndexedSelector {
            namespace: namespace.to_owned(),
            key,
            selector,
        };
        self.indexed.insert(uid.to_owned(), entry);
    }

    pub(super) fn remove(&mut self, uid: &str) {
        if let Some(entry) = self.indexed.remove(uid) {
            match &entry.key {
                Some(key) => self.by_label.remove(key, uid),
                None => self.others.remove(&entry.namespace, uid),
            }
        }
    }

    /// The uids of the objects whose selectors match an object.
    pub(super) fn matching(&self, namespace: &str, object: &Object) -> Vec<String> {
        labels(object)
            .into_iter()
            .filter_map(|label| self.by_label.get(&(namespace.to_owned(), label)))
            .chain(self.others.get(namespace))
            .flatten()
            .filter(|uid| {
                let entry = self.indexed.get(*uid);
                entry.is_some_and(|entry| entry.selector.matches(object))
            })
            .cloned()
            .collect()
    }
}

/// The labels that a selector requires with a single value.
fn required(namespace: &str, selector: &LabelSelector) -> impl Iterator<Item = NamespacedLabel> {
    let label = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    selector
        .pairs()
        .map(move |pair| (namespace.to_owned(), label(pair)))
}

fn labels(object: &Object) -> Vec<Label> {
    let labels = entries(object, &["metadata", "labels"]);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn labelled(labels: serde_json::Value) -> Object {
        object(json!({"metadata": {"labels": labels}}))
    }

    fn selector(text: &str) -> LabelSelector {
        LabelSelector::parse(text).unwrap()
    }

    #[test]
    fn objects_are_found_by_their_rarest_label() {
        let mut index = LabelIndex::default();
        for (uid, namespace, labels) in [
            ("a", "d", json!({"app": "web", "tier": "gold"})),
            ("b", "d", json!({"app": "web"})),
            ("c", "d", json!({})),
            ("e", "other", json!({"app": "web"})),
        ] {
            index.insert(uid, namespace, &labelled(labels));
        }
        let found = |index: &LabelIndex, text: &str| index.candidates("d", &selector(text));
        assert_eq!(found(&index, "app=web"), ["a", "b"]);
        assert_eq!(found(&index, "app=web,tier=gold"), ["a"]);
        assert_eq!(found(&index, "app=db"), [""; 0]);
        assert_eq!(found(&index, "!app"), ["a", "b", "c"]);
        index.insert("a", "d", &labelled(json!({"app": "db"})));
        index.remove("b");
        assert_eq!(found(&index, "app=db"), ["a"]);
        assert_eq!(found(&index, "app=web"), [""; 0]);
        index.remove("a");
        index.remove("c");
        index.remove("e");
        assert!(
            index.by_namespace.is_empty() && index.by_label.is_empty() && index.indexed.is_empty()
        );
    }

    #[test]
    fn selectors_are_found_by_the_labels_that_they_require() {
        let mut index = SelectorIndex::default();
        index.insert("s", "d", selector("app=web"));
        index.insert("t", "d", selector("app=web,tier=gold"));
        index.insert("u", "d", selector("!old"));
        index.insert("v", "other", selector("app=web"));
        let web = labelled(json!({"app": "web"}));
        let found = |index: &SelectorIndex, object: &Object| {
            let mut found = index.matching("d", object);
            found.sort();
            found
        };
        assert_eq!(found(&index, &web), ["s", "u"]);
        let gold = labelled(json!({"app": "web", "tier": "gold", "old": ""}));
        assert_eq!(found(&index, &gold), ["s", "t"]);
        index.insert("s", "d", selector("app=db"));
        assert_eq!(found(&index, &web), ["u"]);
        for uid in ["s", "t", "u", "v"] {
            index.remove(uid);
        }
        assert!(index.by_label.is_empty() && index.others.is_empty() && index.indexed.is_empty());
    }
}
