//! Validation of services, and fields that depend on their type.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::addresses::{
    HEALTH_PORT, has_node_ports, is_exposed, needs_health_port, node_port, protocol, type_of,
};
use crate::field_error::{ErrorList as _, FieldError};
use crate::names;
use crate::object::{Object, at, list, maps_in, string, text};

const BALANCER_FIELDS: [&str; 2] = ["allocateLoadBalancerNodePorts", "loadBalancerClass"];

fn ports(service: &Object) -> &[Value] {
    list(service, &["spec", "ports"])
}

fn is_headless(service: &Object) -> bool {
    text(service, &["spec", "clusterIP"]) == Some("None")
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
    let of_balancers = BALANCER_FIELDS.iter().chain(&["loadBalancerSourceRanges"]);
    let of_balancers = of_balancers.filter(|_| kind != "LoadBalancer");
    for field in of_balancers.filter(|field| at(service, &["spec", field]).is_some()) {
        let shown = field.replace("loadBalancerSource", "LoadBalancerSource");
        let why = "may only be used when `type` is 'LoadBalancer'";
        errors.forbidden(format!("spec.{shown}"), why);
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

pub(super) fn warnings(service: &Object) -> Vec<String> {
    let has_ips = !list(service, &["spec", "externalIPs"]).is_empty() && !is_headless(service);
    let why = "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
    has_ips.then(|| why.to_owned()).into_iter().collect()
}

/// Errors of what is immutable: the cluster IP, which only external names lack, and the class of a load balancer.
pub(super) fn change_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = ip_change(before, next).into_iter().collect();
    let class = |service| {
        at(service, &["spec", "loadBalancerClass"])
            .cloned()
            .unwrap_or_default()
    };
    let are_balancers = [before, next]
        .iter()
        .all(|one| type_of(one) == "LoadBalancer");
    if are_balancers && class(before) != class(next) {
        errors.invalid(
            "spec.loadBalancerClass",
            class(next),
            "may not change once set",
        );
    }
    errors
}

fn ip_change(before: &Object, next: &Object) -> Option<FieldError> {
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
    if is_exposed(before) && !is_exposed(next) && same("externalTrafficPolicy") {
        dropped.push("externalTrafficPolicy");
    }
    let balances = |service| type_of(service) == "LoadBalancer";
    if balances(before) && !balances(next) {
        dropped.extend(BALANCER_FIELDS.into_iter().filter(|field| same(field)));
    }
    if needs_health_port(before) && !needs_health_port(next) && same(HEALTH_PORT) {
        dropped.push(HEALTH_PORT);
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
        for port in maps_in(spec.get_mut("ports")) {
            port.remove("nodePort");
        }
    }
}
