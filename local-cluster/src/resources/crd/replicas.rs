//! Validation of the fields that the scale subresource of a custom resource refers to.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::resources::Scale;

/// `status_only` skips the desired replicas.
pub(crate) fn replica_errors(scale: &Scale, object: &Value, status_only: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let desired = (!status_only).then_some(&scale.spec_path);
    for path in desired.into_iter().chain([&scale.status_path]) {
        let invalid = |value: i64, detail: &str| {
            FieldError::invalid(path.as_str(), &Value::from(value), detail)
        };
        match find(object, path) {
            Err(why) => errors.push(invalid(0, &why)),
            Ok(None) => {}
            Ok(Some(value)) => match value.as_i64() {
                None => errors.push(invalid(0, &wrong_type(path, value, "int64"))),
                Some(count) if count < 0 => {
                    errors.push(invalid(count, "should be a non-negative integer"));
                }
                Some(count) if count > i64::from(i32::MAX) => {
                    let detail = format!("should be less than or equal to {}", i32::MAX);
                    errors.push(invalid(count, &detail));
                }
                Some(_) => {}
            },
        }
    }
    if let Some(path) = &scale.selector_path {
        let why = match find(object, path) {
            Err(why) => Some(why),
            Ok(Some(value)) if !value.is_string() => Some(wrong_type(path, value, "string")),
            Ok(_) => None,
        };
        let error = |why: String| FieldError::invalid(path.as_str(), &Value::from(""), &why);
        errors.extend(why.map(error));
    }
    errors
}

fn find<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let mut value = object;
    let trimmed = path.strip_prefix('.').unwrap_or(path);
    for name in trimmed.split('.') {
        let Some(map) = value.as_object() else {
            return Err(wrong_type(path, value, "map[string]interface {}"));
        };
        match map.get(name) {
            None => return Ok(None),
            Some(inner) => value = inner,
        }
    }
    Ok(Some(value))
}

fn wrong_type(path: &str, value: &Value, expected: &str) -> String {
    let (shown, actual) = match value {
        Value::Null => ("<nil>".to_owned(), "<nil>"),
        Value::Bool(flag) => (flag.to_string(), "bool"),
        Value::Number(number) if number.is_i64() => (number.to_string(), "int64"),
        Value::Number(number) => (number.to_string(), "float64"),
        Value::String(text) => (text.clone(), "string"),
        Value::Array(_) => (value.to_string(), "[]interface {}"),
        Value::Object(_) => (value.to_string(), "map[string]interface {}"),
    };
    let path = if path.starts_with('.') {
        path.to_owned()
    } else {
        format!(".{path}")
    };
    format!("{path} accessor error: {shown} is of the type {actual}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replicas_are_non_negative_int32() {
        let scale = Scale {
            spec_path: ".spec.n".into(),
            status_path: ".status.n".into(),
            selector_path: Some(".status.labels".into()),
        };
        let found = |object: Value, status_only: bool| -> Vec<String> {
            replica_errors(&scale, &object, status_only)
                .iter()
                .map(|e| format!("{}: {}", e.field, e.message))
                .collect()
        };
        assert!(
            found(
                json!({"spec": {"n": 3}, "status": {"n": 0, "labels": "a=b"}}),
                false
            )
            .is_empty()
        );
        assert!(found(json!({}), false).is_empty());
        let bad = json!({"spec": {"n": -1}, "status": {"n": "x", "labels": 5}});
        assert_eq!(
            found(bad.clone(), false),
            [
                ".spec.n: Invalid value: -1: should be a non-negative integer",
                ".status.n: Invalid value: 0: .status.n accessor error: x is of the type string, expected int64",
                ".status.labels: Invalid value: \"\": .status.labels accessor error: 5 is of the type int64, expected string",
            ]
        );
        assert_eq!(found(bad, true).len(), 2);
        assert_eq!(
            found(json!({"spec": {"n": 3_000_000_000_i64}}), false),
            [".spec.n: Invalid value: 3000000000: should be less than or equal to 2147483647"]
        );
        assert_eq!(found(json!({"spec": 1}), false).len(), 1);
    }
}
