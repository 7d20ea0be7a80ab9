//! BackendGroup: fields of older manifests are rewritten to the current ones (b87 to b92).

use super::set_if_blank;
use crate::api::earlier_fields::{list_load_balancer, list_port, rename_port_number};
use crate::api::{names, syntax};
use serde_json::{Map, Value, json};

/// Labels a group with its load balancers, so that it can be selected by them (b88). An invalid
/// name gets no label: validation reports it better than the API server reports the label.
pub(super) fn label(group: &mut Value) {
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
        // A label's key has the same limit as its value (u22).
        let key = format!(
            "{}{}",
            names::LABEL_LB_NAME_PREFIX,
            names::label_value(name)
        );
        labels.insert(key, json!("True"));
    }
    labels
}

pub(super) fn normalise(spec: &mut Map<String, Value>) {
    list_load_balancer(spec);
    if let Some(pods) = spec.get_mut("pods").and_then(Value::as_object_mut) {
        list_port(pods);
        let ports = pods.get_mut("ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten() {
            normalise_port(port);
        }
    }
    service(spec);
    set_if_blank(spec, "deregisterPolicy", "IfNotReady");
}

/// The port of a selected Service.
pub(super) fn service(spec: &mut Map<String, Value>) {
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

/// Renames earlier fields of a port; the protocol defaults to TCP (b90, b91).
fn normalise_port(port: &mut Value) {
    rename_port_number(port);
    if let Some(port) = port.as_object_mut() {
        set_if_blank(port, "protocol", "TCP");
    }
}
