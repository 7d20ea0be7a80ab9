//! Which part of an object is the later form of which part of the object before.
//!
//! An update does not report again what was wrong already, and rules may compare a part with what it
//! was; both need to know the part's past. Fields of objects are told apart by name and items of
//! keyed lists by their keys; other items have no past.

use std::collections::HashMap;

use serde_json::Value;

use super::node::{ListType, Node};

/// A value and what it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past<'a> {
    pub(super) node: &'a Node,
    pub(super) new: &'a Value,
    pub(super) old: &'a Value,
}

impl<'a> Past<'a> {
    /// The past of a field of the value, if it has one.
    pub(super) fn field(&self, name: &str) -> Option<Self> {
        Some(Self {
            node: self.node.child(name)?,
            new: self.new.as_object()?.get(name)?,
            old: self.old.as_object()?.get(name)?,
        })
    }

    /// The past of the value's items, for looking up many of them.
    pub(super) fn items(&self) -> Option<Items<'a>> {
        Some(Items {
            node: self.node.items.as_deref()?,
            new: self.new.as_array()?,
            old: KeyedItems::of(self.node, self.old)?,
        })
    }

    /// Whether nothing changed; the order of keyed lists does not count.
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

/// The items of a keyed list and what they were.
#[derive(Debug)]
pub(super) struct Items<'a> {
    node: &'a Node,
    new: &'a [Value],
    old: KeyedItems<'a>,
}

impl<'a> Items<'a> {
    /// The past of an item.
    pub(super) fn get(&self, index: usize) -> Option<Past<'a>> {
        let new = self.new.get(index)?;
        Some(Past {
            node: self.node,
            new,
            old: self.old.get(new)?,
        })
    }
}

/// The items of a list by their keys.
#[derive(Debug)]
pub(super) struct KeyedItems<'a> {
    keys: &'a [String],
    items: HashMap<String, &'a Value>,
}

impl<'a> KeyedItems<'a> {
    /// The items of `list`, if its schema says what their keys are.
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

    /// The item that has the keys of this one.
    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        self.items.get(&key_of(self.keys, item)?).copied()
    }
}

/// What a value was, with the items of sets and keyed lists in the order that they have now: their
/// order means nothing, so it must not make a difference to who compares the two.
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

/// All keys of an item in one string; `None` when one is missing or no scalar.
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
        let past = Past {
            node: &node,
            new: &new,
            old: &old,
        };
        let items = past.field("keyed").unwrap().items().unwrap();
        assert!(items.get(0).unwrap().is_unchanged());
        assert!(!items.get(1).unwrap().is_unchanged());
        assert!(items.get(2).is_none() && items.get(3).is_none());
        assert!(past.field("plain").unwrap().items().is_none());
        assert!(past.field("plain").unwrap().is_unchanged());
        assert!(!past.is_unchanged());
        assert!(
            Past {
                node: &node,
                new: &old,
                old: &old
            }
            .is_unchanged()
        );
    }
}
