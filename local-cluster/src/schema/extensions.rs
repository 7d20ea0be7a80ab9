//! Validation of extensions: embedded resources need type and metadata, the items of sets and the keys of keyed
//! lists are unique.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::message::{FieldPath, shown};
use super::node::{ListType, Node};
use crate::field_error::{ErrorType, FieldError};
use crate::names;

/// Errors of duplicate items.
pub(super) fn check_lists(node: &Node, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    node.visit_values(value, &FieldPath::root(""), &mut |node, value, path| {
        let Value::Array(items) = value else { return };
        match &node.list {
            ListType::Atomic => {}
            ListType::Set => duplicates(items, path, &mut errors),
            ListType::Map(keys) => check_keys(keys, items, path, &mut errors),
        }
    });
    errors
}

fn check_keys(
    keys: &[String],
    items: &[Value],
    path: &FieldPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let odd = |item: &&Value| !item.is_null() && !item.is_object();
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| odd(item)) {
        errors.push(ErrorType::Invalid.at(
            path.index(index).bracketed(),
            Some(&shown(item)),
            "must be an object for an array of list-type map",
        ));
        return;
    }
    let keyed: Vec<Value> = items
        .iter()
        .map(|item| {
            let named = keys.iter().filter_map(|key| {
                let value = item.as_object()?.get(key)?;
                Some((key.clone(), value.clone()))
            });
            Value::Object(named.collect::<Map<_, _>>())
        })
        .collect();
    duplicates(&keyed, path, errors);
}

/// Reports the second occurrence of each value only.
fn duplicates(items: &[Value], path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    let mut times: HashMap<String, usize> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let seen = times.entry(item.to_string()).or_default();
        *seen += 1;
        if *seen == 2 {
            errors.push(ErrorType::Duplicate.at(
                path.index(index).bracketed(),
                Some(&shown(item)),
                "",
            ));
        }
    }
}

/// Errors of embedded resources; the root is validated elsewhere.
pub(super) fn check_embedded(node: &Node, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    node.visit_values(value, &FieldPath::root(""), &mut |node, value, path| {
        if let Value::Object(map) = value
            && node.embedded
            && !path.is_root()
        {
            check_one(map, path, &mut errors);
        }
    });
    errors
}

fn check_one(map: &Map<String, Value>, path: &FieldPath<'_>, errors: &mut Vec<FieldError>) {
    for key in ["apiVersion", "kind"] {
        if !map.contains_key(key) {
            errors.push(ErrorType::Required.at(path.field(key).bracketed(), None, ""));
        }
    }
    for key in ["apiVersion", "kind", "metadata"] {
        let Some(value) = map.get(key) else { continue };
        let detail = match (key, value) {
            ("metadata", Value::Object(_) | Value::Null) => continue,
            ("metadata", _) => "must be an object".to_owned(),
            (_, Value::String(text)) if text.is_empty() => "must not be empty".to_owned(),
            ("apiVersion", Value::String(text)) if text.matches('/').count() > 1 => {
                format!("unexpected GroupVersion string: {text}")
            }
            ("kind", Value::String(text)) => {
                let lower = text.to_lowercase();
                let letter = lower.starts_with(|c: char| c.is_ascii_lowercase());
                if letter && names::is_label(&lower) {
                    continue;
                }
                format!(
                    "may have mixed case, but should otherwise match: {}",
                    names::LETTER_LABEL
                )
            }
            (_, Value::String(_)) => continue,
            _ => "must be a string".to_owned(),
        };
        errors.push(ErrorType::Invalid.at(
            path.field(key).bracketed(),
            Some(&shown(value)),
            &detail,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn duplicates_are_reported() {
        let node = Node::read(&json!({"type": "object", "properties": {
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {"type": "object"}}},
            "free": {"type": "array", "items": {"type": "string"}},
        }}));
        let item =
            |port: u16, protocol: &str| json!({"port": port, "protocol": protocol, "x": port});
        let value = json!({
            "set": ["a", "b", "a", "a"], "free": ["a", "a"],
            "map": {"k": [item(80, "TCP"), item(80, "UDP"), item(80, "TCP")], "l": [1]},
        });
        let found: Vec<String> = check_lists(&node, &value)
            .iter()
            .map(|e| format!("{}: {}", e.field, e.message))
            .collect();
        assert_eq!(
            found,
            [
                "map[k][2]: Duplicate value: {\"port\":80,\"protocol\":\"TCP\"}",
                "map[l][0]: Invalid value: 1: must be an object for an array of list-type map",
                "set[2]: Duplicate value: \"a\"",
            ]
        );
    }

    #[test]
    fn embedded_resources_have_a_type() {
        let node = Node::read(&json!({"type": "object", "properties": {
            "template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }}));
        let found = |template: Value| -> Vec<String> {
            check_embedded(&node, &json!({ "template": template }))
                .iter()
                .map(|e| format!("{}: {}", e.field, e.message))
                .collect()
        };
        assert!(found(json!({"apiVersion": "apps/v1", "kind": "Pod", "metadata": {}})).is_empty());
        assert_eq!(
            found(json!({})),
            [
                "template.apiVersion: Required value",
                "template.kind: Required value"
            ]
        );
        assert_eq!(
            found(json!({"apiVersion": "", "kind": 5, "metadata": 1})).len(),
            3
        );
        assert_eq!(
            found(json!({"apiVersion": "a/b/c", "kind": "A b"})).len(),
            2
        );
    }
}
