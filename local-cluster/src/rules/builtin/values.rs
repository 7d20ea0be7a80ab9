//! Values as Kubernetes' types have them.

use serde_json::Value;

use crate::object::Object;

/// The value at a path such as `spec.type`, null if it is missing.
pub(super) fn json_at(object: &Object, path: &str) -> Value {
    let mut fields = path.split('.');
    let mut value = fields.next().and_then(|field| object.get(field));
    for field in fields {
        value = value.and_then(|value| value.get(field));
    }
    value.cloned().unwrap_or_default()
}

/// The value without empty fields, which Kubernetes' types do not distinguish from missing ones.
pub(super) fn without_empty(value: &Value) -> Value {
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(list) => list.iter().map(without_empty).collect(),
        Value::Object(map) => {
            let fields = map
                .iter()
                .map(|(key, value)| (key.clone(), without_empty(value)));
            Value::Object(fields.filter(|(_, value)| !is_nothing(value)).collect())
        }
        plain => plain.clone(),
    }
}
