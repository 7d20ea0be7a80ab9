//! Services and what routes traffic to pods.

use serde_json::Value;

use super::{list, load_balancer_addresses, or_none, slashed};
use crate::object::{Object, text};

/// How many entries a cell names before it only counts the rest.
const MAX_NAMED: usize = 3;

pub(super) fn service(column: &str, object: &Object) -> String {
    if column == "Port(s)" {
        return or_none(list(object, &["spec", "ports"]).iter().map(service_port));
    }
    match text(object, &["spec", "type"]) {
        Some("LoadBalancer") => match load_balancer_addresses(object).as_slice() {
            [] => "<pending>".to_owned(),
            addresses => addresses.join(","),
        },
        Some("ExternalName") => text(object, &["spec", "externalName"])
            .unwrap_or_default()
            .to_owned(),
        _ => "<none>".to_owned(),
    }
}

fn service_port(port: &Value) -> String {
    let number = |key: &str| port[key].as_u64().unwrap_or(0);
    let protocol = port["protocol"].as_str().unwrap_or("TCP");
    match number("nodePort") {
        0 => format!("{}/{protocol}", number("port")),
        node_port => format!("{}:{node_port}/{protocol}", number("port")),
    }
}

pub(super) fn endpoint_slice(column: &str, object: &Object) -> String {
    if column == "Endpoints" {
        let endpoints = list(object, &["endpoints"]).iter();
        let addresses = endpoints.filter_map(|endpoint| endpoint["addresses"].as_array());
        let addresses = addresses.flatten().filter_map(Value::as_str);
        return first_few(addresses.map(str::to_owned).collect());
    }
    let ports = list(object, &["ports"]);
    if ports.is_empty() {
        return "<unset>".to_owned();
    }
    let number = |port: &Value| port["port"].as_u64();
    let shown = |port: &Value| number(port).map_or_else(|| "*".to_owned(), |n| n.to_string());
    first_few(ports.iter().map(shown).collect())
}

pub(super) fn endpoints(object: &Object) -> String {
    let entries = |subset: &Value, key: &str| subset[key].as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for subset in list(object, &["subsets"]) {
        for port in entries(subset, "ports") {
            for address in entries(subset, "addresses") {
                let ip = address["ip"].as_str().unwrap_or_default();
                found.push(format!("{ip}:{}", port["port"].as_u64().unwrap_or(0)));
            }
        }
    }
    first_few(found)
}

pub(super) fn ingress(column: &str, object: &Object) -> String {
    match column {
        "Hosts" => {
            let rules = list(object, &["spec", "rules"]).iter();
            let hosts: Vec<String> = rules
                .filter_map(|rule| Some(rule["host"].as_str()?.to_owned()))
                .collect();
            if hosts.is_empty() {
                "*".to_owned()
            } else {
                first_few(hosts)
            }
        }
        "Address" => load_balancer_addresses(object).join(","),
        _ if list(object, &["spec", "tls"]).is_empty() => "80".to_owned(),
        _ => "80, 443".to_owned(),
    }
}

pub(super) fn ingress_class(object: &Object) -> String {
    slashed(object, &["spec", "parameters"], ["kind", "name"])
        .unwrap_or_else(|| "<none>".to_owned())
}

fn first_few(all: Vec<String>) -> String {
    match all.len() {
        0 => "<none>".to_owned(),
        few if few <= MAX_NAMED => all.join(","),
        many => format!(
            "{} + {} more...",
            all[..MAX_NAMED].join(","),
            many - MAX_NAMED
        ),
    }
}
