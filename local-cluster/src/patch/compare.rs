//! Comparison of two states of an object, field by field.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field_set::FieldSet;
use super::layout::{Layout, ListKind};
use crate::object::{Object, map};

/// The differing fields; the sets are disjoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

impl Comparison {
    /// Drops the fields of a set, and all fields below them.
    pub(super) fn without(self, set: &FieldSet) -> Self {
        Self {
            added: self.added.without(set),
            modified: self.modified.without(set),
            removed: self.removed.without(set),
        }
    }

    /// The added and modified fields.
    pub(super) fn set(self) -> FieldSet {
        self.added.union(&self.modified)
    }

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    fn put(&mut self, branch: impl FnOnce() -> String, inner: Self) {
        // Most fields do not change, so their names are not needed.
        if inner.is_empty() {
            return;
        }
        let branch = branch();
        self.added.put(branch.clone(), inner.added);
        self.modified.put(branch.clone(), inner.modified);
        self.removed.put(branch, inner.removed);
    }
}

/// Compares two values of a field; `None` is a missing one.
pub(super) fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    layout: Layout<'_>,
) -> Comparison {
    let mut found = Comparison::default();
    let parted = |value: Option<&Value>| match value {
        Some(Value::Object(map)) => !map.is_empty() && !layout.is_atomic_map(),
        Some(Value::Array(list)) => !list.is_empty() && layout.list_kind() != ListKind::Atomic,
        _ => false,
    };
    if !parted(before) && !parted(after) {
        return whole(before, after);
    }
    let maps = (
        before.and_then(Value::as_object),
        after.and_then(Value::as_object),
    );
    compare_fields(&mut found, maps, layout, &[]);
    compare_items(&mut found, before, after, layout);
    match (before, after) {
        (None, _) => found.added.member = true,
        (_, None) => found.removed.member = true,
        (Some(before), Some(after)) => {
            // Only one of them is divided into fields.
            let same_type =
                before.is_object() == after.is_object() && before.is_array() == after.is_array();
            found.modified.member = !same_type && !before.is_null() && !after.is_null();
        }
    }
    found
}

/// Compares two maps, except for some fields.
fn compare_fields(
    found: &mut Comparison,
    (before, after): (Option<&Object>, Option<&Object>),
    layout: Layout<'_>,
    but: &[&str],
) {
    for (name, value) in before.into_iter().flatten() {
        if !but.contains(&name.as_str()) {
            let other = after.and_then(|map| map.get(name));
            let inner = compare(Some(value), other, layout.of_field(name));
            found.put(|| format!("f:{name}"), inner);
        }
    }
    for (name, value) in after.into_iter().flatten() {
        if before.is_none_or(|map| !map.contains_key(name)) && !but.contains(&name.as_str()) {
            let inner = compare(None, Some(value), layout.of_field(name));
            found.put(|| format!("f:{name}"), inner);
        }
    }
}

/// Compares two objects, except for their managed fields.
pub(super) fn compare_objects(before: &Object, after: &Object, layout: Layout<'_>) -> Comparison {
    let mut found = Comparison::default();
    compare_fields(
        &mut found,
        (Some(before), Some(after)),
        layout,
        &["metadata"],
    );
    let (old, new) = (map(before, &["metadata"]), map(after, &["metadata"]));
    let mut inner = Comparison::default();
    let layout = layout.of_field("metadata");
    compare_fields(&mut inner, (old, new), layout, &["managedFields"]);
    inner.added.member = old.is_none() && new.is_some();
    inner.removed.member = old.is_some() && new.is_none();
    found.put(|| "f:metadata".to_owned(), inner);
    found
}

