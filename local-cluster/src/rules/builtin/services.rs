//! Validation of services, and fields that depend on their type.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::containers::name_errors;
use super::{PROTOCOLS, enum_error, items, port_errors, word};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Object, at, text};

const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/// The default range of `--service-node-port-range`.
const NODE_PORTS: std::ops::RangeInclusive<u64> = 30_000..=32_767;

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
    match word(port, "protocol") {
        "" => "TCP",
        protocol => protocol,
    }
}

pub(super) fn object_errors(service: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = at(service, &["spec"]);
    let ports = items(spec, "ports");
    let kind = type_of(service);
    if ports.is_empty() && !is_headless(service) && kind != "ExternalName" {
        errors.required("spec.ports", "");
    }
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(service) => errors.invalid(
            "spec.clusterIPs[0]",
            json!("None"),
            &format!("may not be set to 'None' for {kind} services"),
        ),
        "ExternalName" => {
            let name = text(service, &["spec", "externalName"]).unwrap_or_default();
            match name.strip_suffix('.').unwrap_or(name) {
                "" => errors.required("spec.externalName", ""),
                name if !names::is_subdomain(name) => {
                    errors.invalid("spec.externalName", name, names::SUBDOMAIN);
                }
                _ => {}
            }
        }
        _ => {}
    }
    errors.extend(ports_errors(ports, kind));
    let Some(spec) = spec else { return errors };
    for (field, supported) in [
        ("sessionAffinity", &["ClientIP", "None"][..]),
        ("type", TYPES),
        ("internalTrafficPolicy", &["Cluster", "Local"]),
        ("externalTrafficPolicy", &["Cluster", "Local"]),
    ] {
        errors.extend(enum_error(spec, "spec", field, supported));
    }
    errors
}

fn ports_errors(ports: &[Value], kind: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let here = format!("spec.ports[{index}]");
        let name = word(port, "name");
        if ports.len() > 1 || !name.is_empty() {
            errors.extend(name_errors(
                format!("{here}.name"),
                name,
                !names.insert(name),
            ));
        }
        let number = port.get("port").cloned().unwrap_or_else(|| json!(0));
        errors.extend(port_errors(format!("{here}.port"), &number));
        errors.extend(enum_error(port, &here, "protocol", PROTOCOLS));
        if let Some(target) = port.get("targetPort").filter(|target| target.is_number()) {
            errors.extend(port_errors(format!("{here}.targetPort"), target));
        }
    }
    let (mut node_ports, mut seen) = (HashSet::new(), HashSet::new());
    for (index, port) in ports.iter().enumerate() {
        let Some(number) = node_port(port) else {
            continue;
        };
        let field = format!("spec.ports[{index}].nodePort");
        if kind == "ClusterIP" {
            let why = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(field.clone(), why);
        }
        if !node_ports.insert((protocol(port), number)) {
            errors.duplicate(field, number);
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let number = port.get("port").and_then(Value::as_u64);
        if !seen.insert((protocol(port), number)) {
            // As Go encodes the internal type.
            let shown = format!(
                r#"{{"Name":"","Protocol":"{}","AppProtocol":null,"Port":{},"TargetPort":0,"NodePort":0}}"#,
                protocol(port),
                number.unwrap_or_default(),
            );
            errors.push(FieldError::shown_duplicate(
                format!("spec.ports[{index}]"),
                &shown,
            ));
        }
    }
    errors
}

pub(super) fn change_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    if type_of(before) == "ExternalName" || type_of(next) == "ExternalName" {
        return Vec::new();
    }
    let ip = |service| text(service, &["spec", "clusterIP"]).unwrap_or_default();
    let (old, new) = (ip(before), ip(next));
    if old.is_empty() || old == new {
        return Vec::new();
    }
    vec![FieldError::invalid(
        "spec.clusterIPs[0]",
        &json!([new]),
        "may not change once set",
    )]
}

