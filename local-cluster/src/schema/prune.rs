//! Removes what a schema does not know.

use serde_json::Value;

use super::keyword::{flag, join};

/// Removes unknown fields and names them; `root` objects have type and metadata besides.
pub(crate) fn prune(schema: &Value, value: &mut Value, root: bool) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(schema, value, root, "", &mut unknown);
    unknown
}

fn walk(schema: &Value, value: &mut Value, whole: bool, path: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let keep_all = flag(schema, "x-kubernetes-preserve-unknown-fields");
            let properties = schema.get("properties").and_then(Value::as_object);
            let additional = schema.get("additionalProperties");
            map.retain(|key, inner| {
                let here = join(path, key);
                if whole && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                    return true;
                }
                if let Some(property) = properties.and_then(|p| p.get(key)) {
                    let embedded = flag(property, "x-kubernetes-embedded-resource");
                    walk(property, inner, embedded, &here, unknown);
                    return true;
                }
                match additional {
                    Some(Value::Bool(true)) => true,
                    Some(item @ Value::Object(_)) => {
                        walk(item, inner, false, &here, unknown);
                        true
                    }
                    _ if keep_all => true,
                    _ => {
                        unknown.push(here);
                        false
                    }
                }
            });
        }
        Value::Array(items) => {
            if let Some(item_schema) = schema.get("items") {
                let embedded = flag(item_schema, "x-kubernetes-embedded-resource");
                for (index, item) in items.iter_mut().enumerate() {
                    walk(
                        item_schema,
                        item,
                        embedded,
                        &format!("{path}[{index}]"),
                        unknown,
                    );
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
    fn unknown_fields_go_and_are_named() {
        let schema = json!({"properties": {
            "spec": {"properties": {"a": {}, "list": {"items": {"properties": {"x": {}}}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": true},
            "map": {"additionalProperties": {"properties": {"y": {}}}},
        }});
        let mut value = json!({
            "kind": "K", "metadata": {"name": "n"}, "extra": 1,
            "spec": {"a": 1, "zzz": 1, "list": [{"x": 1, "q": 2}]},
            "free": {"anything": {"goes": 1}},
            "map": {"k": {"y": 1, "z": 2}},
        });
        let mut unknown = prune(&schema, &mut value, true);
        unknown.sort();
        assert_eq!(unknown, ["extra", "map.k.z", "spec.list[0].q", "spec.zzz"]);
        assert_eq!(value["spec"], json!({"a": 1, "list": [{"x": 1}]}));
        assert_eq!(value["free"], json!({"anything": {"goes": 1}}));
    }
}
