//! Validation of metadata.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;
use crate::object::{self, Object, at};
use crate::resources::Kind;
use crate::status::ApiError;

/// Checks the types of metadata, and drops empty and unknown fields.
pub(crate) fn clean_metadata(kind: &Kind, object: &mut Object) -> Result<(), ApiError> {
    let slot = object.entry("metadata").or_insert(Value::Null);
    if slot.is_null() {
        *slot = Value::Object(Object::new());
    }
    for map in ["labels", "annotations"] {
        if let Some(Value::Object(map)) = slot.get_mut(map) {
            // Go decodes null in a map of strings as an empty string.
            for value in map.values_mut().filter(|v| v.is_null()) {
                *value = Value::from("");
            }
        }
    }
    let wrong = |error: serde_json::Error| {
        ApiError::cannot_handle(kind, &format!("json: cannot unmarshal metadata: {error}"))
    };
    let typed: ObjectMeta = serde_json::from_value(slot.clone()).map_err(wrong)?;
    let known = serde_json::to_value(typed).map_err(wrong)?;
    if let Value::Object(metadata) = slot {
        metadata.retain(|key, value| {
            let empty = match value {
                Value::String(text) => text.is_empty(),
                Value::Array(list) => list.is_empty(),
                Value::Object(map) => map.is_empty(),
                _ => false,
            };
            // An empty list resets managed fields.
            let forgets = key == "managedFields" && value.is_array();
            (!empty || forgets) && known.get(key).is_some()
        });
    }
    Ok(())
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
