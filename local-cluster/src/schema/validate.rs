//! Says what in a value its schema does not allow.

use serde_json::Value;

use super::keyword::{flag, join};
use crate::field_error::FieldError;

/// All complaints, in the order of the walk.
pub(crate) fn validate(schema: &Value, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(schema, value, "", &mut errors);
    errors
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn has_type(value: &Value, wanted: &str) -> bool {
    match (type_of(value), wanted) {
        ("integer", "number") => true,
        // 1.0 is an integer to Kubernetes.
        ("number", "integer") => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        (actual, wanted) => actual == wanted,
    }
}

fn walk(schema: &Value, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if value.is_null() && flag(schema, "nullable") {
        return;
    }
    if flag(schema, "x-kubernetes-int-or-string") {
        if !matches!(type_of(value), "integer" | "string") {
            let detail = format!(
                "{path} in body must be of type integer or string: \"{}\"",
                type_of(value)
            );
            errors.push(FieldError::wrong_type(path, type_of(value), &detail));
        }
        return;
    }
    if let Some(wanted) = schema.get("type").and_then(Value::as_str)
        && !has_type(value, wanted)
    {
        let actual = type_of(value);
        let detail = format!("{path} in body must be of type {wanted}: \"{actual}\"");
        errors.push(FieldError::wrong_type(path, actual, &detail));
        return;
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        errors.push(FieldError::not_supported(path, value, &allowed));
    }
    match value {
        Value::String(text) => check_text(schema, text, path, errors),
        Value::Number(number) => {
            check_number(schema, number.as_f64().unwrap_or(0.0), value, path, errors);
        }
        Value::Array(items) => {
            check_count(
                schema,
                items.len(),
                ("minItems", "maxItems", "items"),
                value,
                path,
                errors,
            );
            if let Some(item_schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    walk(item_schema, item, &format!("{path}[{index}]"), errors);
                }
            }
        }
        Value::Object(map) => {
            check_count(
                schema,
                map.len(),
                ("minProperties", "maxProperties", "properties"),
                value,
                path,
                errors,
            );
            let required = schema.get("required").and_then(Value::as_array);
            for key in required.into_iter().flatten().filter_map(Value::as_str) {
                if !map.contains_key(key) {
                    errors.push(FieldError::required(join(path, key), ""));
                }
            }
            let properties = schema.get("properties").and_then(Value::as_object);
            for (key, inner) in map {
                let known = properties.and_then(|p| p.get(key));
                let inner_schema = known.or_else(|| schema.get("additionalProperties"));
                // Type and metadata of the whole object have rules of their own.
                let own =
                    path.is_empty() && matches!(key.as_str(), "apiVersion" | "kind" | "metadata");
                if let Some(inner_schema) = inner_schema.filter(|_| !own) {
                    walk(inner_schema, inner, &join(path, key), errors);
                }
            }
        }
        _ => {}
    }
}

fn check_text(schema: &Value, text: &str, path: &str, errors: &mut Vec<FieldError>) {
    let value = Value::from(text);
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if let Some(min) = schema.get("minLength").and_then(Value::as_u64)
        && length < min
    {
        let detail = format!("{path} in body should be at least {min} chars long");
        errors.push(FieldError::invalid(path, &value, &detail));
    }
    if let Some(max) = schema.get("maxLength").and_then(Value::as_u64)
        && length > max
    {
        errors.push(FieldError {
            reason: "FieldValueTooLong",
            field: path.to_owned(),
            message: format!("Too long: may not be more than {max} bytes"),
        });
    }
    if schema.get("format").and_then(Value::as_str) == Some("date-time")
        && text.parse::<jiff::Timestamp>().is_err()
    {
        let detail = format!("{path} in body must be of type date-time: {value}");
        errors.push(FieldError::invalid(path, &value, &detail));
    }
}

fn check_number(
    schema: &Value,
    number: f64,
    value: &Value,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let mut complain = |text: String| errors.push(FieldError::invalid(path, value, &text));
    if let Some(min) = bound("minimum") {
        let exclusive = flag(schema, "exclusiveMinimum");
        if number < min || (exclusive && number <= min) {
            let or_equal = if exclusive { "" } else { " or equal to" };
            complain(format!(
                "{path} in body should be greater than{or_equal} {min}"
            ));
        }
    }
    if let Some(max) = bound("maximum") {
        let exclusive = flag(schema, "exclusiveMaximum");
        if number > max || (exclusive && number >= max) {
            let or_equal = if exclusive { "" } else { " or equal to" };
            complain(format!(
                "{path} in body should be less than{or_equal} {max}"
            ));
        }
    }
}

fn check_count(
    schema: &Value,
    count: usize,
    (min_key, max_key, what): (&str, &str, &str),
    value: &Value,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    if let Some(min) = schema.get(min_key).and_then(Value::as_u64)
        && count < min
    {
        let detail = format!("{path} in body should have at least {min} {what}");
        errors.push(FieldError::invalid(path, value, &detail));
    }
    if let Some(max) = schema.get(max_key).and_then(Value::as_u64)
        && count > max
    {
        errors.push(FieldError {
            reason: "FieldValueTooMany",
            field: path.to_owned(),
            message: format!("Too many: {count}: must have at most {max} items"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn complaints_are_worded_like_kubernetes() {
        let schema = json!({"type": "object", "required": ["spec"], "properties": {"spec": {
        "type": "object", "required": ["lbDriver"], "properties": {
            "lbDriver": {"type": "string"},
            "lbSpec": {"type": "object", "additionalProperties": {"type": "string"}},
            "policy": {"type": "string", "enum": ["A", "B"]},
            "weight": {"type": "integer", "minimum": 0, "maximum": 100},
        }}}});
        let value = json!({"spec": {"lbSpec": {"port": 80}, "policy": "C", "weight": 101}});
        let found: Vec<String> = validate(&schema, &value)
            .iter()
            .map(|e| format!("{}: {}", e.field, e.message))
            .collect();
        assert!(found.contains(&"spec.lbDriver: Required value".to_owned()));
        assert!(found.contains(&"spec.lbSpec.port: Invalid value: \"integer\": spec.lbSpec.port in body must be of type string: \"integer\"".to_owned()));
        assert!(found.contains(
            &"spec.policy: Unsupported value: \"C\": supported values: \"A\", \"B\"".to_owned()
        ));
        assert!(found.contains(&"spec.weight: Invalid value: 101: spec.weight in body should be less than or equal to 100".to_owned()));
        assert_eq!(found.len(), 4);
    }
}
