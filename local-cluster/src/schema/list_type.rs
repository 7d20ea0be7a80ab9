//! Uniqueness of items in sets, and of keys in keyed lists.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::message::{ErrorType, shown};
use super::node::{ListType, Node};
use super::path::FieldPath;
use crate::field_error::FieldError;

/// Errors of duplicate items.
pub(super) fn check(node: &Node, value: &Value) -> Vec<FieldError> {
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
        let found: Vec<String> = check(&node, &value)
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
}
