//! The rules that CRDs cannot have: about the namespace, unknown fields and deletions, the parsing of
//! URLs, and what the rules of the CRDs tolerate because the original controller accepted it.
//!
//! Pure functions from an object to be stored, and the one that it replaces, to all field errors. The
//! API server has checked the rules of the CRDs before it calls admission. Errors that the replaced
//! object has too are not reported: objects that the original accepted stay changeable.

use super::denial::{Denial, FieldErrors};
use super::object::{Labels, Spec};
use crate::api::names::{
    LABEL_DO_NOT_DELETE, LABEL_DRIVER_DRAINING, SYSTEM_NAMESPACE, SYSTEM_PREFIX, is_draining,
};
use crate::api::{
    BackendGroupSpec, BindSpec, LoadBalancerDriverSpec, LoadBalancerSpec, ObjectKey, PodSelection,
    allowed,
};
use crate::process::text::listed;
use lbcf_driver_client::DriverClient;
use serde_json::Value;

/// The most users of a driver that a message lists.
const LISTED_USERS: usize = 5;

fn is_system(key: &ObjectKey) -> bool {
    *key.namespace == *SYSTEM_NAMESPACE
}

fn has_prefix(key: &ObjectKey) -> bool {
    key.name.starts_with(SYSTEM_PREFIX)
}

/// A driver that is created: neither its name nor its URL can change later.
pub(super) fn validate_driver(key: &ObjectKey, spec: &LoadBalancerDriverSpec) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if is_system(key) != has_prefix(key) {
        let must = if is_system(key) { "must" } else { "must not" };
        let problem = format!(
            "{must} start with {SYSTEM_PREFIX:?} in namespace {}; drivers for all namespaces do, and are in {SYSTEM_NAMESPACE}",
            key.namespace
        );
        errors.invalid("metadata.name", &key.name, problem);
    }
    if let Err(error) = DriverClient::check_url(&spec.url) {
        errors.push("spec.url", error.to_string());
    }
    errors
}

pub(super) fn validate_load_balancer(
    key: &ObjectKey,
    new: &LoadBalancerSpec,
    old: Option<&LoadBalancerSpec>,
) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if old.is_none() && has_prefix(key) && !is_system(key) {
        let problem = format!(
            "names that start with {SYSTEM_PREFIX:?} are reserved for namespace {SYSTEM_NAMESPACE}"
        );
        errors.invalid("metadata.name", &key.name, problem);
    }
    let is_changed = old.is_none_or(|old| old.scope != new.scope);
    if is_changed && !new.scope.is_empty() && !is_system(key) {
        let problem = format!(
            "only allowed where the name starts with {SYSTEM_PREFIX:?} and the namespace is {SYSTEM_NAMESPACE}; this is {key}"
        );
        errors.invalid("spec.scope", &new.scope, problem);
    }
    errors
}

pub(super) fn validate_backend_group(
    new: &Spec<BackendGroupSpec>,
    old: Option<&Spec<BackendGroupSpec>>,
) -> FieldErrors {
    let labels = |spec: &Spec<_>| labels_beside_selector(&spec.raw);
    let mut errors = labels(new).introduced_since(old.map(labels));
    // The last name may be removed, a selector may not.
    let selector = |pods: &PodSelection| pods.by_label.is_some();
    let had_selector = old
        .and_then(|old| old.read.pods.as_ref())
        .is_some_and(selector);
    if had_selector && new.read.pods.as_ref().is_some_and(selects_nothing) {
        errors.push("spec.pods", allowed::NEEDS_PODS);
    }
    errors
}

pub(super) fn validate_bind(new: &Spec<BindSpec>, old: Option<&Spec<BindSpec>>) -> FieldErrors {
    bind_errors(new).introduced_since(old.map(bind_errors))
}

fn bind_errors(Spec { raw, read: spec }: &Spec<BindSpec>) -> FieldErrors {
    let mut errors = labels_beside_selector(raw);
    for (i, lb) in spec.load_balancers.iter().enumerate() {
        // It becomes a label's value.
        if lb.name.ends_with('-') {
            let field = format!("spec.loadBalancers[{i}].name");
            errors.invalid(field, &lb.name, allowed::IS_DNS_LABEL);
        }
    }
    let Some(pods) = &spec.pods else {
        return errors;
    };
    if selects_nothing(pods) {
        errors.push("spec.pods", allowed::NEEDS_PODS);
    }
    if pods.ports.is_empty() {
        errors.push("spec.pods.ports", allowed::NEEDS_PORTS);
    }
    for (i, port) in pods.ports.iter().enumerate() {
        let protocol = port.protocol.as_deref().unwrap_or_default();
        if protocol.is_empty() {
            let field = format!("spec.pods.ports[{i}].protocol");
            errors.invalid(field, protocol, allowed::IS_PROTOCOL);
        }
    }
    errors
}

const fn selects_nothing(pods: &PodSelection) -> bool {
    pods.by_label.is_none() && pods.by_name.is_empty()
}

/// Labels in `byLabel` itself, where the original's documents had them.
fn labels_beside_selector(spec: &Value) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let by_label = spec.pointer("/pods/byLabel").and_then(Value::as_object);
    let is_unknown = |(key, _): &(&String, &Value)| !matches!(key.as_str(), "selector" | "except");
    let unknown: Vec<_> = by_label.into_iter().flatten().filter(is_unknown).collect();
    if let Some((label, value)) = unknown.first() {
        let names: Vec<_> = unknown.iter().map(|(key, _)| key).collect();
        let value = value.as_str().unwrap_or("…");
        let problem = format!(
            "allows only selector and except; labels belong into the selector, as in byLabel: {{selector: {{{label}: {value}}}}}"
        );
        errors.invalid("spec.pods.byLabel", names, problem);
    }
    errors
}

/// A label protects load balancers and groups, whatever its value.
pub(super) fn validate_deletion(
    kind: &str,
    key: &ObjectKey,
    labels: &Labels,
) -> Result<(), Denial> {
    if labels.contains_key(LABEL_DO_NOT_DELETE) {
        return Err(Denial::Forbidden(format!(
            "{kind} {key} has the label {LABEL_DO_NOT_DELETE} and cannot be deleted; remove the label first"
        )));
    }
    Ok(())
}

/// A driver is deleted after its users, and accepts no new ones before.
pub(super) fn validate_driver_deletion(
    key: &ObjectKey,
    labels: &Labels,
    users: &[String],
) -> Result<(), Denial> {
    let mut problems = Vec::new();
    if !is_draining(Some(labels)) {
        problems.push(format!(
            "it lacks the label {LABEL_DRIVER_DRAINING}: \"true\", which prevents new objects from using it"
        ));
    }
    if !users.is_empty() {
        let listed = listed(users, LISTED_USERS);
        let count = match users.len() {
            1 => "1 object is".to_owned(),
            n => format!("{n} objects are"),
        };
        problems.push(format!(
            "{count} using it and must be deleted first: {listed}"
        ));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let problems = problems.join("; ");
    Err(Denial::Forbidden(format!(
        "LoadBalancerDriver {key} cannot be deleted: {problems}"
    )))
}

#[cfg(test)]
mod tests;
