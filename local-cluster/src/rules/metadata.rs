//! The metadata that clients write: its types, its words, and what they have no say in.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::names;
use crate::object::{self, Object, at};
use crate::resources::Kind;
use crate::status::ApiError;

#[derive(Clone, Copy)]
enum Shape {
    Text,
    Number,
    TextMap,
    TextList,
    Objects,
}

const FIELDS: &[(&str, Shape)] = &[
    ("name", Shape::Text),
    ("generateName", Shape::Text),
    ("namespace", Shape::Text),
    ("selfLink", Shape::Text),
    ("uid", Shape::Text),
    ("resourceVersion", Shape::Text),
    ("generation", Shape::Number),
    ("creationTimestamp", Shape::Text),
    ("deletionTimestamp", Shape::Text),
    ("deletionGracePeriodSeconds", Shape::Number),
    ("labels", Shape::TextMap),
    ("annotations", Shape::TextMap),
    ("finalizers", Shape::TextList),
    ("ownerReferences", Shape::Objects),
    ("managedFields", Shape::Objects),
];

/// Checks the types of the metadata and drops what is empty or unknown.
pub(crate) fn clean_metadata(kind: &Kind, object: &mut Object) -> Result<(), ApiError> {
    let wrong = |value: &Value, field: &str, wanted: &str| {
        let actual = match value {
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Null => "null",
        };
        let why = format!(
            "json: cannot unmarshal {actual} into Go struct field ObjectMeta{field} of type {wanted}"
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
        let right = match (shape, value) {
            (_, Value::Null)
            | (Shape::Text, Value::String(_))
            | (Shape::Number, Value::Number(_)) => Ok(()),
            (Shape::TextMap, Value::Object(map)) => match map.values().find(|v| !v.is_string()) {
                Some(v) if !v.is_null() => Err((v, "string")),
                _ => Ok(()),
            },
            (Shape::TextList, Value::Array(list)) => match list.iter().find(|v| !v.is_string()) {
                Some(v) => Err((v, "string")),
                None => Ok(()),
            },
            (Shape::Objects, Value::Array(list)) => match list.iter().find(|v| !v.is_object()) {
                Some(v) => Err((v, "object")),
                None => Ok(()),
            },
            (Shape::Text, v) => Err((v, "string")),
            (Shape::Number, v) => Err((v, "int64")),
            (Shape::TextMap, v) => Err((v, "map[string]string")),
            (Shape::TextList, v) => Err((v, "[]string")),
            (Shape::Objects, v) => Err((v, "[]object")),
        };
        right.map_err(|(value, wanted)| wrong(value, &field, wanted))?;
    }
    metadata.retain(|key, value| {
        let empty = match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        // An empty list of managers forgets those there are.
        let forgets = key == "managedFields" && value.is_array();
        (!empty || forgets) && FIELDS.iter().any(|(name, _)| name == key)
    });
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = metadata.get_mut(map) {
            // A null in a map of strings is the empty string to Kubernetes.
            for value in map.values_mut().filter(|v| v.is_null()) {
                *value = Value::from("");
            }
        }
    }
    Ok(())
}

/// What is wrong with labels and owners.
pub(super) fn complaints(object: &Object) -> Vec<FieldError> {
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
            errors.push(FieldError::invalid(
                "metadata.labels",
                &key,
                names::LABEL_KEY,
            ));
        }
        if !value.as_str().is_some_and(names::is_label_value) {
            errors.push(FieldError::invalid(
                "metadata.labels",
                value,
                names::LABEL_VALUE,
            ));
        }
    }
    for (key, _) in map("annotations") {
        if !names::is_label_key(&key.to_lowercase()) {
            let key = Value::from(key.as_str());
            errors.push(FieldError::invalid(
                "metadata.annotations",
                &key,
                names::LABEL_KEY,
            ));
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
                errors.push(FieldError::invalid(
                    format!("metadata.ownerReferences[{index}].{key}"),
                    &Value::from(""),
                    "must not be empty",
                ));
            }
        }
        controllers += i32::from(owner.get("controller") == Some(&Value::Bool(true)));
    }
    if controllers > 1 {
        errors.push(FieldError::invalid(
            "metadata.ownerReferences",
            &Value::from(controllers),
            "Only one reference can have Controller set to true",
        ));
    }
    errors
}

/// Checks the name of a new object.
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
