//! Mutation: rewrites fields of older manifests and sets defaults (b71, b77, b87 to b92, b99).
//!
//! The object is changed as JSON, and the patch is the difference, so mutating twice changes nothing.
//! Values of the wrong type stay as they are: mutation runs before the API server validates the schema.

mod backend_group;
mod driver;
mod pod;

use super::table::{Kind, Operation};
use crate::api::earlier_fields::numbers_to_strings;
use crate::api::names;
use json_patch::Patch;
use serde_json::{Map, Value, json};

/// The patch of an object that is created, or updated from `old`.
pub(super) fn patch(
    kind: Kind,
    operation: Operation,
    object: &Value,
    old: Option<&Value>,
) -> Patch {
    if kind == Kind::Pod {
        return pod::patch(object);
    }
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

/// Rewrites a spec to the form that is validated and compared.
pub(super) fn normalise(kind: Kind, spec: &mut Value) {
    let Some(spec) = spec.as_object_mut() else {
        return;
    };
    match kind {
        Kind::Driver => {
            driver::add_webhooks(spec);
            if let Some(class) = spec.get_mut("serviceClass") {
                numbers_to_strings(class.get_mut("lbSpec"));
                numbers_to_strings(class.get_mut("parameters"));
            }
        }
        Kind::LoadBalancer => {
            numbers_to_strings(spec.get_mut("lbSpec"));
            numbers_to_strings(spec.get_mut("attributes"));
            default_policy(spec);
        }
        Kind::BackendGroup => {
            backend_group::normalise(spec);
            numbers_to_strings(spec.get_mut("parameters"));
            default_policy(spec);
        }
        Kind::Bind => {
            let lbs = spec.get_mut("loadBalancers").and_then(Value::as_array_mut);
            for lb in lbs.into_iter().flatten() {
                numbers_to_strings(lb.get_mut("spec"));
                numbers_to_strings(lb.get_mut("attributes"));
            }
            backend_group::service(spec);
            numbers_to_strings(spec.get_mut("parameters"));
            default_policy(spec);
        }
        // Pods are Kubernetes' own, and stay as they are.
        Kind::Pod => {}
    }
}

/// Adds the finalizer, once (d30, u33).
fn add_finalizer(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    let finalizer = json!(names::FINALIZER_LOAD_BALANCER);
    if let Some(finalizers) = list_at(metadata, "finalizers")
        && !finalizers.contains(&finalizer)
    {
        finalizers.push(finalizer);
    }
}

/// An `lbSpec` is immutable, so a number in a stored one is not rewritten to a string.
fn keep_identity(spec: &mut Value, object: &Value, old: Option<&Value>) {
    let identity = |object: &Value| object.pointer("/spec/lbSpec").cloned();
    if let Some(now) = identity(object)
        && old.and_then(identity).as_ref() == Some(&now)
    {
        spec["lbSpec"] = now;
    }
}

/// Sets the default where the policy is empty, as Go clients write it (b18).
fn default_policy(spec: &mut Map<String, Value>) {
    let policy = spec
        .get_mut("ensurePolicy")
        .and_then(|ensure| ensure.get_mut("policy"));
    if let Some(policy) = policy
        && is_blank(policy)
    {
        *policy = json!("IfNotSucc");
    }
}

/// The list of this name, which is created if it is missing or null; none if the value is no list.
fn list_at<'a>(parent: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Vec<Value>> {
    let list = parent.entry(name).or_insert(Value::Null);
    if list.is_null() {
        *list = json!([]);
    }
    list.as_array_mut()
}

fn set_if_blank(parent: &mut Map<String, Value>, name: &str, default: &str) {
    let value = parent.entry(name).or_insert(Value::Null);
    if is_blank(value) {
        *value = json!(default);
    }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

#[cfg(test)]
mod tests;
