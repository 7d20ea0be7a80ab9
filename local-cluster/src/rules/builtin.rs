//! Validation of built-in kinds.
//!
//! Only rules that users commonly meet are here, with Kubernetes' messages; Kubernetes has many
//! more.

mod config;
mod containers;
mod endpoint_slices;
mod nodes;
mod pod_changes;
mod pods;
mod services;
mod workloads;

use serde_json::Value;

pub(crate) use services::taken_addresses;

use crate::field_error::FieldError;
use crate::object::{Object, at};
use crate::resources::Kind;

const SLICES: (&str, &str) = ("discovery.k8s.io", "endpointslices");

/// Drops fields that the API server accepts and does not store.
pub(super) fn drop_ignored_fields(kind: &Kind, object: &mut Object) {
    if kind.is(SLICES.0, SLICES.1) && !kind.is_custom() {
        endpoint_slices::drop_ignored_fields(object);
    }
}

/// Adjusts fields of an updated object that depend on others.
pub(super) fn drop_dependent_fields(kind: &Kind, before: &Object, next: &mut Object) {
    if kind.is("", "services") && !kind.is_custom() {
        services::drop_dependent_fields(before, next);
    }
}

/// Validates an object with its defaults, in its served version.
pub(super) fn object_errors(kind: &Kind, object: &Object) -> Vec<FieldError> {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pods::spec_errors(at(object, &["spec"]), "spec"),
        ("", "services") => services::object_errors(object),
        ("", "configmaps") => config::key_errors(object, &["data", "binaryData"]),
        ("", "secrets") => config::secret_errors(object),
        ("coordination.k8s.io", "leases") => config::lease_errors(object),
        SLICES => endpoint_slices::object_errors(object),
        ("apps", plural) => workloads::object_errors(plural, object),
        ("", "replicationcontrollers") => workloads::controller_errors(object),
        _ => Vec::new(),
    }
}

pub(super) fn change_errors(kind: &Kind, before: &Object, next: &Object) -> Vec<FieldError> {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_changes::errors(before, next),
        ("", "services") => services::change_errors(before, next),
        ("", "configmaps") => config::immutable_errors(before, next, &["data", "binaryData"]),
        ("", "secrets") => {
            let mut errors = config::same(before, next, "type");
            errors.extend(config::immutable_errors(before, next, &["data"]));
            errors
        }
        ("", "nodes") => nodes::change_errors(before, next),
        SLICES => endpoint_slices::change_errors(before, next),
        ("apps", plural) => workloads::change_errors(plural, before, next),
        _ => Vec::new(),
    }
}

/// What the client of a valid write should know.
pub(super) fn warnings(kind: &Kind, object: &Object, is_new: bool) -> Vec<String> {
    match (kind.group.as_str(), kind.plural.as_str()) {
        SLICES => endpoint_slices::warnings(object, is_new),
        _ => Vec::new(),
    }
}

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

/// The items of a list, none if it is missing.
fn items<'a>(object: Option<&'a Value>, field: &str) -> &'a [Value] {
    object
        .and_then(|object| object.get(field)?.as_array())
        .map_or(&[], Vec::as_slice)
}

/// The string of a field, empty if it is missing.
fn word<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn port_errors(field: String, number: &Value) -> Option<FieldError> {
    let fine = number.as_i64().is_some_and(|n| (1..=65_535).contains(&n));
    let why = "must be between 1 and 65535, inclusive";
    (!fine).then(|| FieldError::invalid(field, number, why))
}

/// Validates the enum at `path.field`; an empty value is valid.
fn enum_error(object: &Value, path: &str, field: &str, supported: &[&str]) -> Option<FieldError> {
    let value = word(object, field);
    (!value.is_empty() && !supported.contains(&value)).then(|| {
        FieldError::not_supported(format!("{path}.{field}"), &Value::from(value), supported)
    })
}

/// The value without empty fields, which Kubernetes' types do not distinguish from missing ones.
fn without_empty(value: &Value) -> Value {
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(list) => list.iter().map(without_empty).collect(),
        Value::Object(map) => {
            let fields = map
                .iter()
                .map(|(key, value)| (key.clone(), without_empty(value)));
            Value::Object(fields.filter(|(_, value)| !is_nothing(value)).collect())
        }
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn lines(errors: &[FieldError]) -> Vec<String> {
        let line = |error: &FieldError| format!("{}: {}", error.field, error.message);
        errors.iter().map(line).collect()
    }
}
