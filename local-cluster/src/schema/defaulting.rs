//! Defaulting.

use serde_json::Value;

use super::node::Node;

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
}
