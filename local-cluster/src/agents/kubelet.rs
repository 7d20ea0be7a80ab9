//! What a node writes into the status of its pods.

use serde_json::{Value, json};

use super::conditions::{find, said, set_condition};
use super::phase::{Cause, change_conditions};
use crate::annotations;
use crate::object::{Object, at, child, text};

/// What a pod's readiness follows from, besides its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    containers: bool,
    gates: Vec<(String, Option<String>)>,
}

impl Inputs {
    /// Reads a pod.
    pub(super) fn of(pod: &Object) -> Self {
        let gates = at(pod, &["spec", "readinessGates"]).and_then(Value::as_array);
        let gates = gates.into_iter().flatten().map(|gate| {
            let kind = said(gate, "conditionType").to_owned();
            let condition = crate::object::condition(pod, &kind);
            let status = condition.map(|c| said(c, "status").to_owned());
            (kind, status)
        });
        Self {
            containers: annotation(pod, annotations::READY) != Some("false"),
            gates: gates.collect(),
        }
    }

    /// What there is to judge after a change.
    pub(super) fn cause(&self, before: &Self) -> Option<Cause> {
        if self.containers != before.containers {
            return Some(Cause::Containers);
        }
        (self.gates != before.gates).then_some(Cause::Gates)
    }

    /// Why the gates keep the pod from being ready.
    fn gates_closed(&self) -> Option<String> {
        let closed = self
            .gates
            .iter()
            .filter_map(|(kind, status)| match status.as_deref() {
                Some("True") => None,
                Some(status) => Some(format!(
                    "the status of pod readiness gate {kind:?} is not \"True\", but {status}"
                )),
                None => Some(format!(
                    "corresponding condition of pod readiness gate {kind:?} does not exist."
                )),
            });
        let messages: Vec<String> = closed.collect();
        (!messages.is_empty()).then(|| messages.join(", "))
    }
}

fn annotation<'a>(pod: &'a Object, key: &str) -> Option<&'a str> {
    text(pod, &["metadata", "annotations", key])
}

/// The pod, running, and ready unless it is kept from it.
pub(super) fn started(pod: &Object, pod_ip: &str, host_ip: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    let ready = Inputs::of(&pod).containers;
    let containers: Vec<Value> = containers(&pod, "containers")
        .map(|container| {
            let mut status = container_status(container);
            status["ready"] = json!(ready);
            status["started"] = json!(true);
            status["state"] = json!({"running": {"startedAt": now}});
            status
        })
        .collect();
    let init: Vec<Value> = containers_of_init(&pod, now);
    let status = child(&mut pod, "status");
    let fields = [
        ("phase", json!("Running")),
        ("podIP", json!(pod_ip)),
        ("podIPs", json!([{"ip": pod_ip}])),
        ("hostIP", json!(host_ip)),
        ("hostIPs", json!([{"ip": host_ip}])),
        ("startTime", json!(now)),
        ("containerStatuses", json!(containers)),
    ];
    for (key, value) in fields {
        status.insert(key.to_owned(), value);
    }
    if !init.is_empty() {
        status.insert("initContainerStatuses".to_owned(), json!(init));
    }
    let written = |kind: &str| crate::object::condition(&pod, kind).is_some();
    // What somebody wrote before the pod began stays.
    let kept = ["ContainersReady", "Ready"].map(written);
    change_conditions(&mut pod, |conditions| {
        for kind in ["PodScheduled", "Initialized"] {
            if find(conditions, kind).is_none() {
                set(conditions, kind, None, now);
            }
        }
    });
    let [keep_containers, keep_ready] = kept;
    if !keep_containers {
        let why = containers_unready(&pod);
        change_conditions(&mut pod, |list| set(list, "ContainersReady", why, now));
    }
    if !keep_ready {
        judge_ready(&mut pod, now);
    }
    pod
}

/// The pod with its readiness judged anew.
pub(super) fn judged(pod: &Object, cause: Cause, now: &str) -> Object {
    let mut pod = pod.clone();
    match cause {
        Cause::Gates => judge_ready(&mut pod, now),
        Cause::Containers => {
            let ready = Inputs::of(&pod).containers;
            let status = child(&mut pod, "status");
            if let Some(Value::Array(list)) = status.get_mut("containerStatuses") {
                let running = list
                    .iter_mut()
                    .filter(|c| c.pointer("/state/running").is_some());
                running.for_each(|container| container["ready"] = json!(ready));
            }
            let why = containers_unready(&pod);
            change_conditions(&mut pod, |list| set(list, "ContainersReady", why, now));
            judge_ready(&mut pod, now);
        }
        Cause::NodeLost => change_conditions(&mut pod, |conditions| {
            let unready = json!({"type": "Ready", "status": "False", "lastProbeTime": null});
            if find(conditions, "Ready").is_none_or(|c| said(c, "status") != "False") {
                set_condition(conditions, unready, now);
            }
        }),
    }
    pod
}