/// Drops fields that the new type does not have, unless the update changes them.
pub(super) fn drop_dependent_fields(before: &Object, next: &mut Object) {
    let ports = |service: &Object| -> Vec<Option<u64>> {
        items(at(service, &["spec"]), "ports")
            .iter()
            .map(node_port)
            .collect()
    };
    let loses_ports = has_node_ports(before) && !has_node_ports(next);
    let (old, new) = (ports(before), ports(next));
    let keeps_ports = old == new;
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
    let ports = |service| items(at(service, &["spec"]), "ports");
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

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use crate::object::object;

    fn service(spec: Value) -> Object {
        let mut whole =
            json!({"spec": {"type": "ClusterIP", "ports": [{"port": 80, "protocol": "TCP"}]}});
        json_patch::merge(&mut whole, &json!({"spec": spec}));
        object(whole)
    }

    #[test]
    fn services_are_validated() {
        let errors = |spec: Value| lines(&object_errors(&service(spec)));
        assert!(errors(json!({})).is_empty());
        assert!(errors(json!({"ports": null, "clusterIP": "None"})).is_empty());
        for (spec, expected) in [
            (json!({"ports": null}), "spec.ports: Required value"),
            (
                json!({"ports": [{"port": 1}, {"port": 2, "name": "b"}]}),
                "spec.ports[0].name: Required value",
            ),
            (
                json!({"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]}),
                "spec.ports[1].name: Duplicate value: \"a\"",
            ),
            (
                json!({"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]}),
                "spec.ports[1]: Duplicate value: {\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":1,\"TargetPort\":0,\"NodePort\":0}",
            ),
            (
                json!({"ports": [{"port": 0}]}),
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ),
            (
                json!({"ports": [{"port": 1, "protocol": "tcp"}]}),
                "spec.ports[0].protocol: Unsupported value: \"tcp\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
            ),
            (
                json!({"ports": [{"port": 1, "nodePort": 30000}]}),
                "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
            ),
            (
                json!({"type": "Balancer"}),
                "spec.type: Unsupported value: \"Balancer\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\"",
            ),
            (
                json!({"type": "ExternalName"}),
                "spec.externalName: Required value",
            ),
            (
                json!({"type": "NodePort", "clusterIP": "None"}),
                "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
            ),
        ] {
            assert_eq!(errors(spec), [expected]);
        }
    }

    #[test]
    fn the_cluster_ip_is_immutable() {
        let before = service(json!({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}));
        let other = service(json!({"clusterIP": "10.96.0.8", "clusterIPs": ["10.96.0.9"]}));
        assert_eq!(
            lines(&change_errors(&before, &other)),
            ["spec.clusterIPs[0]: Invalid value: [\"10.96.0.8\"]: may not change once set"]
        );
        assert!(change_errors(&before, &before).is_empty());
    }

    #[test]
    fn fields_that_a_type_does_not_have_are_dropped() {
        let before = service(
            json!({"type": "NodePort", "externalTrafficPolicy": "Cluster",
            "clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "ports": [{"port": 80, "nodePort": 30000}]}),
        );
        let mut next = before.clone();
        next["spec"]["type"] = json!("ClusterIP");
        drop_dependent_fields(&before, &mut next);
        assert_eq!(next["spec"]["ports"], json!([{"port": 80}]));
        assert_eq!(next["spec"].get("externalTrafficPolicy"), None);
        next["spec"]["type"] = json!("ExternalName");
        drop_dependent_fields(&before, &mut next);
        assert_eq!(next["spec"].get("clusterIP"), None);
    }

    #[test]
    fn allocated_addresses_and_ports_are_refused() {
        let other = service(json!({"type": "NodePort", "clusterIP": "10.96.0.9",
            "ports": [{"port": 80, "nodePort": 30000, "protocol": "TCP"}]}));
        let errors = |spec: Value, before: Option<&Object>| {
            lines(&taken_addresses(
                &service(spec),
                before,
                std::iter::once(&other),
            ))
        };
        let node_port =
            |port: u64| json!({"type": "NodePort", "ports": [{"port": 1, "nodePort": port}]});
        assert_eq!(
            errors(node_port(30_000), None),
            ["spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated"]
        );
        assert_eq!(
            errors(node_port(80), None),
            [
                "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767"
            ]
        );
        assert_eq!(
            errors(json!({"clusterIP": "10.96.0.9"}), None),
            [
                "spec.clusterIPs: Invalid value: [\"10.96.0.9\"]: failed to allocate IP 10.96.0.9: provided IP is already allocated"
            ]
        );
        assert!(errors(node_port(30_001), None).is_empty());
        let own_ports = service(node_port(80));
        assert!(errors(node_port(80), Some(&own_ports)).is_empty());
    }
}
