//! Validation of the schema of a version.

use serde_json::{Map, Value, json};

use super::keywords::keyword_errors;
use super::structural::structural_errors;
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::schema::{Node, is_known_format, json_text, shown};

/// The deepest nesting of a schema, in levels of JSON.
const MAX_LEVELS: usize = 200;

/// The keywords allowed at the root of a schema with a status subresource.
const AT_ROOT: &[&str] = &[
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// `status` is true if the version has a status subresource.
pub(super) fn schema_errors(schema: &Value, place: &str, status: bool) -> Vec<FieldError> {
    let Some(map) = schema.as_object() else {
        return Vec::new();
    };
    if is_too_deep(schema) {
        let detail = format!("must not have more than {MAX_LEVELS} levels");
        return vec![FieldError::forbidden(place, &detail)];
    }
    let mut errors = Vec::new();
    if status {
        errors.extend(root_error(map, place));
    }
    if map.get("nullable") == Some(&Value::Bool(true)) {
        let field = format!("{place}.nullable");
        errors.forbidden(field, "nullable cannot be true at the root");
    }
    let structural = structural_errors(map, place);
    if !structural.is_empty() {
        errors.extend(structural);
        errors.extend(keyword_errors(map, None, place));
        return errors;
    }
    let node = Node::read(schema);
    let defaults = default_errors(&node, place);
    let rules = defaults.is_empty().then_some(&node);
    errors.extend(defaults);
    errors.extend(keyword_errors(map, rules, place));
    errors
}

/// Warnings about formats that are not validated.
pub(crate) fn format_warnings(crd: &Map<String, Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    for (_, schema) in super::versions::parts(crd, "schema", "validation") {
        let mut left: Vec<&Value> = schema.get("openAPIV3Schema").into_iter().collect();
        while let Some(value) = left.pop() {
            match value {
                Value::Object(map) => {
                    let word = |key: &str| map.get(key).and_then(Value::as_str);
                    if let Some(format) = word("format").filter(|format| {
                        !format.is_empty()
                            && !is_known_format(format, word("type").unwrap_or_default())
                    }) {
                        let warning = format!("unrecognized format {format:?}");
                        if !warnings.contains(&warning) {
                            warnings.push(warning);
                        }
                    }
                    let others = map
                        .iter()
                        .filter(|(key, _)| !matches!(key.as_str(), "default" | "example" | "enum"));
                    left.extend(others.map(|(_, inner)| inner));
                }
                Value::Array(list) => left.extend(list),
                _ => {}
            }
        }
    }
    warnings
}

fn is_too_deep(schema: &Value) -> bool {
    let mut left = vec![(schema, 0)];
    while let Some((value, depth)) = left.pop() {
        if depth > MAX_LEVELS {
            return true;
        }
        match value {
            Value::Object(map) => left.extend(map.values().map(|inner| (inner, depth + 1))),
            Value::Array(list) => left.extend(list.iter().map(|inner| (inner, depth + 1))),
            _ => {}
        }
    }
    false
}

fn root_error(schema: &Map<String, Value>, place: &str) -> Option<FieldError> {
    let type_name = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !type_name.is_empty() && type_name != "object" {
        return Some(FieldError::invalid(
            format!("{place}.type"),
            &type_name.into(),
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled",
        ));
    }
    let odd = schema.iter().any(|(key, value)| {
        let name = match key.as_str() {
            "x-kubernetes-preserve-unknown-fields" => "XPreserveUnknownFields".to_owned(),
            "x-kubernetes-validations" => "XValidations".to_owned(),
            key => {
                key.get(..1).unwrap_or_default().to_uppercase() + key.get(1..).unwrap_or_default()
            }
        };
        let empty = matches!(value, Value::Null | Value::Bool(false));
        !empty && !AT_ROOT.contains(&name.as_str())
    });
    odd.then(|| {
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            AT_ROOT.join(" ")
        );
        FieldError {
            reason: "FieldValueInvalid",
            field: place.to_owned(),
            message: format!("Invalid value: {}: {detail}", json_text(&json!(schema))),
        }
    })
}

/// Defaults must be valid, and must not have fields that pruning removes.
fn default_errors(node: &Node, place: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (place, node) in node.with_defaults(place) {
        let place = format!("{place}.default");
        let Some(default) = node.default_value() else {
            continue;
        };
        if node.prunes(default) {
            errors.push(FieldError {
                reason: "FieldValueInvalid",
                field: place.clone(),
                message: format!(
                    "Invalid value: {}: must not have unknown fields",
                    shown(default)
                ),
            });
        }
        errors.extend(node.check_default(default, &place));
    }
    errors
}