fn judge_ready(pod: &mut Object, now: &str) {
    let containers = crate::object::condition(pod, "ContainersReady");
    let why = match containers {
        Some(c) if said(c, "status") != "True" => {
            Some((said(c, "reason").to_owned(), said(c, "message").to_owned()))
        }
        _ => Inputs::of(pod)
            .gates_closed()
            .map(|message| ("ReadinessGatesNotReady".to_owned(), message)),
    };
    change_conditions(pod, |list| set(list, "Ready", why, now));
}

/// Reason and message of containers that are not ready.
fn containers_unready(pod: &Object) -> Option<(String, String)> {
    if Inputs::of(pod).containers {
        return None;
    }
    let names: Vec<&str> = containers(pod, "containers")
        .map(|c| said(c, "name"))
        .collect();
    let message = format!("containers with unready status: [{}]", names.join(" "));
    Some(("ContainersNotReady".to_owned(), message))
}

/// Makes a condition true, or false for a reason.
fn set(conditions: &mut Vec<Value>, kind: &str, why_not: Option<(String, String)>, now: &str) {
    let mut condition = json!({"type": kind, "status": "True", "lastProbeTime": null});
    if let Some((reason, message)) = why_not {
        condition["status"] = json!("False");
        for (key, value) in [("reason", reason), ("message", message)] {
            if !value.is_empty() {
                condition[key] = json!(value);
            }
        }
    }
    set_condition(conditions, condition, now);
}

fn containers<'a>(pod: &'a Object, list: &str) -> impl Iterator<Item = &'a Value> {
    let list = at(pod, &["spec", list]).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn container_status(container: &Value) -> Value {
    json!({
        "name": said(container, "name"), "image": said(container, "image"),
        "imageID": "", "containerID": "", "restartCount": 0, "lastState": {},
    })
}

/// Init containers have ended, but for those that go on beside the others.
fn containers_of_init(pod: &Object, now: &str) -> Vec<Value> {
    containers(pod, "initContainers")
        .map(|container| {
            let mut status = container_status(container);
            let goes_on = said(container, "restartPolicy") == "Always";
            status["ready"] = json!(true);
            status["started"] = json!(goes_on);
            status["state"] = match goes_on {
                true => json!({"running": {"startedAt": now}}),
                false => json!({"terminated": terminated(0, &json!(now), now)}),
            };
            status
        })
        .collect()
}

fn terminated(code: i64, started: &Value, now: &str) -> Value {
    json!({
        "exitCode": code, "reason": if code == 0 { "Completed" } else { "Error" },
        "startedAt": started, "finishedAt": now, "containerID": "",
    })
}

/// The pod after its containers have exited: ended, or, where failures are tried again, restarted.
pub(super) fn exited(pod: &Object, now: &str) -> Object {
    let mut pod = pod.clone();
    let code = annotation(&pod, annotations::EXIT_CODE).and_then(|code| code.parse().ok());
    let code: i64 = code.unwrap_or(0);
    let again = code != 0 && text(&pod, &["spec", "restartPolicy"]) == Some("OnFailure");
    let status = child(&mut pod, "status");
    if let Some(Value::Array(list)) = status.get_mut("containerStatuses") {
        for container in list.iter_mut().filter(|c| c.is_object()) {
            let started = container.pointer("/state/running/startedAt").cloned();
            let end = terminated(code, &started.unwrap_or_default(), now);
            if again {
                let count = container["restartCount"].as_i64().unwrap_or(0);
                container["restartCount"] = json!(count.saturating_add(1));
                container["lastState"] = json!({"terminated": end});
                container["state"] = json!({"running": {"startedAt": now}});
            } else {
                container["ready"] = json!(false);
                container["started"] = json!(false);
                container["state"] = json!({"terminated": end});
            }
        }
    }
    if again {
        return pod;
    }
    let (phase, reason) = match code {
        0 => ("Succeeded", "PodCompleted"),
        _ => ("Failed", "PodFailed"),
    };
    status.insert("phase".to_owned(), json!(phase));
    change_conditions(&mut pod, |conditions| {
        for kind in ["ContainersReady", "Ready"] {
            let why = Some((reason.to_owned(), String::new()));
            set(conditions, kind, why, now);
        }
    });
    pod
}

/// How often the containers of a pod were started anew.
pub(super) fn restarts(pod: &Object) -> i64 {
    let list = at(pod, &["status", "containerStatuses"]).and_then(Value::as_array);
    let counts = list
        .into_iter()
        .flatten()
        .filter_map(|c| c.get("restartCount")?.as_i64());
    counts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
