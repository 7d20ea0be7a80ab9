//! Validation of updates: fields that are immutable once they are set, and pods, of which few are mutable.

use serde_json::Value;

use super::{services, table};
use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, dotted, is_empty, items_in, maps_in};
use crate::resources::Kind;

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations`,`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(in crate::rules) fn change_errors(
    kind: &Kind,
    before: &Object,
    next: &Object,
) -> Vec<FieldError> {
    let (group, plural) = (kind.group.as_str(), kind.plural.as_str());
    let mut errors: Vec<FieldError> = table::immutable(group, plural)
        .iter()
        .filter_map(|path| immutable_error(path, before, next))
        .collect();
    match (group, plural) {
        ("", "pods") => errors.extend(pod_error(before, next)),
        ("", "services") => errors.extend(services::change_error(before, next)),
        ("", "configmaps" | "secrets") => errors.extend(data_errors(before, next)),
        _ => {}
    }
    errors
}

fn immutable_error(path: &str, before: &Object, next: &Object) -> Option<FieldError> {
    let (old, new) = (json_at(before, path), json_at(next, path));
    let is_set = !matches!(&old, Value::Null) && old != "" && old != Value::Array(Vec::new());
    let changes = is_set && without_empty(&old) != without_empty(&new);
    changes.then(|| FieldError::invalid(path, &new, "field is immutable"))
}

/// Errors of a config map or a secret that has `immutable` set.
fn data_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if before.get("immutable") == Some(&Value::Bool(true)) {
        for field in ["immutable", "data", "binaryData"] {
            if without_empty(&json_at(before, field)) != without_empty(&json_at(next, field)) {
                let why = "field is immutable when `immutable` is set";
                errors.forbidden(field, why);
            }
        }
    }
    errors
}

fn pod_error(before: &Object, next: &Object) -> Option<FieldError> {
    let (old, new) = (json_at(before, "spec"), json_at(next, "spec"));
    let changes =
        old != new && without_mutable_fields(&old, &old) != without_mutable_fields(&new, &old);
    let why = format!("pod updates may not change fields other than {CHANGEABLE}");
    changes.then(|| FieldError::forbidden("spec", &why))
}

/// The spec without the fields that may differ from those of `old`.
fn without_mutable_fields(spec: &Value, old: &Value) -> Value {
    let mut spec = without_empty(spec);
    for list in ["containers", "initContainers"] {
        for container in maps_in(spec.get_mut(list)) {
            container.remove("image");
        }
    }
    let grace = old
        .get("terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    let was_negative = grace.is_some_and(|seconds| seconds < 0);
    let is_gated = items_in(old, "schedulingGates").next().is_some();
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|name, value| match name.as_str() {
            "activeDeadlineSeconds" | "tolerations" => false,
            // Gates can be removed, and while there are some, the placement is open.
            "schedulingGates" | "nodeSelector" | "affinity" => !is_gated,
            "terminationGracePeriodSeconds" => {
                !(was_negative && value.as_i64().is_some_and(|seconds| seconds <= 1))
            }
            _ => true,
        });
    }
    spec
}

/// The value at a path such as `spec.type`, null if it is missing.
pub(super) fn json_at(object: &Object, path: &str) -> Value {
    dotted(object, path).cloned().unwrap_or_default()
}

/// The value without empty fields, which Kubernetes' types do not distinguish from missing ones.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without_empty).collect(),
        Value::Object(map) => {
            let fields = map
                .iter()
                .map(|(key, value)| (key.clone(), without_empty(value)));
            let set = fields.filter(|(_, value)| !is_empty(value) && *value != "");
            Value::Object(set.collect())
        }
        plain => plain.clone(),
    }
}
