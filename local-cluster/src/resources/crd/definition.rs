//! Validation of definitions and of their updates, and their versions. What single fields must be is in
//! `rules::builtin`.

use serde_json::Value;

use super::schema::schema_errors;
use crate::field_error::{ErrorList as _, ErrorType, FieldError};
use crate::names;
use crate::object::{self, Object, at, condition, items, list, string, text};
use crate::resources::{PrinterColumn, Scale};
use crate::schema::{Node, find_field, is_known_format};

/// Adds the errors of a definition to those of its single fields.
pub(crate) fn crd_errors(
    crd: &Object,
    before: Option<&Object>,
    mut errors: Vec<FieldError>,
) -> Vec<FieldError> {
    let word = |path: &[&str]| text(crd, path).unwrap_or_default();
    let name = object::name(crd);
    let named = format!(
        "{}.{}",
        word(&["spec", "names", "plural"]),
        word(&["spec", "group"])
    );
    if before.is_none() && name != named {
        let why = "must be spec.names.plural+\".\"+spec.group";
        errors.invalid("metadata.name", name, why);
    }
    // As in Kubernetes, what is stored is not validated again when only the status changes.
    if before.is_none_or(|before| before.get("spec") != crd.get("spec")) {
        errors.extend(spec_errors(crd));
    }
    if let Some(before) = before {
        errors.extend(change_errors(crd, before));
    }
    errors.extend(stored_errors(crd));
    errors
        .into_iter()
        .filter_map(|e| in_common(crd, e))
        .collect()
}

/// Kubernetes moves what all versions have in common out of them, and reports its errors there, once.
fn in_common(crd: &Object, mut error: FieldError) -> Option<FieldError> {
    let field = error.field.clone();
    let place = field.strip_prefix("spec.versions[");
    let Some((index, inner)) = place.and_then(|place| place.split_once("].")) else {
        return Some(error);
    };
    let part = inner.split(['.', '[']).next().unwrap_or_default();
    let lacks = inner == "schema.openAPIV3Schema" && error.kind == ErrorType::Required;
    if lacks || matches!(part, "name" | "served" | "storage") || !is_common(crd, part) {
        return Some(error);
    }
    let own = format!("spec.versions[{index}].{part}");
    let common = format!("spec.{}", part.replace("schema", "validation"));
    error.message = error.message.replace(&own, &common);
    error.field = field.replacen(&own, &common, 1);
    (index == "0").then_some(error)
}

fn is_common(crd: &Object, part: &str) -> bool {
    let mut parts = versions(crd).map(|version| version.get(part));
    let first = parts.next();
    parts.all(|part| Some(part) == first)
}

