//! Validation of embedded resources: they need type and metadata.

use serde_json::{Map, Value};

use super::message::{ErrorType, shown};
use super::node::Node;
use super::path::FieldPath;
use crate::field_error::FieldError;
use crate::names;

/// Errors of embedded resources; the root is validated elsewhere.
pub(super) fn check(node: &Node, value: &Value) -> Vec<FieldError> {
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
    fn embedded_resources_have_a_type() {
        let node = Node::read(&json!({"type": "object", "properties": {
            "template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        }}));
        let found = |template: Value| -> Vec<String> {
            check(&node, &json!({ "template": template }))
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
