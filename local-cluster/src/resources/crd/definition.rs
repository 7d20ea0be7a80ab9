//! Validation of definitions and of their updates, and their versions. What single fields must be is in
//! `rules::builtin`.

use serde_json::Value;

use super::schema::schema_errors;
use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{self, Object, at, condition, items, string, text};
use crate::resources::{PrinterColumn, Scale};
use crate::schema::{Node, find_field, is_known_format};

pub(crate) fn crd_errors(crd: &Object, before: Option<&Object>) -> Vec<FieldError> {
    let mut errors = Vec::new();
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
}

fn spec_errors(crd: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let word = |path: &[&str]| text(crd, path).unwrap_or_default();
    if word(&["spec", "names", "kind"]) == word(&["spec", "names", "listKind"]) {
        let list_kind = word(&["spec", "names", "listKind"]);
        let why = "kind and listKind may not be the same";
        errors.invalid("spec.names.listKind", list_kind, why);
    }
    let is_stored = |version: &&Object| version.get("storage") == Some(&Value::Bool(true));
    if versions(crd).filter(is_stored).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.forbidden("spec.versions", why);
    }
    for (index, version) in versions(crd).enumerate() {
        let place = format!("spec.versions[{index}]");
        let Some(schema) = schema_of(version).and_then(Value::as_object) else {
            continue;
        };
        let has_status = at(version, &["subresources", "status"]).is_some_and(|s| !s.is_null());
        let path = format!("{place}.schema.openAPIV3Schema");
        errors.extend(schema_errors(schema, &path, has_status));
        errors.extend(selectable_errors(version, &place));
    }
    if at(crd, &["spec", "preserveUnknownFields"]) == Some(&Value::Bool(true)) {
        errors.invalid("spec.preserveUnknownFields", true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
    }
    errors
}

/// Selectable fields must be declared scalars.
fn selectable_errors(version: &Object, place: &str) -> Vec<FieldError> {
    let node = schema_of(version).map(Node::read).unwrap_or_default();
    let mut errors = Vec::new();
    for (index, field) in items(version, &["selectableFields"]).enumerate() {
        let path = string(field, "jsonPath");
        let found = find_field(path, &node, false);
        let is_selectable = found.is_some_and(|(path, found)| {
            let type_name = found.map(Node::type_name).unwrap_or_default();
            !path.starts_with("metadata.") && matches!(type_name, "string" | "boolean" | "integer")
        });
        // The row of the field reports a missing path.
        if !is_selectable && !path.is_empty() {
            let why = "must be the path of a string, boolean or integer outside of metadata";
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
            let given = at(crd, path).cloned().unwrap_or_default();
            FieldError::invalid(path.join("."), &given, "field is immutable")
        })
        .collect()
}

/// Objects may remain in a former storage version, so it must still be declared.
fn stored_errors(crd: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, name) in items(crd, &["status", "storedVersions"]).enumerate() {
        if !versions(crd).any(|version| version.get("name") == Some(name)) {
            let why = "must remain in spec.versions until no data remains persisted in it";
            let field = format!("status.storedVersions[{index}]");
            errors.invalid(field, name.clone(), why);
        }
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
