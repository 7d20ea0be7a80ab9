//! Rules of built-in kinds: what their objects must say, and what of them cannot be changed.
//!
//! Those that users meet, in Kubernetes' words; there are many more.

mod containers;
mod kept;
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

/// Puts back what follows from other fields of a changed object.
pub(super) fn settle(kind: &Kind, before: &Object, next: &mut Object) {
    if kind.is("", "services") && !kind.is_custom() {
        services::settle(before, next);
    }
}

/// What is wrong with an object (completed, in presented form).
pub(super) fn object_errors(kind: &Kind, object: &Object) -> Vec<FieldError> {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pods::spec_errors(at(object, &["spec"]), "spec"),
        ("", "services") => services::object_errors(object),
        ("", "configmaps") => kept::key_errors(object, &["data", "binaryData"]),
        ("", "secrets") => kept::secret_errors(object),
        ("coordination.k8s.io", "leases") => kept::lease_errors(object),
        ("apps", plural) => workloads::object_errors(plural, object),
        ("", "replicationcontrollers") => workloads::controller_errors(object),
        _ => Vec::new(),
    }
}

/// What is wrong with a change of an object.
pub(super) fn change_errors(kind: &Kind, before: &Object, next: &Object) -> Vec<FieldError> {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_changes::errors(before, next),
        ("", "services") => services::change_errors(before, next),
        ("", "configmaps") => kept::immutable_errors(before, next, &["data", "binaryData"]),
        ("", "secrets") => {
            let mut errors = kept::same(before, next, "type");
            errors.extend(kept::immutable_errors(before, next, &["data"]));
            errors
        }
        ("", "nodes") => nodes::change_errors(before, next),
        ("apps", plural) => workloads::change_errors(plural, before, next),
        _ => Vec::new(),
    }
}

/// The items of a list, however little of it is there.
fn items<'a>(object: Option<&'a Value>, field: &str) -> &'a [Value] {
    object
        .and_then(|object| object.get(field)?.as_array())
        .map_or(&[], Vec::as_slice)
}

/// The text of a field, empty when there is none.
fn word<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Checks a port number; `field` is where it is.
fn port_errors(field: String, number: &Value) -> Option<FieldError> {
    let fine = number.as_i64().is_some_and(|n| (1..=65_535).contains(&n));
    let why = "must be between 1 and 65535, inclusive";
    (!fine).then(|| FieldError::invalid(field, number, why))
}

/// Checks that a word is one of those there are, if it is there.
fn choice_error(field: String, value: &str, choices: &[&str]) -> Option<FieldError> {
    let quoted: Vec<String> = choices.iter().map(|c| format!("{c:?}")).collect();
    (!value.is_empty() && !choices.contains(&value))
        .then(|| FieldError::not_supported(field, &Value::from(value), &quoted))
}

/// The value without what is empty, which Kubernetes' types do not tell from what is not there.
fn bare(value: &Value) -> Value {
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(list) => list.iter().map(bare).collect(),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| (key.clone(), bare(value)));
            Value::Object(fields.filter(|(_, value)| !is_nothing(value)).collect())
        }
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complaints as one text each.
    pub(super) fn lines(errors: &[FieldError]) -> Vec<String> {
        let line = |error: &FieldError| format!("{}: {}", error.field, error.message);
        errors.iter().map(line).collect()
    }
}
