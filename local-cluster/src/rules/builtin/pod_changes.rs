//! Validation of updates of pods: few fields are mutable.

use std::fmt::Write as _;

use serde_json::Value;

use super::{items, without_empty};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::{Object, at};

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// The longest difference in a message, in lines.
const MAX_LINES: usize = 64;

pub(super) fn errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let spec = |pod: &Object| at(pod, &["spec"]).cloned().unwrap_or_default();
    let (old, mut new) = (spec(before), spec(next));
    if old == new {
        return Vec::new();
    }
    let mut errors = Vec::new();
    for list in ["containers", "initContainers"] {
        if items(Some(&old), list).len() != items(Some(&new), list).len() {
            errors.forbidden(
                format!("spec.{list}"),
                "pod updates may not add or remove containers",
            );
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    if let Some(error) = deadline_error(&old, &new) {
        return vec![error];
    }
    errors.extend(toleration_error(&old, &new));
    errors.extend(gate_errors(&old, &new));
    revert_mutable_fields(&old, &mut new);
    let (old, new) = (without_empty(&old), without_empty(&new));
    if old != new {
        let mut difference = String::new();
        write_differences(&mut difference, "spec", Some(&old), Some(&new), &mut 0);
        errors.forbidden(
            "spec",
            &format!("pod updates may not change fields other than {CHANGEABLE}\n{difference}"),
        );
    }
    errors
}

fn deadline_error(old: &Value, new: &Value) -> Option<FieldError> {
    let seconds = |spec: &Value| spec.get("activeDeadlineSeconds").and_then(Value::as_i64);
    let field = "spec.activeDeadlineSeconds";
    match (seconds(old), seconds(new)) {
        (Some(old), Some(new)) if old < new => Some(FieldError::invalid(
            field,
            &Value::from(new),
            "must be less than or equal to previous value",
        )),
        (Some(_), None) => Some(FieldError::invalid(
            field,
            &Value::Null,
            "must not update from a positive integer to nil value",
        )),
        _ => None,
    }
}

/// Tolerations may be added, and their `tolerationSeconds` changed.
fn toleration_error(old: &Value, new: &Value) -> Option<FieldError> {
    let without_seconds = |toleration: &Value| {
        let mut toleration = without_empty(toleration);
        if let Some(toleration) = toleration.as_object_mut() {
            toleration.remove("tolerationSeconds");
        }
        toleration
    };
    let new: Vec<Value> = items(Some(new), "tolerations")
        .iter()
        .map(without_seconds)
        .collect();
    let mut old = items(Some(old), "tolerations").iter().map(without_seconds);
    old.any(|toleration| !new.contains(&toleration)).then(|| {
        FieldError::forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        )
    })
}

fn gate_errors(old: &Value, new: &Value) -> Vec<FieldError> {
    let old = items(Some(old), "schedulingGates");
    let gates = items(Some(new), "schedulingGates").iter().enumerate();
    gates
        .filter(|(_, gate)| !old.contains(gate))
        .map(|(index, gate)| {
            let name = gate.get("name").and_then(Value::as_str).unwrap_or_default();
            FieldError::forbidden(
                format!("spec.schedulingGates[{index}]"),
                &format!("only deletion is allowed, but found new scheduling gate '{name}'"),
            )
        })
        .collect()
}

/// Reverts the fields that may change.
fn revert_mutable_fields(old: &Value, new: &mut Value) {
    let Some(new) = new.as_object_mut() else {
        return;
    };
    for list in ["containers", "initContainers"] {
        let containers = new.get_mut(list).and_then(Value::as_array_mut);
        for (new, old) in containers.into_iter().flatten().zip(items(Some(old), list)) {
            if let (Some(new), Some(image)) = (new.as_object_mut(), old.get("image")) {
                new.insert("image".to_owned(), image.clone());
            }
        }
    }
    let mut fields = vec!["activeDeadlineSeconds", "tolerations", "schedulingGates"];
    if !items(Some(old), "schedulingGates").is_empty() {
        // Scheduling constraints are mutable while a scheduling gate holds the pod.
        fields.extend(["nodeSelector", "affinity"]);
    }
    let grace = "terminationGracePeriodSeconds";
    let was_negative = old
        .get(grace)
        .and_then(Value::as_i64)
        .is_some_and(|s| s < 0);
    if was_negative && new.get(grace).and_then(Value::as_i64) == Some(1) {
        fields.push(grace);
    }
    for field in fields {
        match old.get(field) {
            Some(value) => new.insert(field.to_owned(), value.clone()),
            None => new.remove(field),
        };
    }
}

/// Writes the differences, field by field.
fn write_differences(
    out: &mut String,
    path: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    lines: &mut usize,
) {
    if old == new || *lines > MAX_LINES {
        return;
    }
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys = old
                .keys()
                .chain(new.keys().filter(|k| !old.contains_key(*k)));
            for key in keys {
                write_differences(
                    out,
                    &format!("{path}.{key}"),
                    old.get(key),
                    new.get(key),
                    lines,
                );
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                let here = format!("{path}[{index}]");
                write_differences(out, &here, old.get(index), new.get(index), lines);
            }
        }
        _ => {
            *lines += 1;
            for (sign, value) in [('-', old), ('+', new)] {
                if let Some(value) = value {
                    // Writing to a string cannot fail.
                    let _ = writeln!(out, "{sign} \t{path}: {value}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn change(change: Value) -> Vec<String> {
        let before = json!({"spec": {
            "containers": [{"name": "c", "image": "i"}], "nodeName": "n",
            "tolerations": [{"key": "k", "tolerationSeconds": 300}], "activeDeadlineSeconds": 60,
            "terminationGracePeriodSeconds": -1,
        }});
        let mut next = before.clone();
        json_patch::merge(&mut next, &json!({"spec": change}));
        lines(&errors(&object(before), &object(next)))
    }

    #[test]
    fn mutable_fields_can_change() {
        for fine in [
            json!({"containers": [{"name": "c", "image": "j"}]}),
            json!({"containers": [{"name": "c", "image": "i", "env": []}]}),
            json!({"tolerations": [{"key": "k"}, {"key": "l"}]}),
            json!({"activeDeadlineSeconds": 30}),
            json!({"terminationGracePeriodSeconds": 1}),
        ] {
            assert!(change(fine.clone()).is_empty(), "{fine}");
        }
    }

    #[test]
    fn all_other_fields_are_immutable() {
        for (bad, expected) in [
            (
                json!({"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}),
                "spec.containers: Forbidden: pod updates may not add or remove containers",
            ),
            (
                json!({"activeDeadlineSeconds": 61}),
                "spec.activeDeadlineSeconds: Invalid value: 61: must be less than or equal to previous value",
            ),
            (
                json!({"activeDeadlineSeconds": null}),
                "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
            ),
            (
                json!({"tolerations": [{"key": "l"}]}),
                "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
            ),
            (
                json!({"schedulingGates": [{"name": "g"}]}),
                "spec.schedulingGates[0]: Forbidden: only deletion is allowed, but found new scheduling gate 'g'",
            ),
        ] {
            assert_eq!(change(bad), [expected]);
        }
        let refused = change(json!({"nodeName": "m", "hostNetwork": true}));
        assert_eq!(
            refused,
            [format!(
                "spec: Forbidden: pod updates may not change fields other than {CHANGEABLE}\n- \tspec.nodeName: \"n\"\n+ \tspec.nodeName: \"m\"\n+ \tspec.hostNetwork: true\n"
            )]
        );
    }
}
