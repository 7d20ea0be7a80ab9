//! Cells that are computed from several fields: of pods, nodes, events, services, slices and workloads.

use serde_json::Value;

use crate::clock;
use crate::object::{
    Object, at, condition, entries, is_deleting, items, items_in, list, meta, number, text,
};

/// The largest number of entries that a cell names; of more it counts the rest.
const MAX_NAMED: usize = 3;

pub(super) fn cell(plural: &str, column: &str, object: &Object) -> Value {
    Value::from(match plural {
        "pods" => pod(column, object),
        "nodes" => node(column, object),
        "events" if column == "Count" => return Value::from(event_count(object)),
        "events" => event(column, object),
        "services" => service(column, object),
        "endpointslices" => endpoint_slice(column, object),
        "deployments" | "statefulsets" => {
            let ready = number(object, &["status", "readyReplicas"], 0);
            format!("{ready}/{}", number(object, &["spec", "replicas"], 0))
        }
        _ => String::new(),
    })
}

/// The parts with commas between them, `<none>` without any.
pub(super) fn or_none<S: AsRef<str>>(parts: impl IntoIterator<Item = S>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(part.as_ref());
    }
    if text.is_empty() {
        "<none>".to_owned()
    } else {
        text
    }
}

fn pod(column: &str, object: &Object) -> String {
    let statuses = list(object, &["status", "containerStatuses"]);
    match column {
        "Ready" => {
            let ready = statuses.iter().filter(|s| s["ready"] == true).count();
            format!("{ready}/{}", list(object, &["spec", "containers"]).len())
        }
        "Status" if is_deleting(object) => "Terminating".to_owned(),
        "Status" => text(object, &["status", "reason"])
            .or_else(|| text(object, &["status", "phase"]))
            .unwrap_or_default()
            .to_owned(),
        "Restarts" => {
            let restarts = statuses.iter().filter_map(|s| s["restartCount"].as_u64());
            restarts.sum::<u64>().to_string()
        }
        _ => {
            let gates = list(object, &["spec", "readinessGates"]);
            if gates.is_empty() {
                return "<none>".to_owned();
            }
            let open = gates
                .iter()
                .filter_map(|gate| condition(object, gate["conditionType"].as_str()?))
                .filter(|condition| condition["status"] == "True")
                .count();
            format!("{open}/{}", gates.len())
        }
    }
}

fn node(column: &str, object: &Object) -> String {
    match column {
        "Status" => {
            let ready = match condition(object, "Ready").and_then(|c| c["status"].as_str()) {
                Some("True") => "Ready",
                Some(_) => "NotReady",
                None => "Unknown",
            };
            if at(object, &["spec", "unschedulable"]) == Some(&Value::Bool(true)) {
                format!("{ready},SchedulingDisabled")
            } else {
                ready.to_owned()
            }
        }
        "Roles" => {
            let keys = entries(object, &["metadata", "labels"]).map(|(key, _)| key);
            or_none(keys.filter_map(|key| key.strip_prefix("node-role.kubernetes.io/")))
        }
        _ => {
            let kind = column.replace('-', "");
            let addresses = items(object, &["status", "addresses"]);
            let mut of_kind = addresses.filter(|address| address["type"] == kind.as_str());
            or_none(
                of_kind
                    .next()
                    .and_then(|address| address["address"].as_str()),
            )
        }
    }
}

fn event_count(object: &Object) -> u64 {
    at(object, &["series", "count"])
        .or_else(|| object.get("count"))
        .and_then(Value::as_u64)
        .unwrap_or(1)
}

fn event(column: &str, object: &Object) -> String {
    match column {
        "Last Seen" => text(object, &["series", "lastObservedTime"])
            .or_else(|| text(object, &["lastTimestamp"]))
            .map_or_else(|| first_seen(object), clock::age),
        "First Seen" => first_seen(object),
        "Object" => {
            let about = |key: &str| text(object, &["involvedObject", key]).unwrap_or_default();
            format!("{}/{}", about("kind").to_lowercase(), about("name"))
        }
        "Source" => {
            let component = text(object, &["source", "component"])
                .or_else(|| text(object, &["reportingComponent"]));
            let host =
                text(object, &["source", "host"]).or_else(|| text(object, &["reportingInstance"]));
            let given = [component, host].into_iter().flatten();
            let given: Vec<&str> = given.filter(|part| !part.is_empty()).collect();
            given.join(", ")
        }
        _ => text(object, &["message"])
            .unwrap_or_default()
            .trim()
            .to_owned(),
    }
}

fn first_seen(object: &Object) -> String {
    text(object, &["firstTimestamp"])
        .or_else(|| text(object, &["eventTime"]))
        .or_else(|| meta(object, "creationTimestamp"))
        .map_or_else(|| "<unknown>".to_owned(), clock::age)
}

fn service(column: &str, object: &Object) -> String {
    if column == "Port(s)" {
        return or_none(items(object, &["spec", "ports"]).map(service_port));
    }
    let external = items(object, &["spec", "externalIPs"]).filter_map(Value::as_str);
    match text(object, &["spec", "type"]) {
        Some("LoadBalancer") => {
            let ingress = items(object, &["status", "loadBalancer", "ingress"]);
            let addresses: Vec<&str> = ingress
                .filter_map(|i| i.get("ip").or_else(|| i.get("hostname"))?.as_str())
                .chain(external)
                .collect();
            match addresses.as_slice() {
                [] => "<pending>".to_owned(),
                addresses => addresses.join(","),
            }
        }
        Some("ExternalName") => text(object, &["spec", "externalName"])
            .unwrap_or_default()
            .to_owned(),
        _ => or_none(external),
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

fn endpoint_slice(column: &str, object: &Object) -> String {
    if column == "Endpoints" {
        let addresses = items(object, &["endpoints"]).flat_map(|e| items_in(e, "addresses"));
        let addresses = addresses.filter_map(|address| Some(address.as_str()?.to_owned()));
        return first_few(addresses.collect()).replace("<none>", "<unset>");
    }
    let ports = list(object, &["ports"]);
    if ports.is_empty() {
        return "<unset>".to_owned();
    }
    let shown = |port: &Value| match (port["port"].as_u64(), port["name"].as_str()) {
        (Some(number), _) => number.to_string(),
        (None, name) => name.unwrap_or("*").to_owned(),
    };
    first_few(ports.iter().map(shown).collect())
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
