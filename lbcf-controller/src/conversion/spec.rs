//! The spec of each kind, with its selection of pods and ports.

use super::editor::{Editor, string_map};
use super::kind::LbcfKind;
use super::pod_selector::PodSelector;
use super::shared_name::SharedNames;
use crate::api::allowed;
use crate::api::earlier_fields::{list_load_balancer, list_port, rename_port_number};
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
        convert_port(port, "spec.service.port", editor);
    }
    if let Some(selection) = editor.object_at(spec, SPEC, "pods") {
        convert_pods(selection, "spec.pods", pod_selector, editor);
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
    if has("attributes") {
        let is_moved = !has("lbAttributes");
        let attributes = spec.remove("attributes").unwrap_or_default();
        let new = is_moved.then(|| ("spec.lbAttributes".to_owned(), attributes.clone()));
        if is_moved {
            spec.insert("lbAttributes".to_owned(), attributes.clone());
        }
        editor.record("spec.attributes".to_owned(), Some(attributes), new);
    }
    for map in ["lbInfo", "lbAttributes", "parameters"] {
        string_map(spec, SPEC, map, editor);
    }
    for backend in ["podBackend", "serviceBackend"] {
        if let Some(fields) = editor.object_at(spec, SPEC, backend)
            && let Some(port) = fields.get_mut("port")
        {
            convert_port(port, &format!("spec.{backend}.port"), editor);
        }
    }
}

fn convert_pods(
    pods: &mut Map<String, Value>,
    at: &str,
    selector: Option<&PodSelector>,
    editor: &mut Editor,
) {
    // A list of another type is reported; it keeps the single port where it is.
    editor.list_at(pods, at, "ports");
    if editor.object_at(pods, at, "port").is_some() {
        check_port_number(&pods["port"], &format!("{at}.port"), editor);
    }
    editor.rewritten(at, list_port(pods));
    for (i, port) in editor.list_at(pods, at, "ports").iter_mut().enumerate() {
        convert_port(port, &format!("{at}.ports[{i}]"), editor);
    }
    if let Some(by_label) = editor.object_at(pods, at, "byLabel") {
        let at = format!("{at}.byLabel");
        move_labels(by_label, &at, editor);
        string_map(by_label, &at, "selector", editor);
        editor.list_at(by_label, &at, "except");
    }
    select(pods, at, selector, editor);
}

/// `portNumber` becomes `port`.
fn convert_port(port: &mut Value, at: &str, editor: &mut Editor) {
    check_port_number(port, at, editor);
    editor.rewritten(at, rename_port_number(port));
}

fn check_port_number(port: &Value, at: &str, editor: &mut Editor) {
    let number = port.get("portNumber").filter(|number| !number.is_null());
    let is_valid = |number: &Value| matches!(number.as_i64(), Some(1..=65535));
    if let Some(number) = number.filter(|number| !is_valid(number)) {
        let field = format!("{at}.portNumber");
        editor.invalid(&field, number, allowed::IS_PORT);
    }
}

/// Moves the labels beside `except` into the selector.
fn move_labels(by_label: &mut Map<String, Value>, at: &str, editor: &mut Editor) {
    let is_label = |key: &&String| !["selector", "except"].contains(&key.as_str());
    let labels: Vec<String> = by_label.keys().filter(is_label).cloned().collect();
    if labels.is_empty() {
        return;
    }
    let selector = by_label.entry("selector").or_insert(Value::Null);
    if selector.is_null() {
        *selector = json!({});
    }
    let Some(mut selector) = selector.as_object().cloned() else {
        return; // It is reported as a map of strings that is none.
    };
    for label in labels {
        let field = format!("{at}.{label}");
        let Some(old) = by_label.get(&label) else {
            continue;
        };
        let value = match old {
            Value::String(text) => text.clone(),
            Value::Number(number) if !number.is_f64() => number.to_string(),
            _ => {
                let allowed = "must be a string, the value of a label; \
                    byLabel has labels, and except with a list of pods' names";
                editor.invalid(&field, old, allowed);
                continue;
            }
        };
        let value = json!(value);
        if let Some(other) = selector.get(&label).filter(|other| **other != value) {
            let allowed = format!("must be {other} as in {at}.selector, or be removed");
            editor.invalid(&field, old, &allowed);
            continue;
        }
        selector.insert(label.clone(), value.clone());
        let old = by_label.remove(&label);
        editor.record(field, old, Some((format!("{at}.selector.{label}"), value)));
    }
    by_label.insert("selector".to_owned(), Value::Object(selector));
}

/// A selection that names no pod, neither by label nor by name, gets the labels of the command line.
/// An empty list of names is a selection: its pods were removed from it.
fn select(
    pods: &mut Map<String, Value>,
    at: &str,
    labels: Option<&PodSelector>,
    editor: &mut Editor,
) {
    let is_given = |name: &str| pods.get(name).is_some_and(|value| !value.is_null());
    let selector = pods.get("byLabel").map(|by_label| by_label.get("selector"));
    let selects_by_label = match selector.flatten() {
        None | Some(Value::Null) => false,
        Some(Value::Object(labels)) => !labels.is_empty(),
        Some(_) => true,
    };
    // A byLabel of another type has been reported.
    let is_reported = is_given("byLabel") && !pods["byLabel"].is_object();
    if selects_by_label || is_given("byName") || is_reported {
        return;
    }
    let Some(labels) = labels else {
        editor.problem(format!(
            "{at}: selects no pods; add byLabel: {{selector: {{app: my-web-server}}}} or \
             byName: [my-pod-1], or convert with --pod-selector app=my-web-server"
        ));
        return;
    };
    let by_label = pods.entry("byLabel").or_insert(Value::Null);
    if by_label.is_null() {
        *by_label = json!({});
    }
    let selector = Value::Object(labels.to_json());
    by_label["selector"] = selector.clone();
    let field = format!("{at}.byLabel.selector");
    editor.record(field.clone(), None, Some((field, selector)));
}
