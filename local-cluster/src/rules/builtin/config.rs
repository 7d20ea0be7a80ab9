//! Validation of config maps, secrets and leases.

use serde_json::Value;

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::{Object, at, text};

const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// The keys that a secret of a type must have.
const PARTS: &[(&str, &[&str])] = &[
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
];

pub(super) fn key_errors(object: &Object, maps: &[&str]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    for map in maps {
        let keys = object.get(*map).and_then(Value::as_object);
        for key in keys.into_iter().flat_map(|keys| keys.keys()) {
            let (field, value) = (format!("{map}[{key}]"), Value::from(key.as_str()));
            if key.is_empty() || !key.chars().all(plain) {
                errors.invalid(field, value.clone(), KEY);
            } else if key.len() > 253 {
                let why = "must be no more than 253 characters";
                errors.invalid(field, value.clone(), why);
            } else if key == "." || key.starts_with("..") {
                let why = if key == "." || key == ".." {
                    format!("must not be '{key}'")
                } else {
                    "must not start with '..'".to_owned()
                };
                errors.invalid(field, value.clone(), &why);
            }
        }
    }
    errors
}

pub(super) fn secret_errors(secret: &Object) -> Vec<FieldError> {
    let mut errors = key_errors(secret, &["data"]);
    let kind = text(secret, &["type"]).unwrap_or_default();
    let parts = PARTS.iter().find(|(of, _)| *of == kind);
    for part in parts.into_iter().flat_map(|(_, parts)| *parts) {
        if at(secret, &["data", part]).is_none() {
            errors.required(format!("data[{part}]"), "");
        }
    }
    errors
}

pub(super) fn lease_errors(lease: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, least, why) in [
        ("leaseDurationSeconds", 1, "must be greater than 0"),
        ("leaseTransitions", 0, "must be greater than or equal to 0"),
    ] {
        let value = at(lease, &["spec", field]).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|v| v.as_i64().is_some_and(|n| n < least)) {
            errors.invalid(format!("spec.{field}"), value.clone(), why);
        }
    }
    errors
}

/// Validates an update of an object that may have `immutable` set.
pub(super) fn immutable_errors(before: &Object, next: &Object, maps: &[&str]) -> Vec<FieldError> {
    let is_fixed = |object: &Object| object.get("immutable") == Some(&Value::Bool(true));
    if !is_fixed(before) {
        return Vec::new();
    }
    let why = "field is immutable when `immutable` is set";
    let mut errors = Vec::new();
    if !is_fixed(next) {
        errors.forbidden("immutable", why);
    }
    let map = |object: &Object, key: &str| {
        let map = object.get(key).and_then(Value::as_object);
        map.filter(|map| !map.is_empty()).cloned()
    };
    for key in maps {
        if map(before, key) != map(next, key) {
            errors.forbidden(*key, why);
        }
    }
    errors
}

pub(super) fn same(before: &Object, next: &Object, field: &str) -> Vec<FieldError> {
    let (old, new) = (before.get(field), next.get(field));
    if old == new {
        return Vec::new();
    }
    let new = new.cloned().unwrap_or_default();
    vec![FieldError::invalid(field, &new, "field is immutable")]
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use crate::object::object;
    use serde_json::json;

    #[test]
    fn keys_must_be_file_names() {
        let errors =
            |key: &str| lines(&key_errors(&object(json!({"data": {key: "v"}})), &["data"]));
        assert!(errors("a.b_c-D").is_empty());
        assert!(
            errors("a b")[0]
                .starts_with("data[a b]: Invalid value: \"a b\": a valid config key must")
        );
        assert_eq!(
            errors(".."),
            ["data[..]: Invalid value: \"..\": must not be '..'"]
        );
        assert!(errors("..a")[0].ends_with("must not start with '..'"));
    }

    #[test]
    fn secrets_need_the_keys_of_their_type() {
        let secret = object(json!({"type": "kubernetes.io/tls", "data": {"tls.crt": ""}}));
        assert_eq!(
            lines(&secret_errors(&secret)),
            ["data[tls.key]: Required value"]
        );
        let other = object(json!({"type": "Opaque"}));
        assert_eq!(
            lines(&same(&secret, &other, "type")),
            ["type: Invalid value: \"Opaque\": field is immutable"]
        );
    }

    #[test]
    fn immutable_data_cannot_change() {
        let map = |immutable: bool, data: &str| {
            object(json!({"immutable": immutable, "data": {"a": data}}))
        };
        let errors =
            |before: &Object, next: &Object| lines(&immutable_errors(before, next, &["data"]));
        assert!(errors(&map(false, "1"), &map(true, "2")).is_empty());
        assert!(errors(&map(true, "1"), &map(true, "1")).is_empty());
        assert_eq!(
            errors(&map(true, "1"), &map(false, "2")),
            [
                "immutable: Forbidden: field is immutable when `immutable` is set",
                "data: Forbidden: field is immutable when `immutable` is set",
            ]
        );
    }

    #[test]
    fn lease_durations_are_positive() {
        let lease = object(json!({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}));
        assert_eq!(
            lines(&lease_errors(&lease)),
            [
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            ]
        );
    }
}
