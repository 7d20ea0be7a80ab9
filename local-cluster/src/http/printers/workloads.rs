//! Workloads and autoscalers.

use serde_json::Value;

use super::{list, number};
use crate::clock;
use crate::object::{Object, at, condition, is_deleting, text};

pub(super) fn ready_replicas(object: &Object) -> String {
    let ready = number(object, &["status", "readyReplicas"]);
    format!("{ready}/{}", number(object, &["spec", "replicas"]))
}

pub(super) fn autoscaler(column: &str, object: &Object) -> String {
    if column == "Reference" {
        let target = |key: &str| text(object, &["spec", "scaleTargetRef", key]).unwrap_or_default();
        return format!("{}/{}", target("kind"), target("name"));
    }
    // Nothing measures pods here, so the current utilisation is never known.
    let targets: Vec<String> = list(object, &["spec", "metrics"])
        .iter()
        .map(|metric| {
            let resource = &metric["resource"];
            let name = resource["name"].as_str().unwrap_or("metric");
            match resource["target"]["averageUtilization"].as_i64() {
                Some(percent) => format!("{name}: <unknown>/{percent}%"),
                None => format!("{name}: <unknown>"),
            }
        })
        .collect();
    if targets.is_empty() {
        "<none>".to_owned()
    } else {
        targets.join(", ")
    }
}

pub(super) fn cron_job(column: &str, object: &Object) -> String {
    if column == "Suspend" {
        let suspended = at(object, &["spec", "suspend"]) == Some(&Value::Bool(true));
        return if suspended { "True" } else { "False" }.to_owned();
    }
    text(object, &["status", "lastScheduleTime"]).map_or_else(|| "<none>".to_owned(), clock::age)
}

pub(super) fn job(column: &str, object: &Object) -> String {
    match column {
        "Status" => job_status(object).to_owned(),
        "Completions" => {
            let succeeded = number(object, &["status", "succeeded"]);
            match at(object, &["spec", "completions"]).and_then(Value::as_i64) {
                Some(completions) => format!("{succeeded}/{completions}"),
                None => match number(object, &["spec", "parallelism"]) {
                    several if several > 1 => format!("{succeeded}/1 of {several}"),
                    _ => format!("{succeeded}/1"),
                },
            }
        }
        _ => match (
            text(object, &["status", "startTime"]),
            text(object, &["status", "completionTime"]),
        ) {
            (Some(start), Some(end)) => clock::between(start, end),
            (Some(start), None) => clock::age(start),
            (None, _) => String::new(),
        },
    }
}

fn job_status(object: &Object) -> &'static str {
    let is = |kind: &&str| condition(object, kind).is_some_and(|c| c["status"] == "True");
    let finished = ["Complete", "Failed"].into_iter().find(is);
    let deleting = is_deleting(object).then_some("Terminating");
    let paused = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
    finished
        .or(deleting)
        .or_else(|| paused.into_iter().find(is))
        .unwrap_or("Running")
}

pub(super) fn revision(object: &Object) -> String {
    let owners = list(object, &["metadata", "ownerReferences"]);
    let Some(owner) = owners.iter().find(|owner| owner["controller"] == true) else {
        return "<none>".to_owned();
    };
    let word = |key: &str| owner[key].as_str().unwrap_or_default();
    let kind = word("kind").to_lowercase();
    match word("apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{group}/{}", word("name")),
        None => format!("{kind}/{}", word("name")),
    }
}
