//! The versions of a definition.

use serde_json::Value;

use crate::object::{Object, at, items, string, text};
use crate::resources::{PrinterColumn, Scale};

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

/// The printer columns; without any, the age.
pub(super) fn columns_of(version: &Object) -> Vec<PrinterColumn> {
    let column = |name: &str, type_name: &str, path: &str, column: &Value| PrinterColumn {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        format: string(column, "format").to_owned(),
        description: string(column, "description").to_owned(),
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
        path: path.to_owned(),
    };
    let given: Vec<PrinterColumn> = items(version, &["additionalPrinterColumns"])
        .map(|given| {
            let word = |key| string(given, key);
            column(word("name"), word("type"), word("jsonPath"), given)
        })
        .collect();
    if given.is_empty() {
        let path = ".metadata.creationTimestamp";
        return vec![column("Age", "date", path, &Value::Null)];
    }
    given
}

/// The selectable fields, as field selectors name them.
pub(super) fn selectable_of(version: &Object) -> Vec<String> {
    let paths = items(version, &["selectableFields"]).map(|field| string(field, "jsonPath"));
    paths
        .map(|path| path.trim_start_matches('.').to_owned())
        .collect()
}
