//! The smaller parts of a version: scale, printer columns, selectable fields.

use std::collections::HashSet;

use serde_json::Value;

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::text;
use crate::resources::{PrinterColumn, Scale};
use crate::schema::{Node, find_field};

const COLUMN_TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: &[&str] = &[
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];
/// The largest number of selectable fields.
const MAX_SELECTABLE: usize = 8;

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn path_error(path: &str, field: &str) -> Option<FieldError> {
    (!path.starts_with('.')).then(|| {
        let detail = "must be a simple json path starting with .";
        FieldError::invalid(field, &Value::from(path), detail)
    })
}

pub(super) fn scale_of(version: &serde_json::Map<String, Value>) -> Option<Scale> {
    let scale = version.get("subresources")?.get("scale")?.as_object()?;
    let path = |key: &str| text(scale, &[key]).filter(|path| !path.is_empty());
    Some(Scale {
        spec_path: path("specReplicasPath")?.to_owned(),
        status_path: path("statusReplicasPath")?.to_owned(),
        selector_path: path("labelSelectorPath").map(str::to_owned),
    })
}

pub(super) fn scale_errors(subresources: &Value, place: &str) -> Vec<FieldError> {
    let Some(scale) = subresources.get("scale").filter(|s| s.is_object()) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    for (key, under, detail) in [
        (
            "specReplicasPath",
            &[".spec."][..],
            "should be a json path under .spec",
        ),
        (
            "statusReplicasPath",
            &[".status."],
            "should be a json path under .status",
        ),
        (
            "labelSelectorPath",
            &[".spec.", ".status."],
            "should be a json path under either .spec or .status",
        ),
    ] {
        let (path, field) = (word(scale, key), format!("{place}.scale.{key}"));
        if path.is_empty() {
            if key != "labelSelectorPath" {
                errors.required(field, "");
            }
        } else if let Some(error) = path_error(path, &field) {
            errors.push(error);
        } else if !under.iter().any(|prefix| path.starts_with(prefix)) {
            errors.invalid(field, path, detail);
        }
    }
    errors
}

pub(super) fn columns_of(version: &serde_json::Map<String, Value>) -> Vec<PrinterColumn> {
    let given: Vec<PrinterColumn> = version
        .get("additionalPrinterColumns")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|column| {
            let word = |key: &str| word(column, key).to_owned();
            PrinterColumn {
                name: word("name"),
                type_name: word("type"),
                format: word("format"),
                description: word("description"),
                priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
                path: word("jsonPath"),
            }
        })
        .collect();
    if !given.is_empty() {
        return given;
    }
    // The default column.
    vec![PrinterColumn {
        name: "Age".to_owned(),
        type_name: "date".to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
        path: ".metadata.creationTimestamp".to_owned(),
    }]
}

pub(super) fn columns_errors(columns: &Value, place: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, column) in columns.as_array().into_iter().flatten().enumerate() {
        let field = |key: &str| format!("{place}[{index}].{key}");
        if word(column, "name").is_empty() {
            errors.required(field("name"), "");
        }
        let types = format!("must be one of {}", COLUMN_TYPES.join(","));
        match word(column, "type") {
            "" => errors.required(field("type"), &types),
            known if COLUMN_TYPES.contains(&known) => {}
            other => errors.invalid(field("type"), other, &types),
        }
        let format = word(column, "format");
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
            errors.invalid(field("format"), format, &detail);
        }
        match word(column, "jsonPath") {
            "" => errors.required(field("JSONPath"), ""),
            path => errors.extend(path_error(path, &field("JSONPath"))),
        }
    }
    errors
}

/// The selectable fields, as field selectors name them.
pub(super) fn selectable_of(version: &serde_json::Map<String, Value>) -> Vec<String> {
    let fields = version.get("selectableFields").and_then(Value::as_array);
    fields
        .into_iter()
        .flatten()
        .map(|field| word(field, "jsonPath").trim_start_matches('.').to_owned())
        .collect()
}

pub(super) fn selectable_errors(
    fields: &Value,
    schema: Option<&Value>,
    place: &str,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = HashSet::new();
    let node = schema.map(Node::structure).unwrap_or_default();
    for (index, given) in fields.as_array().into_iter().flatten().enumerate() {
        let path = word(given, "jsonPath");
        let field = format!("{place}[{index}].jsonPath");
        let mut invalid = |detail: &str| errors.invalid(field.as_str(), path, detail);
        if path.is_empty() {
            errors.required(field, "");
            continue;
        }
        let (normal, found) = match find_field(path, &node, false) {
            Ok(found) => found,
            Err(why) => {
                invalid(&format!("is an invalid path: {why}"));
                continue;
            }
        };
        if normal.split('.').next() == Some("metadata") {
            invalid("must not point to fields in metadata");
        }
        let type_name = found.map(Node::type_name).unwrap_or_default();
        if !matches!(type_name, "string" | "boolean" | "integer") {
            invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            );
        }
        if !seen.insert(normal) {
            errors.duplicate(field, path);
        }
    }
    if seen.len() > MAX_SELECTABLE {
        errors.push(FieldError {
            reason: "FieldValueTooMany",
            field: place.to_owned(),
            message: format!(
                "Too many: {}: must have at most {MAX_SELECTABLE} items",
                seen.len()
            ),
        });
    }
    errors
}
