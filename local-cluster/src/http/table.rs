//! The `Table` format, which `kubectl get` requests.

use jsonpath_rust::JsonPath as _;
use serde_json::{Value, json};

use super::printers;
use crate::clock;
use crate::object::Object;
use crate::resources::{Kind, PrinterColumn};
use crate::status::ApiError;

/// The part of its object that a row includes besides the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    Nothing,
    Metadata,
    Object,
}

impl Include {
    /// Parses the `includeObject` parameter.
    pub(super) fn of(parameter: Option<&str>) -> Result<Self, ApiError> {
        match parameter {
            None | Some("Metadata") => Ok(Self::Metadata),
            Some("None") => Ok(Self::Nothing),
            Some("Object") => Ok(Self::Object),
            Some(other) => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty"
            ))),
        }
    }
}

pub(super) fn whole<'a>(
    kind: &Kind,
    objects: impl Iterator<Item = &'a Object>,
    metadata: Value,
    include: Include,
) -> Value {
    let rows: Vec<Value> = objects.map(|o| row(kind, o, include)).collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions(kind), "rows": rows,
    })
}

/// The object as `PartialObjectMetadata`.
pub(super) fn partial(object: &Object) -> Value {
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}

fn definitions(kind: &Kind) -> Value {
    match &kind.custom {
        Some(custom) => {
            let mut found = vec![json!(printers::name_column())];
            found.extend(custom.columns.iter().map(custom_definition));
            Value::from(found)
        }
        None => json!(printers::columns(kind)),
    }
}

fn custom_definition(column: &PrinterColumn) -> Value {
    let path = &column.json_path;
    let shown = format!("Custom resource definition column (in JSONPath format): {path}");
    let given = column.description.clone().filter(|given| !given.is_empty());
    json!({
        "name": column.name, "type": column.type_, "format": column.format.as_deref().unwrap_or(""),
        "description": given.unwrap_or(shown), "priority": column.priority.unwrap_or(0),
    })
}

pub(super) fn row(kind: &Kind, object: &Object, include: Include) -> Value {
    let cells: Vec<Value> = match &kind.custom {
        Some(custom) => {
            let name = Value::from(crate::object::name(object));
            let value = Value::Object(object.clone());
            let rest = custom.columns.iter().map(|column| cell(column, &value));
            std::iter::once(name).chain(rest).collect()
        }
        None => {
            let columns = printers::columns(kind).iter();
            columns.map(|column| column.cell(kind, object)).collect()
        }
    };
    let mut row = json!({"cells": cells});
    match include {
        Include::Nothing => {}
        Include::Metadata => row["object"] = partial(object),
        Include::Object => {
            row["object"] = Value::Object(kind.present_object(object.clone()));
        }
    }
    row
}

/// The value at a printer column's path, in the column's type.
fn cell(column: &PrinterColumn, object: &Value) -> Value {
    // Printer columns leave out the root, `$`.
    let found = object
        .query(&format!("${}", column.json_path))
        .ok()
        .and_then(|values| values.first().copied().cloned());
    match (found, column.type_.as_str()) {
        (None | Some(Value::Null), _) => Value::Null,
        (Some(Value::String(time)), "date") => Value::from(clock::age(&time)),
        (Some(text @ Value::String(_)), "string") => text,
        (Some(other), "string") => Value::from(other.to_string()),
        (Some(number @ Value::Number(_)), "integer" | "number") => number,
        (Some(flag @ Value::Bool(_)), "boolean") => flag,
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell_of(path: &str, type_name: &str) -> Value {
        let column = PrinterColumn {
            type_: type_name.into(),
            json_path: path.into(),
            ..PrinterColumn::default()
        };
        let object = json!({"spec": {"n": 3, "s": "x"}, "status": {"conditions": [
            {"type": "Other", "status": "False"}, {"type": "Created", "status": "True"}]}});
        cell(&column, &object)
    }

    #[test]
    fn cells_show_the_value_at_the_path() {
        assert_eq!(
            cell_of(
                ".status.conditions[?(@.type==\"Created\")].status",
                "string"
            ),
            "True"
        );
        assert_eq!(
            cell_of(".status.conditions[?(@.type=='Created')].status", "string"),
            "True"
        );
        assert_eq!(cell_of(".spec.n", "integer"), 3);
        assert_eq!(cell_of(".spec.n", "string"), "3");
        assert_eq!(cell_of(".spec.s", "integer"), Value::Null);
        assert_eq!(cell_of(".spec.none", "string"), Value::Null);
        assert_eq!(cell_of("nonsense[", "string"), Value::Null);
    }
}
