//! What a strategic merge patch leaves must be an object of its kind; what is wrong is said of the
//! patch, printed the way Kubernetes prints it.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::object::Object;
use crate::resources::{Kind, check_types, unknown_fields};
use crate::rules::FieldValidation;
use crate::status::ApiError;

/// Checks what a strategic merge patch leaves.
pub(super) fn check(
    kind: &Kind,
    patch: &Object,
    left: &Object,
    validation: FieldValidation,
) -> Result<(), ApiError> {
    let refused = |why: &str| {
        let printed = Value::from(printed_map(patch));
        ApiError::invalid("", "", "", &[FieldError::invalid("patch", &printed, why)])
    };
    check_types(kind, left).map_err(|why| refused(&why))?;
    if validation != FieldValidation::Strict {
        return Ok(());
    }
    let unknown: Vec<String> = unknown_fields(kind, &mut left.clone())
        .iter()
        .map(|field| format!("unknown field {field:?}"))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let why = format!("strict decoding error: {}", unknown.join(", "));
    Err(refused(&why))
}

/// `map[a:1 b:[x y]]`
fn printed_map(map: &Object) -> String {
    let mut fields: Vec<(&String, &Value)> = map.iter().collect();
    fields.sort_by_key(|(key, _)| *key);
    let fields: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("{key}:{}", printed(value)))
        .collect();
    format!("map[{}]", fields.join(" "))
}

fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(printed).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => printed_map(map),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_are_printed_like_maps() {
        let patch = json!({"b": [1, {"x": null}], "a": {"t": true, "s": "text"}});
        assert_eq!(
            printed(&patch),
            "map[a:map[s:text t:true] b:[1 map[x:<nil>]]]"
        );
    }
}
