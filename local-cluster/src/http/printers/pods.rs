//! Pods, nodes, and the events about them.

use serde_json::Value;

use super::{list, or_none};
use crate::clock;
use crate::object::{Object, at, condition, is_deleting, meta, text};

pub(super) fn pod(column: &str, object: &Object) -> String {
    let statuses = list(object, &["status", "containerStatuses"]);
    match column {
        "Ready" => {
            let ready = statuses.iter().filter(|s| s["ready"] == true).count();
            format!("{ready}/{}", list(object, &["spec", "containers"]).len())
        }
        "Status" if is_deleting(object) => "Terminating".to_owned(),
        "Status" => text(object, &["status", "reason"])
            .or_else(|| text(object, &["status", "phase"]))
            .unwrap_or("Unknown")
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

pub(super) fn node(column: &str, object: &Object) -> String {
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
            let labels = at(object, &["metadata", "labels"]).and_then(Value::as_object);
            let keys = labels.into_iter().flatten().map(|(key, _)| key);
            or_none(keys.filter_map(|key| key.strip_prefix("node-role.kubernetes.io/")))
        }
        _ => {
            let kind = column.replace('-', "");
            let addresses = list(object, &["status", "addresses"]).iter();
            let mut of_kind = addresses.filter(|address| address["type"] == kind.as_str());
            or_none(
                of_kind
                    .next()
                    .and_then(|address| address["address"].as_str()),
            )
        }
    }
}

pub(super) fn event_count(object: &Object) -> u64 {
    at(object, &["series", "count"])
        .or_else(|| object.get("count"))
        .and_then(Value::as_u64)
        .unwrap_or(1)
}

pub(super) fn event(column: &str, object: &Object) -> String {
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