fn compare_items(
    found: &mut Comparison,
    before: Option<&Value>,
    after: Option<&Value>,
    layout: Layout<'_>,
) {
    let kind = layout.list_kind();
    if kind == ListKind::Atomic {
        return;
    }
    let mut named: BTreeMap<String, [Vec<&Value>; 2]> = BTreeMap::new();
    for (side, list) in [before, after].into_iter().enumerate() {
        for item in list.and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = layout.item_name(&kind, item) {
                named.entry(name).or_default()[side].push(item);
            }
        }
    }
    let one = |before: Option<&Value>, after: Option<&Value>| {
        if layout.has_atomic_items() {
            whole(before, after)
        } else {
            compare(before, after, layout.of_item())
        }
    };
    // The items with one key, before and after: usually one each.
    for (name, [before, after]) in named {
        let inner = match (before.as_slice(), after.as_slice()) {
            ([] | [_], [] | [_]) => one(before.first().copied(), after.first().copied()),
            // Items with the same key are compared together.
            (before, after) => {
                let some = |items: &[_]| (!items.is_empty()).then(|| items.to_vec());
                whole(some(before), some(after))
            }
        };
        found.put(|| name, inner);
    }
}

/// Compares values that are not divided into fields.
fn whole<T: PartialEq>(before: Option<T>, after: Option<T>) -> Comparison {
    let mut found = Comparison::default();
    found.added.member = before.is_none() && after.is_some();
    found.removed.member = before.is_some() && after.is_none();
    found.modified.member = before.is_some() && after.is_some() && before != after;
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const POD: Layout<'_> = Layout::Builtin {
        parent: "",
        field: "",
    };

    fn of(before: Value, after: Value) -> (Value, Value, Value) {
        let found = compare(Some(&before), Some(&after), POD);
        let json = |set: FieldSet| Value::Object(set.to_json());
        (json(found.added), json(found.modified), json(found.removed))
    }

    #[test]
    fn added_modified_and_removed_fields_are_distinguished() {
        let (added, modified, removed) = of(
            json!({"spec": {"a": 1, "b": 2}, "removed": {"x": 1}}),
            json!({"spec": {"a": 2, "b": 2}, "new": {"x": {"y": 1}}}),
        );
        assert_eq!(
            added,
            json!({"f:new": {".": {}, "f:x": {".": {}, "f:y": {}}}})
        );
        assert_eq!(modified, json!({"f:spec": {"f:a": {}}}));
        assert_eq!(removed, json!({"f:removed": {".": {}, "f:x": {}}}));
    }

    #[test]
    fn items_are_compared_by_their_keys() {
        let list = |items: Value| json!({"spec": {"containers": items, "tolerations": items}});
        let (added, modified, removed) = of(
            list(json!([{"name": "a", "image": "1"}, {"name": "b"}])),
            list(json!([{"name": "c"}, {"name": "a", "image": "2"}])),
        );
        assert_eq!(
            added,
            json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}}}}})
        );
        assert_eq!(
            modified,
            json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {"f:image": {}}},
                              "f:tolerations": {}}})
        );
        assert_eq!(
            removed,
            json!({"f:spec": {"f:containers": {"k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}}})
        );
    }

    #[test]
    fn empty_values_are_filled_field_by_field() {
        let (added, modified, removed) = of(
            json!({"spec": {}, "list": null}),
            json!({"spec": {"a": 1}, "list": [1]}),
        );
        assert_eq!(added, json!({"f:spec": {"f:a": {}}}));
        assert_eq!(modified, json!({"f:list": {}}));
        assert_eq!(removed, json!({}));
    }

    #[test]
    fn items_with_the_same_key_are_compared_together() {
        let list = |items: Value| json!({"spec": {"containers": items}});
        let one = json!([{"name": "a"}]);
        let two = json!([{"name": "a"}, {"name": "a", "image": "i"}]);
        let whole = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {}}}});
        assert_eq!(
            of(list(one), list(two.clone())),
            (json!({}), whole, json!({}))
        );
        let (_, modified, _) = of(list(two.clone()), list(two));
        assert_eq!(modified, json!({}));
    }
}
