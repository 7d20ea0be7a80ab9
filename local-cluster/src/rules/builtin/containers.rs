//! Validation of containers.

use std::collections::HashSet;

use serde_json::Value;

use super::{PROTOCOLS, enum_error, items, port_errors, word};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;

const POLICIES: &[&str] = &["Always", "IfNotPresent", "Never"];

/// `seen` are the names of the containers before, `volumes` those of the pod's volumes.
pub(super) fn errors<'a>(
    containers: &'a [Value],
    path: &str,
    volumes: &HashSet<&str>,
    seen: &mut HashSet<&'a str>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, container) in containers.iter().enumerate() {
        let here = format!("{path}[{index}]");
        let name = word(container, "name");
        errors.extend(name_errors(
            format!("{here}.name"),
            name,
            seen.contains(name),
        ));
        seen.insert(name);
        let image = word(container, "image");
        if image.is_empty() {
            errors.required(format!("{here}.image"), "");
        } else if image.trim() != image {
            let why = "must not have leading or trailing whitespace";
            let value = Value::from(image);
            errors.invalid(format!("{here}.image"), value.clone(), why);
        }
        errors.extend(enum_error(container, &here, "imagePullPolicy", POLICIES));
        errors.extend(ports(container, &here));
        errors.extend(environment(container, &here));
        errors.extend(mounts(container, &here, volumes));
    }
    errors
}

/// A name must be a label, and unique.
pub(super) fn name_errors(field: String, name: &str, again: bool) -> Option<FieldError> {
    let value = Value::from(name);
    if name.is_empty() {
        Some(FieldError::required(field, ""))
    } else if !names::is_label(name) {
        Some(FieldError::invalid(field, &value, names::LABEL))
    } else {
        again.then(|| FieldError::duplicate(field, &value))
    }
}

fn ports(container: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = HashSet::new();
    for (index, port) in items(Some(container), "ports").iter().enumerate() {
        let here = format!("{path}.ports[{index}]");
        let name = word(port, "name");
        if !name.is_empty() {
            let field = format!("{here}.name");
            let value = Value::from(name);
            let wrong = port_name_errors(name);
            if wrong.is_empty() && !seen.insert(name) {
                errors.duplicate(field.clone(), value.clone());
            }
            for why in wrong {
                errors.invalid(field.clone(), value.clone(), why);
            }
        }
        match port.get("containerPort").filter(|n| n.as_i64() != Some(0)) {
            None | Some(Value::Null) => {
                errors.required(format!("{here}.containerPort"), "");
            }
            Some(number) => errors.extend(port_errors(format!("{here}.containerPort"), number)),
        }
        if let Some(number) = port.get("hostPort").filter(|n| n.as_i64() != Some(0)) {
            errors.extend(port_errors(format!("{here}.hostPort"), number));
        }
        errors.extend(enum_error(port, &here, "protocol", PROTOCOLS));
    }
    errors
}

fn port_name_errors(name: &str) -> Vec<&'static str> {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    [
        (name.len() > 15, "must be no more than 15 characters"),
        (
            !name.chars().all(known),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (
            !name.contains(|c: char| c.is_ascii_lowercase()),
            "must contain at least one letter (a-z)",
        ),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (
            name.starts_with('-') || name.ends_with('-'),
            "must not begin or end with a hyphen",
        ),
    ]
    .into_iter()
    .filter_map(|(wrong, why)| wrong.then_some(why))
    .collect()
}

fn environment(container: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, variable) in items(Some(container), "env").iter().enumerate() {
        let here = format!("{path}.env[{index}]");
        if word(variable, "name").is_empty() {
            errors.required(format!("{here}.name"), "");
        }
        let from = variable.get("valueFrom").filter(|from| !from.is_null());
        if from.is_some() && !word(variable, "value").is_empty() {
            errors.invalid(
                format!("{here}.valueFrom"),
                "",
                "may not be specified when `value` is not empty",
            );
        }
    }
    errors
}

fn mounts(container: &Value, path: &str, volumes: &HashSet<&str>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = HashSet::new();
    for (index, mount) in items(Some(container), "volumeMounts").iter().enumerate() {
        let here = format!("{path}.volumeMounts[{index}]");
        let (name, place) = (word(mount, "name"), word(mount, "mountPath"));
        if name.is_empty() {
            errors.required(format!("{here}.name"), "");
        } else if !volumes.contains(name) {
            let name = Value::from(name);
            errors.push(FieldError::not_found(format!("{here}.name"), &name));
        }
        if place.is_empty() {
            errors.required(format!("{here}.mountPath"), "");
        } else if !seen.insert(place) {
            let place = Value::from(place);
            let field = format!("{here}.mountPath");
            errors.invalid(field, place.clone(), "must be unique");
        }
    }
    errors
}
