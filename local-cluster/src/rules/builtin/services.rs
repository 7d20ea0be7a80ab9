//! Validation of services, and fields that depend on their type.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Object, at, string, text};

/// The default range of `--service-node-port-range`.
const NODE_PORTS: std::ops::RangeInclusive<u64> = 30_000..=32_767;

fn ports(service: &Object) -> &[Value] {
    let ports = at(service, &["spec", "ports"]).and_then(Value::as_array);
    ports.map_or(&[], Vec::as_slice)
}

fn type_of(service: &Object) -> &str {
    text(service, &["spec", "type"]).unwrap_or("ClusterIP")
}

fn has_node_ports(service: &Object) -> bool {
    matches!(type_of(service), "NodePort" | "LoadBalancer")
}

fn is_headless(service: &Object) -> bool {
    text(service, &["spec", "clusterIP"]) == Some("None")
}

fn node_port(port: &Value) -> Option<u64> {
    port.get("nodePort")
        .and_then(Value::as_u64)
        .filter(|n| *n != 0)
}

fn protocol(port: &Value) -> &str {
    match string(port, "protocol") {
        "" => "TCP",
        protocol => protocol,
    }
}

pub(super) fn object_errors(service: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (ports, kind) = (ports(service), type_of(service));
    if ports.is_empty() && !is_headless(service) && kind != "ExternalName" {
        errors.required("spec.ports", "");
    }
    if is_headless(service) && has_node_ports(service) {
        let why = format!("may not be set to 'None' for {kind} services");
        errors.invalid("spec.clusterIPs[0]", "None", &why);
    }
    let name = text(service, &["spec", "externalName"]).unwrap_or_default();
    if kind == "ExternalName" && !names::is_subdomain(name.trim_end_matches('.')) {
        errors.invalid("spec.externalName", name, names::SUBDOMAIN);
    }
    let mut seen = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let here = format!("spec.ports[{index}]");
        if ports.len() > 1 && string(port, "name").is_empty() {
            errors.required(format!("{here}.name"), "");
        }
        if kind == "ClusterIP" && node_port(port).is_some() {
            let why = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(format!("{here}.nodePort"), why);
        }
        if !seen.insert((protocol(port), port.get("port").and_then(Value::as_u64))) {
            errors.duplicate(here, port.clone());
        }
    }
    errors
}

/// The cluster IP is immutable; only external names have none.
pub(super) fn change_error(before: &Object, next: &Object) -> Option<FieldError> {
    let ip = |service| text(service, &["spec", "clusterIP"]).unwrap_or_default();
    let (old, new) = (ip(before), ip(next));
    let is_external = [before, next].map(type_of).contains(&"ExternalName");
    let changes = !is_external && !old.is_empty() && old != new;
    let why = "may not change once set";
    changes.then(|| FieldError::invalid("spec.clusterIPs[0]", &json!([new]), why))
}

/// Drops fields that the new type does not have, unless the update changes them.
pub(super) fn drop_dependent_fields(before: &Object, next: &mut Object) {
    let node_ports = |service| ports(service).iter().map(node_port);
    let loses_ports = has_node_ports(before) && !has_node_ports(next);
    let keeps_ports = node_ports(before).eq(node_ports(next));
    let (external, headless) = (type_of(next) == "ExternalName", is_headless(before));
    let same = |field: &str| at(before, &["spec", field]) == at(next, &["spec", field]);
    let mut dropped: Vec<&str> = Vec::new();
    if loses_ports && same("externalTrafficPolicy") {
        dropped.push("externalTrafficPolicy");
    }
    if external && type_of(before) != "ExternalName" && !headless && same("clusterIP") {
        dropped.extend(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
    }
    let one_ip = at(next, &["spec", "clusterIP"]).cloned();
    let Some(spec) = next.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    for field in dropped {
        spec.remove(field);
    }
    // `clusterIPs` follows `clusterIP`.
    if let Some(ip) = one_ip.filter(|_| spec.contains_key("clusterIP"))
        && spec
            .get("clusterIPs")
            .is_some_and(|ips| ips.get(0) != Some(&ip))
    {
        spec.insert("clusterIPs".to_owned(), json!([ip]));
    }
    if loses_ports && keeps_ports {
        let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
            port.remove("nodePort");
        }
    }
}

/// Errors of requested addresses and node ports that are allocated to another service or out of
/// range.
pub(crate) fn taken_addresses<'a>(
    service: &Object,
    before: Option<&Object>,
    others: impl Iterator<Item = &'a Object>,
) -> Vec<FieldError> {
    let ip =
        |service| text(service, &["spec", "clusterIP"]).filter(|ip| !matches!(*ip, "" | "None"));
    let requested_ip = ip(service).filter(|own| before.and_then(ip) != Some(own));
    let own_ports: HashSet<u64> = before
        .map(ports)
        .unwrap_or_default()
        .iter()
        .filter_map(node_port)
        .collect();
    let requested_ports: Vec<(usize, &str, u64)> = ports(service)
        .iter()
        .enumerate()
        .filter_map(|(index, port)| Some((index, protocol(port), node_port(port)?)))
        .filter(|(_, _, number)| has_node_ports(service) && !own_ports.contains(number))
        .collect();
    let mut errors = Vec::new();
    let port_error = |index: usize, number: u64, why: &str| {
        let field = format!("spec.ports[{index}].nodePort");
        FieldError::invalid(field, &Value::from(number), why)
    };
    for (index, _, number) in &requested_ports {
        if !NODE_PORTS.contains(number) {
            let why =
                "provided port is not in the valid range. The range of valid ports is 30000-32767";
            errors.push(port_error(*index, *number, why));
        }
    }
    if requested_ip.is_none() && requested_ports.is_empty() {
        return errors;
    }
    for other in others {
        if let Some(own) = requested_ip.filter(|own| ip(other) == Some(own)) {
            let why = format!("failed to allocate IP {own}: provided IP is already allocated");
            errors.invalid("spec.clusterIPs", json!([own]), &why);
        }
        for port in ports(other) {
            let theirs = (protocol(port), node_port(port));
            for (index, protocol, number) in &requested_ports {
                if theirs == (*protocol, Some(*number)) {
                    errors.push(port_error(
                        *index,
                        *number,
                        "provided port is already allocated",
                    ));
                }
            }
        }
    }
    errors
}
