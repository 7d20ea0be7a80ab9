//! Sets of fields, as `managedFields` writes them.
//!
//! A set is a JSON tree: `f:NAME` for a field, `k:{…}` for an item of a keyed list, `v:…` for a member
//! of a set; an empty object is a field owned as a whole.

use serde_json::{Value, json};

use super::strategic::{ListRule, list_rule};
use crate::object::Object;

/// How a value's inside is owned: what its schema or, for built-in kinds, its place says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Context<'a> {
    /// A custom resource's schema; `None` where it says nothing.
    Schema(Option<&'a Value>),
    /// A built-in kind: the field that holds the value, and the one that holds that.
    Builtin { parent: &'a str, field: &'a str },
}

/// How a list is owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Atomic,
    Set,
    Keyed(Vec<String>),
}

impl<'a> Context<'a> {
    /// The context of a field of the value.
    pub(super) fn of_field(self, name: &'a str) -> Self {
        match self {
            Self::Schema(schema) => Self::Schema(schema.and_then(|s| {
                s.get("properties")
                    .and_then(|p| p.get(name))
                    .or_else(|| s.get("additionalProperties"))
            })),
            Self::Builtin { field, .. } => Self::Builtin {
                parent: field,
                field: name,
            },
        }
    }

    /// The context of an item of the value.
    pub(super) fn of_item(self) -> Self {
        match self {
            Self::Schema(schema) => Self::Schema(schema.and_then(|s| s.get("items"))),
            // Items are found under the name of their list.
            builtin @ Self::Builtin { .. } => builtin,
        }
    }

    fn is_atomic_map(self) -> bool {
        match self {
            Self::Schema(schema) => {
                schema
                    .and_then(|s| s.get("x-kubernetes-map-type"))
                    .and_then(Value::as_str)
                    == Some("atomic")
            }
            Self::Builtin { field, .. } => matches!(field, "selector" | "nodeSelector"),
        }
    }

    /// How the value is owned when it is a list.
    pub(super) fn list_kind(self) -> ListKind {
        match self {
            Self::Schema(schema) => {
                let word = |key: &str| schema.and_then(|s| s.get(key));
                match word("x-kubernetes-list-type").and_then(Value::as_str) {
                    Some("set") => ListKind::Set,
                    Some("map") => ListKind::Keyed(
                        word("x-kubernetes-list-map-keys")
                            .and_then(Value::as_array)
                            .into_iter()
                            .flatten()
                            .filter_map(|k| Some(k.as_str()?.to_owned()))
                            .collect(),
                    ),
                    _ => ListKind::Atomic,
                }
            }
            Self::Builtin { parent, field } => match list_rule(parent, field) {
                ListRule::Atomic => ListKind::Atomic,
                ListRule::Set => ListKind::Set,
                ListRule::Keyed(key) => ListKind::Keyed(vec![key.to_owned()]),
            },
        }
    }
}

/// The `k:` key of an item of a keyed list.
pub(super) fn item_key(item: &Value, keys: &[String]) -> String {
    let fields: Object = keys
        .iter()
        .filter_map(|k| Some((k.clone(), item.get(k)?.clone())))
        .collect();
    format!("k:{}", Value::Object(fields))
}

/// The set of all fields of a value.
pub(super) fn fields_of(value: &Value, context: Context<'_>) -> Object {
    let mut set = Object::new();
    match value {
        Value::Object(map) if !context.is_atomic_map() => {
            for (name, inner) in map {
                let inner = fields_of(inner, context.of_field(name));
                set.insert(format!("f:{name}"), Value::Object(inner));
            }
        }
        Value::Array(items) => match context.list_kind() {
            ListKind::Atomic => {}
            ListKind::Set => {
                for item in items {
                    set.insert(format!("v:{item}"), json!({}));
                }
            }
            ListKind::Keyed(keys) => {
                for item in items {
                    let mut inner = fields_of(item, context.of_item());
                    inner.insert(".".to_owned(), json!({}));
                    set.insert(item_key(item, &keys), Value::Object(inner));
                }
            }
        },
        _ => {}
    }
    set
}

fn inner<'a>(set: &'a Object, key: &str) -> Option<&'a Object> {
    set.get(key)?.as_object()
}

/// Whether a set names nothing inside: the field is owned as a whole.
pub(super) fn is_leaf(set: &Object) -> bool {
    set.is_empty()
}

/// What is in `all` and not in `minus`.
pub(super) fn difference(all: &Object, minus: &Object) -> Object {
    let mut left = Object::new();
    for (key, value) in all {
        let Value::Object(mine) = value else { continue };
        match inner(minus, key) {
            None => {
                left.insert(key.clone(), value.clone());
            }
            // Owned as a whole here, in parts there or as well: nothing is left of it.
            Some(_) if is_leaf(mine) => {}
            Some(theirs) => {
                let rest = difference(mine, theirs);
                if !rest.is_empty() {
                    left.insert(key.clone(), Value::Object(rest));
                }
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    #[test]
    fn fields_follow_the_schema() {
        let schema = json!({"properties": {
            "list": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
            "set": {"x-kubernetes-list-type": "set"},
        }});
        let value =
            json!({"list": [{"type": "a", "v": 1}], "set": ["x"], "plain": [1], "empty": {}});
        let set = fields_of(&value, Context::Schema(Some(&schema)));
        assert_eq!(
            Value::Object(set),
            json!({
                "f:list": {"k:{\"type\":\"a\"}": {".": {}, "f:type": {}, "f:v": {}}},
                "f:set": {"v:\"x\"": {}}, "f:plain": {}, "f:empty": {},
            })
        );
    }

    #[test]
    fn sets_are_subtracted_leaf_by_leaf() {
        let all = object(json!({"f:spec": {"f:a": {}, "f:b": {}}}));
        let minus = object(json!({"f:spec": {"f:a": {}}}));
        assert_eq!(
            Value::Object(difference(&all, &minus)),
            json!({"f:spec": {"f:b": {}}})
        );
        assert!(difference(&all, &all).is_empty());
    }
}
