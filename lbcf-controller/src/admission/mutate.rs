//! Mutation: rewrites fields of older manifests and sets defaults.
//!
//! The object is changed as JSON, and the patch is the difference, so mutating twice changes nothing.
//! Values of the wrong type stay as they are: mutation runs before the API server validates the schema.

use super::table::{Kind, Operation};
use crate::api::earlier_fields::{
    list_at, list_load_balancer, list_port, numbers_to_strings, rename_port_number,
};
use crate::api::{names, syntax};
use json_patch::Patch;
use lbcf_driver_client::Timeouts;
use lbcf_driver_sdk::webhook::{ALL, Obligation, WebhookInfo};
use lbcf_serving::duration::display;
use serde_json::{Map, Value, json};

/// The patch of an object that is created, or updated from `old`.
pub(super) fn patch(
    kind: Kind,
    operation: Operation,
    object: &Value,
    old: Option<&Value>,
) -> Patch {
    if kind == Kind::Pod {
        return add_readiness_gate(object);
    }
    let mut after = object.clone();
    if operation == Operation::Create && matches!(kind, Kind::LoadBalancer | Kind::Bind) {
        add_finalizer(&mut after);
    }
    if kind == Kind::BackendGroup {
        label(&mut after);
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
            add_webhooks(spec);
            if let Some(class) = spec.get_mut("serviceClass") {
                numbers_to_strings(class.get_mut("lbSpec"));
                numbers_to_strings(class.get_mut("parameters"));
            }
        }
        Kind::LoadBalancer => {
            numbers_to_strings(spec.get_mut("lbSpec"));
            numbers_to_strings(spec.get_mut("attributes"));
        }
        Kind::BackendGroup => {
            normalise_group(spec);
            numbers_to_strings(spec.get_mut("parameters"));
        }
        Kind::Bind => {
            let lbs = spec.get_mut("loadBalancers").and_then(Value::as_array_mut);
            for lb in lbs.into_iter().flatten() {
                numbers_to_strings(lb.get_mut("spec"));
                numbers_to_strings(lb.get_mut("attributes"));
            }
            normalise_service(spec);
            numbers_to_strings(spec.get_mut("parameters"));
        }
        // Pods are Kubernetes' own, and stay as they are.
        Kind::Pod => {}
    }
    default_policy(spec);
}

/// Adds the webhooks that the controller may call without being configured to. `judgePodDeregister`
/// and `listBackends` are not among them: a driver offers the latter by listing it, and the original refuses
/// drivers that list either, and the controllers have to stay exchangeable.
fn add_webhooks(spec: &mut Map<String, Value>) {
    let Some(webhooks) = list_at(spec, "webhooks") else {
        return;
    };
    let default = format!("{}", display(Timeouts::DEFAULT));
    for webhook in webhooks.iter_mut().filter_map(Value::as_object_mut) {
        let timeout = webhook.entry("timeout").or_insert(Value::Null);
        if timeout.is_null() {
            *timeout = json!(default);
        }
    }
    let is_added = |webhook: &&WebhookInfo| match webhook.obligation {
        Obligation::Mandatory | Obligation::Optional => true,
        Obligation::OnRequest | Obligation::Listed => false,
    };
    for known in ALL.iter().filter(is_added) {
        let is_named =
            |webhook: &Value| webhook.get("name").and_then(Value::as_str) == Some(known.name);
        if !webhooks.iter().any(is_named) {
            webhooks.push(json!({ "name": known.name, "timeout": default }));
        }
    }
}

/// Adds the gate to a pod that does not have it. The patch is made without a copy of the pod, most of which is
/// of no interest.
fn add_readiness_gate(pod: &Value) -> Patch {
    let gate = json!({"conditionType": names::READINESS_GATE});
    let operation = match pod.pointer("/spec/readinessGates") {
        None | Some(Value::Null) => {
            json!({"op": "add", "path": "/spec/readinessGates", "value": [gate]})
        }
        Some(Value::Array(gates)) if !has_gate(gates) => {
            json!({"op": "add", "path": "/spec/readinessGates/-", "value": gate})
        }
        // It has the gate, or the API server rejects it.
        Some(_) => return Patch::default(),
    };
    if !pod.get("spec").is_some_and(Value::is_object) {
        return Patch::default();
    }
    serde_json::from_value(json!([operation])).unwrap_or_default()
}

fn has_gate(gates: &[Value]) -> bool {
    let mut names = gates.iter().filter_map(|gate| gate.get("conditionType"));
    names.any(|name| name == names::READINESS_GATE)
}

/// Labels a group with its load balancers, so that it can be selected by them. An invalid
/// name gets no label: validation reports it better than the API server reports the label.
fn label(group: &mut Value) {
    let labels = labels_of(group.get("spec"));
    let Some(metadata) = group.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if labels.is_empty() {
        return;
    }
    let present = metadata.entry("labels").or_insert(Value::Null);
    if present.is_null() {
        *present = json!({});
    }
    if let Some(present) = present.as_object_mut() {
        present.extend(labels);
    }
}

fn labels_of(spec: Option<&Value>) -> Map<String, Value> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let legacy = spec.and_then(|spec| text(spec.get("lbName")?));
    let listed = spec
        .and_then(|spec| spec.get("loadBalancers")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(text);
    // Clients that know only one load balancer of a group use the first of the list.
    let names: Vec<String> = listed
        .chain(legacy)
        .filter(|name| syntax::is_object_name(name))
        .collect();
    let mut labels = Map::new();
    if let Some(first) = names.first() {
        labels.insert(
            names::LABEL_LB_NAME.to_owned(),
            json!(names::label_value(first)),
        );
    }
    for name in &names {
        // A label's key has the same limit as its value.
        let key = format!(
            "{}{}",
            names::LABEL_LB_NAME_PREFIX,
            names::label_value(name)
        );
        labels.insert(key, json!("True"));
    }
    labels
}

fn normalise_group(spec: &mut Map<String, Value>) {
    list_load_balancer(spec);
    if let Some(pods) = spec.get_mut("pods").and_then(Value::as_object_mut) {
        list_port(pods);
        let ports = pods.get_mut("ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten() {
            normalise_port(port);
        }
    }
    normalise_service(spec);
    set_if_blank(spec, "deregisterPolicy", "IfNotReady");
}

/// The port of a selected Service.
fn normalise_service(spec: &mut Map<String, Value>) {
    if let Some(port) = spec
        .get_mut("service")
        .and_then(|service| service.get_mut("port"))
    {
        // A name selects the protocol, too.
        let is_named = port
            .get("name")
            .is_some_and(|name| name.as_str() != Some(""));
        if is_named {
            rename_port_number(port);
        } else {
            normalise_port(port);
        }
    }
}

/// Renames earlier fields of a port; the protocol defaults to TCP.
fn normalise_port(port: &mut Value) {
    rename_port_number(port);
    if let Some(port) = port.as_object_mut() {
        set_if_blank(port, "protocol", "TCP");
    }
}

/// Adds the finalizer, once.
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

/// Sets the default where the policy is empty, as Go clients write it.
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
