//! The status of pods, as a kubelet writes it.

use serde_json::{Value, json};

use super::phase::ReadinessTrigger;
use crate::annotations;
use crate::conditions::{change_conditions, find, set_condition};
use crate::object::{Object, child, condition, items, string, text};

/// Everything that a pod's readiness depends on, besides its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadinessInputs {
    /// False if the annotation keeps the containers from being ready.
    containers: bool,
    /// The readiness gates, with the status of each one's condition.
    gates: Vec<(String, Option<String>)>,
}

impl ReadinessInputs {
    pub(super) fn of(pod: &Object) -> Self {
        let gates = items(pod, &["spec", "readinessGates"]).map(|gate| {
            let kind = string(gate, "conditionType").to_owned();
            let status = condition(pod, &kind).map(|c| string(c, "status").to_owned());
            (kind, status)
        });
        Self {
            containers: annotation(pod, annotations::READY) != Some("false"),
            gates: gates.collect(),
        }
    }

    /// The reason for an update of the readiness after a change.
    pub(super) fn trigger(&self, before: &Self) -> Option<ReadinessTrigger> {
        if self.containers != before.containers {
            return Some(ReadinessTrigger::Containers);
        }
        (self.gates != before.gates).then_some(ReadinessTrigger::Gates)
    }

    /// Why the gates keep the pod from being ready.
    fn closed_gates(&self) -> Option<String> {
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

/// The pod with running containers.
pub(super) fn started(pod: &Object, pod_ip: &str, host_ip: &str, now: &str) -> Object {
    let mut pod = pod.clone();
    let ready = ReadinessInputs::of(&pod).containers;
    let containers: Vec<Value> = items(&pod, &["spec", "containers"])
        .map(|container| {
            let mut status = container_status(container);
            status["ready"] = json!(ready);
            status["started"] = json!(true);
            status["state"] = json!({"running": {"startedAt": now}});
            status
        })
        .collect();
    let init_containers = init_container_statuses(&pod, now);
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
    if !init_containers.is_empty() {
        status.insert("initContainerStatuses".to_owned(), json!(init_containers));
    }
    // Conditions that a client wrote before the start stay.
    let [has_containers_ready, has_ready] =
        ["ContainersReady", "Ready"].map(|kind| condition(&pod, kind).is_some());
    change_conditions(&mut pod, |conditions| {
        for kind in ["PodScheduled", "Initialized"] {
            if find(conditions, kind).is_none() {
                set(conditions, kind, None, now);
            }
        }
    });
    if !has_containers_ready {
        update_containers_ready(&mut pod, now);
    }
    if !has_ready {
        update_ready(&mut pod, now);
    }
    pod
}

/// The pod with updated readiness.
pub(super) fn with_readiness(pod: &Object, trigger: ReadinessTrigger, now: &str) -> Object {
    let mut pod = pod.clone();
    match trigger {
        ReadinessTrigger::Gates => update_ready(&mut pod, now),
        ReadinessTrigger::Containers => {
            let ready = ReadinessInputs::of(&pod).containers;
            let status = child(&mut pod, "status");
            if let Some(Value::Array(list)) = status.get_mut("containerStatuses") {
                let running = list
                    .iter_mut()
                    .filter(|c| c.pointer("/state/running").is_some());
                running.for_each(|container| container["ready"] = json!(ready));
            }
            update_containers_ready(&mut pod, now);
            update_ready(&mut pod, now);
        }
        ReadinessTrigger::NodeUnreachable => change_conditions(&mut pod, |conditions| {
            let unready = json!({"type": "Ready", "status": "False", "lastProbeTime": null});
            if find(conditions, "Ready").is_none_or(|c| string(c, "status") != "False") {
                set_condition(conditions, unready, now);
            }
        }),
    }
    pod
}

fn update_ready(pod: &mut Object, now: &str) {
    let why_not = match condition(pod, "ContainersReady") {
        Some(c) if string(c, "status") != "True" => Some((
            string(c, "reason").to_owned(),
            string(c, "message").to_owned(),
        )),
        _ => ReadinessInputs::of(pod)
            .closed_gates()
            .map(|message| ("ReadinessGatesNotReady".to_owned(), message)),
    };
    change_conditions(pod, |list| set(list, "Ready", why_not, now));
}

fn update_containers_ready(pod: &mut Object, now: &str) {
    let why_not = (!ReadinessInputs::of(pod).containers).then(|| {
        let names: Vec<&str> = items(pod, &["spec", "containers"])
            .map(|c| string(c, "name"))
            .collect();
        let message = format!("containers with unready status: [{}]", names.join(" "));
        ("ContainersNotReady".to_owned(), message)
    });
    change_conditions(pod, |list| set(list, "ContainersReady", why_not, now));
}

/// Sets a condition to `True`, or to `False` with a reason and a message.
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

fn container_status(container: &Value) -> Value {
    json!({
        "name": string(container, "name"), "image": string(container, "image"),
        "imageID": "", "containerID": "", "restartCount": 0, "lastState": {},
    })
}

/// Init containers have completed; sidecars run.
fn init_container_statuses(pod: &Object, now: &str) -> Vec<Value> {
    items(pod, &["spec", "initContainers"])
        .map(|container| {
            let mut status = container_status(container);
            let sidecar = string(container, "restartPolicy") == "Always";
            status["ready"] = json!(true);
            status["started"] = json!(sidecar);
            status["state"] = match sidecar {
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

/// The pod after its containers have exited with the code of its annotation.
pub(super) fn exited(pod: &Object, now: &str) -> Object {
    let code = annotation(pod, annotations::EXIT_CODE).and_then(|code| code.parse().ok());
    let code = code.unwrap_or(0);
    let mut pod = pod.clone();
    let status = child(&mut pod, "status");
    if let Some(Value::Array(list)) = status.get_mut("containerStatuses") {
        for container in list.iter_mut().filter(|c| c.is_object()) {
            let started = container.pointer("/state/running/startedAt").cloned();
            container["ready"] = json!(false);
            container["started"] = json!(false);
            let end = terminated(code, &started.unwrap_or_default(), now);
            container["state"] = json!({"terminated": end});
        }
    }
    let (phase, reason) = match code {
        0 => ("Succeeded", "PodCompleted"),
        _ => ("Failed", "PodFailed"),
    };
    status.insert("phase".to_owned(), json!(phase));
    change_conditions(&mut pod, |conditions| {
        for kind in ["ContainersReady", "Ready"] {
            let why_not = Some((reason.to_owned(), String::new()));
            set(conditions, kind, why_not, now);
        }
    });
    pod
}

#[cfg(test)]
mod tests;
