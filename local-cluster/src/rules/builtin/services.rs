//! What services must say, and what of them stays.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::containers::name_errors;
use super::{choice_error, items, port_errors, word};
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Object, at, text};

const TYPES: &[&str] = &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
/// Which ports of nodes services can have.
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

/// What is wrong with a service.
pub(super) fn object_errors(service: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = at(service, &["spec"]);
    let ports = items(spec, "ports");
    let kind = type_of(service);
    if ports.is_empty() && !is_headless(service) && kind != "ExternalName" {
        errors.push(FieldError::required("spec.ports", ""));
    }
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(service) => errors.push(FieldError::invalid(
            "spec.clusterIPs[0]",
            &json!("None"),
            &format!("may not be set to 'None' for {kind} services"),
        )),
        "ExternalName" => {
            let name = text(service, &["spec", "externalName"]).unwrap_or_default();
            match name.strip_suffix('.').unwrap_or(name) {
                "" => errors.push(FieldError::required("spec.externalName", "")),
                name if !names::is_subdomain(name) => errors.push(FieldError::invalid(
                    "spec.externalName",
                    &Value::from(name),
                    names::SUBDOMAIN,
                )),
                _ => {}
            }
        }
        _ => {}
    }
    errors.extend(ports_errors(ports, kind));
    let Some(spec) = spec else { return errors };
    let affinity = word(spec, "sessionAffinity");
    errors.extend(choice_error(
        "spec.sessionAffinity".to_owned(),
        affinity,
        &["ClientIP", "None"],
    ));
    errors.extend(choice_error("spec.type".to_owned(), kind, TYPES));
    for field in ["internalTrafficPolicy", "externalTrafficPolicy"] {
        let choices = &["Cluster", "Local"];
        errors.extend(choice_error(
            format!("spec.{field}"),
            word(spec, field),
            choices,
        ));
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
        errors.extend(choice_error(
            format!("{here}.protocol"),
            protocol(port),
            PROTOCOLS,
        ));
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
            errors.push(FieldError::forbidden(field.clone(), why));
        }
        if !node_ports.insert((protocol(port), number)) {
            errors.push(FieldError::duplicate(field, &Value::from(number)));
        }
    }
    for (index, port) in ports.iter().enumerate() {
        let number = port.get("port").and_then(Value::as_u64);
        if !seen.insert((protocol(port), number)) {
            // As Kubernetes' own type is written.
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

/// What is wrong with a change of a service.
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

/// Takes away what a service of its type does not have, unless the client changed it just now.
pub(super) fn settle(before: &Object, next: &mut Object) {
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
    let mut gone: Vec<&str> = Vec::new();
    if loses_ports && same("externalTrafficPolicy") {
        gone.push("externalTrafficPolicy");
    }
    if external && type_of(before) != "ExternalName" && !headless && same("clusterIP") {
        gone.extend(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
    }
    let one_ip = at(next, &["spec", "clusterIP"]).cloned();
    let Some(spec) = next.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    for field in gone {
        spec.remove(field);
    }
    // The list follows the single address.
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

/// What a service asks for that cannot be had: it is another's, or nobody's to have.
pub(crate) fn taken_addresses<'a>(
    service: &Object,
    before: Option<&Object>,
    others: impl Iterator<Item = &'a Object>,
) -> Vec<FieldError> {
    let ip =
        |service| text(service, &["spec", "clusterIP"]).filter(|ip| !matches!(*ip, "" | "None"));
    let ports = |service| items(at(service, &["spec"]), "ports");
    let asks_ip = ip(service).filter(|own| before.and_then(ip) != Some(own));
    let had: HashSet<u64> = before
        .map(ports)
        .unwrap_or_default()
        .iter()
        .filter_map(node_port)
        .collect();
    let asks: Vec<(usize, &str, u64)> = ports(service)
        .iter()
        .enumerate()
        .filter_map(|(index, port)| Some((index, protocol(port), node_port(port)?)))
        .filter(|(_, _, number)| has_node_ports(service) && !had.contains(number))
        .collect();
    let mut errors = Vec::new();
    let port_error = |index: usize, number: u64, why: &str| {
        let field = format!("spec.ports[{index}].nodePort");
        FieldError::invalid(field, &Value::from(number), why)
    };
    for (index, _, number) in &asks {
        if !NODE_PORTS.contains(number) {
            let why =
                "provided port is not in the valid range. The range of valid ports is 30000-32767";
            errors.push(port_error(*index, *number, why));
        }
    }
    if asks_ip.is_none() && asks.is_empty() {
        return errors;
    }
    for other in others {
        if let Some(own) = asks_ip.filter(|own| ip(other) == Some(own)) {
            let why = format!("failed to allocate IP {own}: provided IP is already allocated");
            errors.push(FieldError::invalid("spec.clusterIPs", &json!([own]), &why));
        }
        for port in ports(other) {
            let theirs = (protocol(port), node_port(port));
            for (index, protocol, number) in &asks {
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
    fn a_service_says_what_it_serves() {
        let errors = |spec: Value| lines(&object_errors(&service(spec)));
        assert!(errors(json!({})).is_empty());
        assert!(errors(json!({"ports": null, "clusterIP": "None"})).is_empty());
        for (spec, wanted) in [
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
            assert_eq!(errors(spec), [wanted]);
        }
    }

    #[test]
    fn an_address_stays() {
        let before = service(json!({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}));
        let other = service(json!({"clusterIP": "10.96.0.8", "clusterIPs": ["10.96.0.9"]}));
        assert_eq!(
            lines(&change_errors(&before, &other)),
            ["spec.clusterIPs[0]: Invalid value: [\"10.96.0.8\"]: may not change once set"]
        );
        assert!(change_errors(&before, &before).is_empty());
    }

    #[test]
    fn what_a_type_does_not_have_goes_with_it() {
        let before = service(
            json!({"type": "NodePort", "externalTrafficPolicy": "Cluster",
            "clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "ports": [{"port": 80, "nodePort": 30000}]}),
        );
        let mut next = before.clone();
        next["spec"]["type"] = json!("ClusterIP");
        settle(&before, &mut next);
        assert_eq!(next["spec"]["ports"], json!([{"port": 80}]));
        assert_eq!(next["spec"].get("externalTrafficPolicy"), None);
        next["spec"]["type"] = json!("ExternalName");
        settle(&before, &mut next);
        assert_eq!(next["spec"].get("clusterIP"), None);
    }

    #[test]
    fn what_others_have_cannot_be_had() {
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
        let had = service(node_port(80));
        assert!(errors(node_port(80), Some(&had)).is_empty());
    }
}
