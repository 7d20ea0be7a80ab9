//! Sets the defaults that a schema names.

use serde_json::Value;

use super::keyword::flag;

/// Fills in defaults; nulls that are not permitted count as missing.
pub(crate) fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (key, property) in properties.into_iter().flatten() {
                if map.get(key).is_some_and(Value::is_null) && !flag(property, "nullable") {
                    map.remove(key);
                }
                if let Some(default) = property.get("default")
                    && !map.contains_key(key)
                {
                    map.insert(key.clone(), default.clone());
                }
                if let Some(inner) = map.get_mut(key) {
                    fill(property, inner);
                }
            }
            if let Some(additional) = schema.get("additionalProperties").filter(|a| a.is_object()) {
                for (key, inner) in map.iter_mut() {
                    if properties.is_none_or(|p| !p.contains_key(key)) {
                        fill(additional, inner);
                    }
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_schema) = schema.get("items") {
                for item in items {
                    fill(item_schema, item);
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
    fn defaults_reach_into_lists() {
        let schema = json!({"properties": {
            "flag": {"type": "boolean", "default": false},
            "list": {"items": {"properties": {"t": {"default": "10s"}, "n": {"nullable": true, "default": 1}}}},
        }});
        let mut value = json!({"flag": null, "list": [{"n": null}, {"t": "5s"}]});
        fill(&schema, &mut value);
        assert_eq!(
            value,
            json!({"flag": false, "list": [{"n": null, "t": "10s"}, {"t": "5s", "n": 1}]})
        );
    }
}
