//! What mutation makes of an object: the form of the present edition, and what everybody would
//! have to write otherwise (b71, b77, b87 to b92, b99).
//!
//! An object is changed as JSON, and the patch is the difference, so that a second run has nothing
//! to change. Whatever is not of the type that it should be stays as it is: refusing is others'
//! work, and mutation comes before the API server looks at the schema.

mod backend_group;
mod driver;

use super::table::{Kind, Operation};
use crate::names;
use json_patch::Patch;
use serde_json::{Map, Value, json};

/// The changes to an object that is created or updated; `old` is what it was before.
pub(super) fn patch(
    kind: Kind,
    operation: Operation,
    object: &Value,
    old: Option<&Value>,
) -> Patch {
    let mut after = object.clone();
    if operation == Operation::Create && matches!(kind, Kind::LoadBalancer | Kind::Bind) {
        add_finalizer(&mut after);
    }
    if kind == Kind::BackendGroup {
        backend_group::label(&mut after);
    }
    if let Some(spec) = after.get_mut("spec") {
        normalise(kind, spec);
        if kind == Kind::LoadBalancer {
            keep_identity(spec, object, old);
        }
    }
    json_patch::diff(object, &after)
}

/// Brings a spec into the form in which it is validated and compared.
pub(super) fn normalise(kind: Kind, spec: &mut Value) {
    let Some(spec) = spec.as_object_mut() else {
        return;
    };
    match kind {
        Kind::Driver => driver::name_webhooks(spec),
        Kind::LoadBalancer => {
            numbers_to_strings(spec.get_mut("lbSpec"));
            numbers_to_strings(spec.get_mut("attributes"));
            name_policy(spec);
        }
        Kind::BackendGroup => {
            backend_group::normalise(spec);
            numbers_to_strings(spec.get_mut("parameters"));
            name_policy(spec);
        }
        Kind::Bind => {
            let lbs = spec.get_mut("loadBalancers").and_then(Value::as_array_mut);
            for lb in lbs.into_iter().flatten() {
                numbers_to_strings(lb.get_mut("spec"));
                numbers_to_strings(lb.get_mut("attributes"));
            }
            numbers_to_strings(spec.get_mut("parameters"));
            name_policy(spec);
        }
    }
}

/// d30. Once, however often this is called (u33).
fn add_finalizer(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    let finalizer = json!(names::FINALIZER_LOAD_BALANCER);
    let finalizers = metadata.entry("finalizers").or_insert(Value::Null);
    if finalizers.is_null() {
        *finalizers = json!([]);
    }
    if let Some(finalizers) = finalizers.as_array_mut()
        && !finalizers.contains(&finalizer)
    {
        finalizers.push(finalizer);
    }
}

/// A load balancer's identity cannot change, not even from a number to its text: where it came to
/// be stored as a number, it stays one.
fn keep_identity(spec: &mut Value, object: &Value, old: Option<&Value>) {
    let identity = |object: &Value| object.pointer("/spec/lbSpec").cloned();
    if let Some(now) = identity(object)
        && old.and_then(identity).as_ref() == Some(&now)
    {
        spec["lbSpec"] = now;
    }
}

/// The samples' `weight: 50` becomes `weight: "50"` (d20). A number with a fraction stays, to be
/// refused: `1.10` in YAML is 1.1, and nobody can tell any more what was meant.
fn numbers_to_strings(map: Option<&mut Value>) {
    let values = map.and_then(Value::as_object_mut);
    for value in values.into_iter().flat_map(Map::values_mut) {
        if let Value::Number(number) = value
            && (number.is_i64() || number.is_u64())
        {
            *value = Value::String(number.to_string());
        }
    }
}

/// An empty policy, which Go clients write where none was given, is the default (b18).
fn name_policy(spec: &mut Map<String, Value>) {
    let policy = spec
        .get_mut("ensurePolicy")
        .and_then(|ensure| ensure.get_mut("policy"));
    if let Some(policy) = policy
        && is_blank(policy)
    {
        *policy = json!("IfNotSucc");
    }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

#[cfg(test)]
mod tests;