fn spec_errors(crd: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let word = |path: &[&str]| text(crd, path).unwrap_or_default();
    let list_kind = word(&["spec", "names", "listKind"]);
    if word(&["spec", "names", "kind"]) == list_kind && !list_kind.is_empty() {
        let why = "kind and listKind may not be the same";
        errors.invalid("spec.names.listKind", list_kind, why);
    }
    let is_stored = |version: &&Object| version.get("storage") == Some(&Value::Bool(true));
    if versions(crd).filter(is_stored).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        let given = at(crd, &["spec", "versions"]).cloned().unwrap_or_default();
        errors.invalid("spec.versions", given, why);
    }
    for (index, version) in versions(crd).enumerate() {
        let place = format!("spec.versions[{index}]");
        let path = format!("{place}.schema.openAPIV3Schema");
        let name = text(version, &["name"]).unwrap_or_default();
        // The table of fields has the other names.
        if name.is_empty() {
            errors.invalid(format!("{place}.name"), name, names::LETTER_LABEL);
        } else if index == 0 && !names::is_letter_label(name) {
            errors.invalid("spec.version", name, names::LETTER_LABEL);
        }
        let Some(schema) = schema_of(version).and_then(Value::as_object) else {
            errors.required(path, "");
            errors.extend(selectable_errors(version, &place));
            continue;
        };
        let has_status = at(version, &["subresources", "status"]).is_some_and(|s| !s.is_null());
        errors.extend(schema_errors(schema, &path, has_status));
        errors.extend(selectable_errors(version, &place));
    }
    if at(crd, &["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true)) {
        let strategy = word(&["spec", "conversion", "strategy"]);
        if strategy != "None" {
            let why = "must be None if spec.preserveUnknownFields is true";
            errors.invalid("spec.conversion.strategy", strategy, why);
        }
        errors.invalid("spec.preserveUnknownFields", true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
    }
    errors
}

/// Selectable fields must be declared scalars.
fn selectable_errors(version: &Object, place: &str) -> Vec<FieldError> {
    let node = schema_of(version).map(Node::read).unwrap_or_default();
    let mut errors = Vec::new();
    let fields = list(version, &["selectableFields"]);
    if !fields.is_empty() && version.get("schema").is_none_or(Value::is_null) {
        let why = "may only be set when validations.schema is included";
        errors.invalid(format!("{place}.selectableFields"), "", why);
        return errors;
    }
    for (index, field) in fields.iter().enumerate() {
        let path = string(field, "jsonPath");
        let found = find_field(path, &node, false);
        let is_selectable = found.is_some_and(|(path, found)| {
            let type_name = found.map(Node::type_name).unwrap_or_default();
            !path.starts_with("metadata.") && matches!(type_name, "string" | "boolean" | "integer")
        });
        // The row of the field reports a missing path.
        if !is_selectable && !path.is_empty() {
            let why = match find_field(path, &node, false) {
                None => "is an invalid path: does not refer to a valid field",
                Some((path, _)) if path.starts_with("metadata") => {
                    "must not point to fields in metadata"
                }
                Some(_) => {
                    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
                }
            };
            let field = format!("{place}.selectableFields[{index}].jsonPath");
            errors.invalid(field, path, why);
        }
    }
    errors
}

/// Immutable fields: group and plural always, scope and kind once established.
fn change_errors(crd: &Object, before: &Object) -> Vec<FieldError> {
    let established = condition(before, "Established").and_then(|c| c.get("status")?.as_str());
    let fixed: &[&[&str]] = &[
        &["spec", "group"],
        &["spec", "names", "plural"],
        &["spec", "scope"],
        &["spec", "names", "kind"],
    ];
    let count = if established == Some("True") { 4 } else { 2 };
    let fixed = fixed.iter().take(count);
    let changed = fixed.filter(|path| at(crd, path) != at(before, path));
    changed
        .map(|path| {
            let given = Value::from(text(crd, path).unwrap_or_default());
            FieldError::invalid(path.join("."), &given, "field is immutable")
        })
        .collect()
}

/// Objects may remain in a former storage version, so it must still be declared.
fn stored_errors(crd: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, name) in items(crd, &["status", "storedVersions"]).enumerate() {
        if !versions(crd).any(|version| version.get("name") == Some(name)) {
            let version = name.as_str().unwrap_or_default();
            let why = format!(
                "missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {version} and removes {version} from status.storedVersions"
            );
            let field = format!("status.storedVersions[{index}]");
            errors.invalid(field, version, &why);
        }
    }
    if list(crd, &["status", "storedVersions"]).is_empty() {
        let why = "must have at least one stored version";
        errors.invalid("status.storedVersions", Value::Null, why);
    }
    errors
}

/// Warnings about formats that are not validated.
pub(crate) fn format_warnings(crd: &Object) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut left: Vec<&Value> = versions(crd).filter_map(schema_of).collect();
    while let Some(value) = left.pop() {
        match value {
            Value::Object(map) => {
                let format = text(map, &["format"]).unwrap_or_default();
                let type_name = text(map, &["type"]).unwrap_or_default();
                let warning = format!("unrecognized format {format:?}");
                let is_odd = !format.is_empty() && !is_known_format(format, type_name);
                if is_odd && !warnings.contains(&warning) {
                    warnings.push(warning);
                }
                let is_value = |key: &str| matches!(key, "default" | "example" | "enum");
                left.extend(
                    map.iter()
                        .filter(|(key, _)| !is_value(key))
                        .map(|(_, inner)| inner),
                );
            }
            Value::Array(list) => left.extend(list),
            _ => {}
        }
    }
    warnings
}

pub(super) fn versions(crd: &Object) -> impl Iterator<Item = &Object> {
    items(crd, &["spec", "versions"]).filter_map(Value::as_object)
}

pub(super) fn schema_of(version: &Object) -> Option<&Value> {
    at(version, &["schema", "openAPIV3Schema"])
}

pub(super) fn scale_of(version: &Object) -> Option<Scale> {
    let path = |key: &str| {
        let path = text(version, &["subresources", "scale", key])?;
        Some(path.to_owned()).filter(|path| !path.is_empty())
    };
    Some(Scale {
        spec_path: path("specReplicasPath")?,
        status_path: path("statusReplicasPath")?,
        selector_path: path("labelSelectorPath"),
    })
}

const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The printer columns; without any, the age.
pub(super) fn columns_of(version: &Object) -> Vec<PrinterColumn> {
    let given = items(version, &["additionalPrinterColumns"]);
    let given = given.filter_map(|column| serde_json::from_value(column.clone()).ok());
    let mut columns: Vec<PrinterColumn> = given.collect();
    if columns.is_empty() {
        columns.push(PrinterColumn {
            name: "Age".to_owned(),
            type_: "date".to_owned(),
            json_path: ".metadata.creationTimestamp".to_owned(),
            description: Some(AGE.to_owned()),
            ..PrinterColumn::default()
        });
    }
    columns
}

/// The selectable fields, as field selectors name them.
pub(super) fn selectable_of(version: &Object) -> Vec<String> {
    let paths = items(version, &["selectableFields"]).map(|field| string(field, "jsonPath"));
    paths
        .map(|path| path.trim_start_matches('.').to_owned())
        .collect()
}
