//! Validation of updates of pods: few fields are mutable.

use serde_json::Value;

use super::values::{json_at, without_empty};
use crate::field_error::FieldError;
use crate::object::Object;

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations`,`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

pub(super) fn error(before: &Object, next: &Object) -> Option<FieldError> {
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
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            container
                .as_object_mut()
                .map(|fields| fields.remove("image"));
        }
    }
    let grace = old
        .get("terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    let was_negative = grace.is_some_and(|seconds| seconds < 0);
    let gates = old.get("schedulingGates").and_then(Value::as_array);
    let is_gated = gates.is_some_and(|gates| !gates.is_empty());
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
