//! Validation of updates: fields that are immutable once they are set, and pods, of which few are mutable.

use serde_json::Value;

use super::{services, table};
use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, dotted, items_in, maps_in};
use crate::resources::Kind;

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

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
        ("", "pods") => errors.extend(pod_errors(before, next)),
        ("", "nodes") => errors.extend(node_error(before, next)),
        ("", "services") => errors.extend(services::change_errors(before, next)),
        ("", "configmaps" | "secrets") => errors.extend(data_errors(before, next)),
        _ => {}
    }
    errors
}

fn immutable_error(path: &str, before: &Object, next: &Object) -> Option<FieldError> {
    let (old, new) = (json_at(before, path), json_at(next, path));
    let is_set = !matches!(&old, Value::Null) && old != "" && old != Value::Array(Vec::new());
    let changes = is_set && old != new;
    changes.then(|| FieldError::invalid(path, &new, "field is immutable"))
}

/// Errors of a config map or a secret that has `immutable` set.
fn data_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if before.get("immutable") == Some(&Value::Bool(true)) {
        for field in ["immutable", "data", "binaryData"] {
            if json_at(before, field) != json_at(next, field) {
                let why = "field is immutable when `immutable` is set";
                errors.forbidden(field, why);
            }
        }
    }
    errors
}

fn node_error(before: &Object, next: &Object) -> Option<FieldError> {
    let path = "spec.providerID";
    let (old, new) = (json_at(before, path), json_at(next, path));
    let why = "node updates may not change providerID except from \"\" to valid";
    (!old.is_null() && old != new).then(|| FieldError::forbidden(path, why))
}

fn pod_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (old, new) = (json_at(before, "spec"), json_at(next, "spec"));
    let lists = ["containers", "initContainers"].into_iter();
    let mut changed = lists.filter(|list| items_in(&old, list).len() != items_in(&new, list).len());
    if let Some(list) = changed.next() {
        let why = "pod updates may not add or remove containers";
        errors.forbidden(format!("spec.{list}"), why);
        return errors;
    }
    let changes =
        old != new && without_mutable_fields(&old, &old) != without_mutable_fields(&new, &old);
    let tolerations = |spec| -> Vec<Value> {
        let mut tolerations: Vec<Value> = items_in(spec, "tolerations").cloned().collect();
        let maps = tolerations.iter_mut().filter_map(Value::as_object_mut);
        maps.for_each(|toleration| _ = toleration.remove("tolerationSeconds"));
        tolerations
    };
    let kept = tolerations(&new);
    if !tolerations(&old).iter().all(|one| kept.contains(one)) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        errors.forbidden("spec.tolerations", why);
    }
    let why = format!("pod updates may not change fields other than {CHANGEABLE}");
    if changes {
        errors.forbidden("spec", &why);
    }
    errors
}

/// The spec without the fields that may differ from those of `old`.
fn without_mutable_fields(spec: &Value, old: &Value) -> Value {
    let mut spec = spec.clone();
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
