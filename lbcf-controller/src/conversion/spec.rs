//! The spec of each kind.

use super::editor::{Editor, string_map};
use super::kind::LbcfKind;
use super::pod_selector::PodSelector;
use super::pods;
use super::shared_name::SharedNames;
use crate::api::earlier_fields::list_load_balancer;
use serde_json::{Map, Value, json};

const SPEC: &str = "spec";

pub(super) fn convert(
    kind: LbcfKind,
    object: &mut Value,
    shared_names: &SharedNames,
    pod_selector: Option<&PodSelector>,
    editor: &mut Editor,
) {
    let namespace = object
        .pointer("/metadata/namespace")
        .and_then(Value::as_str);
    let namespace = namespace.map(str::to_owned);
    let Some(spec) = object.get_mut(SPEC).and_then(Value::as_object_mut) else {
        let spec = object.get(SPEC).cloned().unwrap_or_default();
        editor.invalid(SPEC, &spec, "must be an object");
        return;
    };
    match kind {
        LbcfKind::Driver => {}
        LbcfKind::LoadBalancer => {
            string_map(spec, SPEC, "lbSpec", editor);
            string_map(spec, SPEC, "attributes", editor);
        }
        LbcfKind::BackendGroup => {
            load_balancer_names(spec, namespace.as_deref(), shared_names, editor);
            selection(spec, pod_selector, editor);
            string_map(spec, SPEC, "parameters", editor);
        }
        LbcfKind::Bind => {
            let lbs = editor.list_at(spec, SPEC, "loadBalancers");
            for (i, lb) in lbs.iter_mut().enumerate() {
                if let Some(lb) = lb.as_object_mut() {
                    let at = format!("spec.loadBalancers[{i}]");
                    string_map(lb, &at, "spec", editor);
                    string_map(lb, &at, "attributes", editor);
                }
            }
            selection(spec, pod_selector, editor);
            string_map(spec, SPEC, "parameters", editor);
        }
        LbcfKind::BackendRecord => record(spec, editor),
    }
}

/// The pods or the Service that an owner selects.
fn selection(
    spec: &mut Map<String, Value>,
    pod_selector: Option<&PodSelector>,
    editor: &mut Editor,
) {
    if let Some(service) = editor.object_at(spec, SPEC, "service")
        && let Some(port) = service.get_mut("port")
    {
        pods::convert_port(port, "spec.service.port", editor);
    }
    if let Some(selection) = editor.object_at(spec, SPEC, "pods") {
        pods::convert(selection, "spec.pods", pod_selector, editor);
    }
}

/// The list of a group's load balancers, with the new names of shared ones.
fn load_balancer_names(
    spec: &mut Map<String, Value>,
    namespace: Option<&str>,
    shared_names: &SharedNames,
    editor: &mut Editor,
) {
    editor.rewritten(SPEC, list_load_balancer(spec));
    let names = editor.list_at(spec, SPEC, "loadBalancers");
    for (i, name) in names.iter_mut().enumerate() {
        let new = name
            .as_str()
            .and_then(|name| shared_names.renamed(namespace, name));
        if let Some(new) = new {
            editor.replace(&format!("spec.loadBalancers[{i}]"), name, json!(new));
        }
    }
    if let Some(left) = spec
        .get("lbName")
        .filter(|left| !left.is_null() && !left.is_string())
    {
        let left = left.clone();
        editor.invalid("spec.lbName", &left, "must be the name of a LoadBalancer");
    }
}

/// The controller writes records; exports of a cluster have them. `attributes` is the documents' name of
/// `lbAttributes`.
fn record(spec: &mut Map<String, Value>, editor: &mut Editor) {
    let has = |name: &str| spec.get(name).is_some_and(|value| !value.is_null());
    match (has("attributes"), has("lbAttributes")) {
        (true, false) => {
            let attributes = spec.remove("attributes").unwrap_or_default();
            spec.insert("lbAttributes".to_owned(), attributes.clone());
            let new = ("spec.lbAttributes".to_owned(), attributes.clone());
            editor.record("spec.attributes".to_owned(), Some(attributes), Some(new));
        }
        (true, true) => {
            let attributes = spec.remove("attributes");
            editor.record("spec.attributes".to_owned(), attributes, None);
        }
        (false, _) => {}
    }
    for map in ["lbInfo", "lbAttributes", "parameters"] {
        string_map(spec, SPEC, map, editor);
    }
    for backend in ["podBackend", "serviceBackend"] {
        if let Some(fields) = editor.object_at(spec, SPEC, backend)
            && let Some(port) = fields.get_mut("port")
        {
            pods::convert_port(port, &format!("spec.{backend}.port"), editor);
        }
    }
}
