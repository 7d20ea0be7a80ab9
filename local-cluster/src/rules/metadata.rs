//! Validation of metadata.

use serde_json::Value;

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;
use crate::object::{self, Object, at};
use crate::resources::Kind;
use crate::status::ApiError;

#[derive(Clone, Copy)]
enum MetadataType {
    Text,
    Number,
    TextMap,
    TextList,
    Objects,
}

const FIELDS: &[(&str, MetadataType)] = &[
    ("name", MetadataType::Text),
    ("generateName", MetadataType::Text),
    ("namespace", MetadataType::Text),
    ("selfLink", MetadataType::Text),
    ("uid", MetadataType::Text),
    ("resourceVersion", MetadataType::Text),
    ("generation", MetadataType::Number),
    ("creationTimestamp", MetadataType::Text),
    ("deletionTimestamp", MetadataType::Text),
    ("deletionGracePeriodSeconds", MetadataType::Number),
    ("labels", MetadataType::TextMap),
    ("annotations", MetadataType::TextMap),
    ("finalizers", MetadataType::TextList),
    ("ownerReferences", MetadataType::Objects),
    ("managedFields", MetadataType::Objects),
];

/// Checks the types of metadata, and drops empty and unknown fields.
pub(crate) fn clean_metadata(kind: &Kind, object: &mut Object) -> Result<(), ApiError> {
    let wrong = |value: &Value, field: &str, expected: &str| {
        let actual = match value {
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Null => "null",
        };
        let why = format!(
            "json: cannot unmarshal {actual} into Go struct field ObjectMeta{field} of type {expected}"
        );
        ApiError::cannot_handle(kind, &why)
    };
    let metadata = match object.entry("metadata").or_insert(Value::Null) {
        Value::Object(map) => map,
        slot @ Value::Null => {
            *slot = Value::Object(Object::new());
            return Ok(());
        }
        other => return Err(wrong(other, "", "v1.ObjectMeta")),
    };
    for (key, value) in metadata.iter() {
        let field = format!(".metadata.{key}");
        let Some((_, shape)) = FIELDS.iter().find(|(name, _)| name == key) else {
            continue;
        };
        if let Some((value, expected)) = shape.fault(value) {
            return Err(wrong(value, &field, expected));
        }
    }
    drop_empty(metadata);
    Ok(())
}

/// Drops empty and unknown fields.
fn drop_empty(metadata: &mut Object) {
    metadata.retain(|key, value| {
        let empty = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        // An empty list resets managed fields.
        let forgets = key == "managedFields" && value.is_array();
        (!empty || forgets) && FIELDS.iter().any(|(name, _)| name == key)
    });
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = metadata.get_mut(map) {
            // Go decodes null in a map of strings as an empty string.
            for value in map.values_mut().filter(|v| v.is_null()) {
                *value = Value::from("");
            }
        }
    }
}

impl MetadataType {
    /// The value of a wrong type, and its expected type.
    fn fault(self, value: &Value) -> Option<(&Value, &'static str)> {
        match (self, value) {
            (_, Value::Null)
            | (Self::Text, Value::String(_))
            | (Self::Number, Value::Number(_)) => None,
            (Self::TextMap, Value::Object(map)) => {
                let odd = map.values().find(|v| !v.is_string() && !v.is_null());
                odd.map(|v| (v, "string"))
            }
            (Self::TextList, Value::Array(list)) => {
                let odd = list.iter().find(|v| !v.is_string());
                odd.map(|v| (v, "string"))
            }
            (Self::Objects, Value::Array(list)) => {
                let odd = list.iter().find(|v| !v.is_object());
                odd.map(|v| (v, "object"))
            }
            (Self::Text, v) => Some((v, "string")),
            (Self::Number, v) => Some((v, "int64")),
            (Self::TextMap, v) => Some((v, "map[string]string")),
            (Self::TextList, v) => Some((v, "[]string")),
            (Self::Objects, v) => Some((v, "[]object")),
        }
    }
}

/// Validates labels, annotations and owner references.
pub(super) fn metadata_errors(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let map = |key: &str| {
        at(object, &["metadata", key])
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    for (key, value) in map("labels") {
        if !names::is_label_key(key) {
            let key = Value::from(key.as_str());
            errors.invalid("metadata.labels", key.clone(), names::LABEL_KEY);
        }
        if !value.as_str().is_some_and(names::is_label_value) {
            errors.invalid("metadata.labels", value.clone(), names::LABEL_VALUE);
        }
    }
    for (key, _) in map("annotations") {
        if !names::is_label_key(&key.to_lowercase()) {
            let key = Value::from(key.as_str());
            errors.invalid("metadata.annotations", key.clone(), names::LABEL_KEY);
        }
    }
    let owners = at(object, &["metadata", "ownerReferences"]).and_then(Value::as_array);
    let mut controllers = 0;
    for (index, owner) in owners.into_iter().flatten().enumerate() {
        for key in ["apiVersion", "kind", "name", "uid"] {
            if owner
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .is_empty()
            {
                errors.invalid(
                    format!("metadata.ownerReferences[{index}].{key}"),
                    "",
                    "must not be empty",
                );
            }
        }
        controllers += i32::from(owner.get("controller") == Some(&Value::Bool(true)));
    }
    if controllers > 1 {
        errors.invalid(
            "metadata.ownerReferences",
            controllers,
            "Only one reference can have Controller set to true",
        );
    }
    errors
}

pub(crate) fn check_name(kind: &Kind, object: &Object) -> Result<(), ApiError> {
    let name = object::name(object);
    let refuse =
        |error: FieldError| Err(ApiError::invalid(&kind.group, &kind.kind, name, &[error]));
    if name.is_empty() {
        return refuse(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    }
    let label = !kind.is_custom() && matches!(kind.plural.as_str(), "namespaces" | "services");
    let (fine, why) = if label {
        (names::is_label(name), names::LABEL)
    } else {
        (names::is_subdomain(name), names::SUBDOMAIN)
    };
    if fine {
        Ok(())
    } else {
        refuse(FieldError::invalid(
            "metadata.name",
            &Value::from(name),
            why,
        ))
    }
}
