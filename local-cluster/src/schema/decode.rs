//! Defaulting, and pruning of unknown fields.

use serde_json::Value;

use super::message::FieldPath;
use super::node::{AdditionalProperties, Node};
use crate::messages::is_metadata_field;

/// Fills in defaults; nulls of non-nullable fields count as missing.
pub(super) fn fill(node: &Node, value: &mut Value) {
    drop_nulls(node, value);
    set(node, value);
}

/// Removes nulls of fields that are neither nullable nor have a default.
fn drop_nulls(node: &Node, value: &mut Value) {
    match value {
        Value::Object(map) => map.retain(|key, inner| {
            let Some(child) = node.child(key) else {
                return true;
            };
            if inner.is_null() && !child.nullable && child.default.is_none() {
                return false;
            }
            drop_nulls(child, inner);
            true
        }),
        Value::Array(items) => {
            if let Some(item_node) = &node.items {
                for item in items {
                    drop_nulls(item_node, item);
                }
            }
        }
        _ => {}
    }
}

fn set(node: &Node, value: &mut Value) {
    let replace = |node: &Node, value: &mut Value| {
        if value.is_null() && !node.nullable {
            *value = node.default.clone().unwrap_or_default();
        }
    };
    match value {
        Value::Object(map) => {
            for (key, property) in &node.properties {
                match (&property.default, map.get_mut(key)) {
                    (Some(_), Some(inner)) => replace(property, inner),
                    (Some(default), None) => {
                        map.insert(key.clone(), default.clone());
                    }
                    (None, _) => {}
                }
            }
            for (key, inner) in map.iter_mut() {
                if let Some(property) = node.properties.get(key) {
                    set(property, inner);
                } else if let Some(other) = node.additional.node() {
                    replace(other, inner);
                    set(other, inner);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_node) = &node.items {
                for item in items {
                    replace(item_node, item);
                    set(item_node, item);
                }
            }
        }
        _ => {}
    }
}

/// Removes unknown fields and returns their paths, sorted.
pub(super) fn prune(node: &Node, value: &mut Value) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(Some(node), false, value, &FieldPath::root(""), &mut unknown);
    unknown.sort();
    unknown
}

/// Every resource has these fields.
fn is_own(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind" | "metadata")
}

/// `preserves`: the list around the value keeps unknown fields of its items.
fn walk(
    node: Option<&Node>,
    preserves: bool,
    value: &mut Value,
    path: &FieldPath<'_>,
    unknown: &mut Vec<String>,
) {
    let preserves = preserves || node.is_some_and(|node| node.preserve_unknown);
    match value {
        Value::Object(map) => map.retain(|key, inner| {
            let path = path.field(key);
            if node.is_some_and(|node| node.embedded && is_own(key)) {
                if let (Value::Object(metadata), "metadata") = (inner, key.as_str()) {
                    metadata.retain(|key, _| {
                        let is_known = is_metadata_field(key);
                        unknown.extend((!is_known).then(|| path.field(key).dotted()));
                        is_known
                    });
                }
                return true;
            }
            let is_known = |node: &&Node| {
                node.properties.contains_key(key)
                    || !matches!(node.additional, AdditionalProperties::Unspecified)
            };
            match node.filter(is_known) {
                Some(node) => walk(node.child(key), false, inner, &path, unknown),
                None if preserves => {}
                None => {
                    unknown.push(path.dotted());
                    return false;
                }
            }
            true
        }),
        Value::Array(items) => {
            let item_node = node.and_then(|node| node.items.as_deref());
            for (index, item) in items.iter_mut().enumerate() {
                if item_node.is_some() || !preserves {
                    walk(item_node, preserves, item, &path.index(index), unknown);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_reach_into_lists_and_maps() {
        let inner = json!({"type": "object", "properties": {"t": {"type": "string", "default": "10s"}, "n": {"type": "integer", "nullable": true, "default": 1}}});
        let schema = Node::read(&json!({"properties": {
            "flag": {"type": "boolean", "default": false},
            "list": {"type": "array", "items": inner},
            "map": {"type": "object", "additionalProperties": inner},
            "created": {"type": "object", "default": {}, "properties": {"deep": {"type": "object", "default": {"a": 1}, "properties": {"b": {"type": "integer", "default": 2}}}}},
            "absent": {"type": "object", "properties": {"x": {"type": "integer", "default": 1}}},
            "numbers": {"type": "array", "items": {"type": "integer", "default": 7}},
        }}));
        let mut value = json!({
            "flag": null, "list": [{"n": null}, {"t": "5s"}], "map": {"k": {}}, "numbers": [1, null],
        });
        fill(&schema, &mut value);
        assert_eq!(
            value,
            json!({
                "flag": false,
                "list": [{"n": null, "t": "10s"}, {"t": "5s", "n": 1}],
                "map": {"k": {"t": "10s", "n": 1}},
                "created": {"deep": {"a": 1, "b": 2}},
                "numbers": [1, 7],
            })
        );
    }

    #[test]
    fn nulls_of_non_nullable_fields_are_removed() {
        let schema = Node::read(&json!({"properties": {
            "a": {"type": "string"}, "b": {"type": "string", "nullable": true},
            "list": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
        }}));
        let mut value = json!({"a": null, "b": null, "list": [null], "map": {"k": null, "l": "v"}});
        fill(&schema, &mut value);
        assert_eq!(value, json!({"b": null, "list": [null], "map": {"l": "v"}}));
    }

    fn pruned(schema: Value, mut value: Value) -> (Value, Vec<String>) {
        let unknown = prune(&Node::read(&schema), &mut value);
        (value, unknown)
    }

    #[test]
    fn unknown_fields_are_removed_and_returned() {
        let schema = json!({"properties": {
            "spec": {"properties": {"a": {}, "list": {"items": {"properties": {"x": {}}}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"properties": {"k": {}}}}},
            "map": {"additionalProperties": {"properties": {"y": {}}}},
            "bare": {"type": "array"},
        }});
        let (value, unknown) = pruned(
            schema,
            json!({
                "kind": "K", "metadata": {"name": "n"}, "extra": 1,
                "spec": {"a": 1, "zzz": 1, "list": [{"x": 1, "q": 2}]},
                "free": {"anything": {"goes": 1}, "known": {"k": 1, "l": 2}},
                "map": {"k": {"y": 1, "z": 2}},
                "bare": [{"x": 1}, 2],
            }),
        );
        assert_eq!(
            unknown,
            [
                "bare[0].x",
                "extra",
                "free.known.l",
                "map.k.z",
                "spec.list[0].q",
                "spec.zzz"
            ]
        );
        assert_eq!(value["spec"], json!({"a": 1, "list": [{"x": 1}]}));
        assert_eq!(
            value["free"],
            json!({"anything": {"goes": 1}, "known": {"k": 1}})
        );
        assert_eq!(value["bare"], json!([{}, 2]));
    }

    #[test]
    fn embedded_resources_keep_their_type_and_metadata() {
        let template = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}});
        let schema = json!({"properties": {
            "template": template, "list": {"items": template}, "plain": {"properties": {"a": {}}},
        }});
        let whole = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "labels": {"a": "b"}}, "spec": {}, "odd": 1});
        let (value, unknown) = pruned(
            schema,
            json!({"template": whole, "list": [whole], "plain": {"kind": "K"}}),
        );
        assert_eq!(unknown, ["list[0].odd", "plain.kind", "template.odd"]);
        assert_eq!(value["template"]["metadata"]["labels"]["a"], "b");
        assert_eq!(value["plain"], json!({}));
    }
}
