//! Correlation of values with their old values in an update.
//!
//! Ratcheting drops errors of unchanged values, and transition rules compare values with their old
//! state. Fields correlate by name and items of keyed lists by their keys; other items do not
//! correlate.

use std::collections::HashMap;

use serde_json::Value;

use super::node::{ListType, Node};

/// A value and its old value.
#[derive(Clone, Copy, Debug)]
pub(super) struct CorrelatedValue<'a> {
    pub(super) node: &'a Node,
    pub(super) new: &'a Value,
    pub(super) old: &'a Value,
}

impl<'a> CorrelatedValue<'a> {
    /// The correlated value of a field.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        Some(Self {
            node: self.node.child(name)?,
            new: self.new.as_object()?.get(name)?,
            old: self.old.as_object()?.get(name)?,
        })
    }

    /// The correlated items of a list.
    pub(super) fn items(&self) -> Option<CorrelatedItems<'a>> {
        Some(CorrelatedItems {
            node: self.node.items.as_deref()?,
            new: self.new.as_array()?,
            old: ItemsByKey::of(self.node, self.old)?,
        })
    }

    /// Compares old and new value; the order of keyed lists does not matter.
    pub(super) fn is_unchanged(&self) -> bool {
        match (self.old, self.new) {
            (Value::Object(old), Value::Object(new)) => {
                old.len() == new.len()
                    && new
                        .keys()
                        .all(|key| self.field(key).is_some_and(|f| f.is_unchanged()))
            }
            (Value::Array(old), Value::Array(new)) => {
                old.len() == new.len()
                    && match self.items() {
                        None => old == new,
                        Some(items) => (0..new.len())
                            .all(|i| items.get(i).is_some_and(|item| item.is_unchanged())),
                    }
            }
            (old, new) => old == new,
        }
    }
}

/// The items of a keyed list with their old values.
#[derive(Debug)]
pub(super) struct CorrelatedItems<'a> {
    node: &'a Node,
    new: &'a [Value],
    old: ItemsByKey<'a>,
}

impl<'a> CorrelatedItems<'a> {
    pub(super) fn get(&self, index: usize) -> Option<CorrelatedValue<'a>> {
        let new = self.new.get(index)?;
        Some(CorrelatedValue {
            node: self.node,
            new,
            old: self.old.get(new)?,
        })
    }
}

#[derive(Debug)]
pub(super) struct ItemsByKey<'a> {
    keys: &'a [String],
    items: HashMap<String, &'a Value>,
}

impl<'a> ItemsByKey<'a> {
    /// `None` unless the list is keyed.
    pub(super) fn of(node: &'a Node, list: &'a Value) -> Option<Self> {
        let ListType::Map(keys) = &node.list else {
            return None;
        };
        let mut items = HashMap::new();
        for item in list.as_array()? {
            if let Some(key) = key_of(keys, item) {
                items.entry(key).or_insert(item);
            }
        }
        Some(Self { keys, items })
    }

    /// The item with the same keys.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        self.items.get(&key_of(self.keys, item)?).copied()
    }
}

/// The old value with items of sets and keyed lists in their new order, which must not affect
/// comparisons.
pub(super) fn in_order_of(node: &Node, old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let ordered = old.iter().map(|(key, old)| {
                let ordered = match (node.child(key), new.get(key)) {
                    (Some(child), Some(new)) => in_order_of(child, old, new),
                    _ => old.clone(),
                };
                (key.clone(), ordered)
            });
            Value::Object(ordered.collect())
        }
        (Value::Array(old_items), Value::Array(new_items)) => {
            let place_of = |item: &Value| match &node.list {
                ListType::Atomic => None,
                ListType::Set => Some(item.to_string()),
                ListType::Map(keys) => key_of(keys, item),
            };
            let places: HashMap<String, (usize, &Value)> = new_items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| Some((place_of(item)?, (index, item))))
                .collect();
            let mut placed: Vec<(usize, Value)> = old_items
                .iter()
                .map(|item| {
                    let found = place_of(item).and_then(|place| places.get(&place));
                    match (found, &node.items) {
                        (Some((index, new)), Some(items)) => {
                            (*index, in_order_of(items, item, new))
                        }
                        (Some((index, _)), None) => (*index, item.clone()),
                        (None, _) => (usize::MAX, item.clone()),
                    }
                })
                .collect();
            placed.sort_by_key(|(index, _)| *index);
            placed.into_iter().map(|(_, item)| item).collect()
        }
        (old, _) => old.clone(),
    }
}

/// The keys of an item as one string; `None` if one is missing or not a scalar.
fn key_of(keys: &[String], item: &Value) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        let value = item.as_object()?.get(key)?;
        if value.is_null() || value.is_array() || value.is_object() {
            return None;
        }
        text.push_str(&value.to_string());
        text.push('\0');
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn items_are_found_by_their_keys() {
        let node = Node::read(&json!({"type": "object", "properties": {
            "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
                "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "v": {"type": "integer"}}}},
            "plain": {"type": "array", "items": {"type": "integer"}},
        }}));
        let old = json!({"keyed": [{"a": "x", "b": 1, "v": 1}, {"a": "x", "b": 2, "v": 2}], "plain": [1, 2]});
        let new = json!({"keyed": [{"a": "x", "b": 2, "v": 2}, {"a": "x", "b": 1, "v": 3}, {"a": "y"}], "plain": [1, 2]});
        let correlated = CorrelatedValue {
            node: &node,
            new: &new,
            old: &old,
        };
        let items = correlated.field("keyed").unwrap().items().unwrap();
        assert!(items.get(0).unwrap().is_unchanged());
        assert!(!items.get(1).unwrap().is_unchanged());
        assert!(items.get(2).is_none() && items.get(3).is_none());
        assert!(correlated.field("plain").unwrap().items().is_none());
        assert!(correlated.field("plain").unwrap().is_unchanged());
        assert!(!correlated.is_unchanged());
        assert!(
            CorrelatedValue {
                node: &node,
                new: &old,
                old: &old
            }
            .is_unchanged()
        );
    }
}
