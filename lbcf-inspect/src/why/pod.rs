//! Problems of pods.

use super::nearest;
use super::selector::{BY_LABEL, EXCEPT, has_labels, selects};
use crate::cluster::{Cluster, Object};
use crate::finding::{Finding, Fix, Problem, quoted};
use crate::object::{Kind, ObjectRef};
use lbcf_controller::api::condition_types;
use lbcf_controller::names::{LABEL_BACKEND_POD, LABEL_BIND_POD, READINESS_GATE};
use serde_json::{Value, json};

pub(super) fn problems(cluster: &Cluster, object: &ObjectRef, pod: &Object) -> Vec<Problem> {
    let own = unready(pod)
        .map(|(message, advice)| Finding::new(object, message, Fix::advice(advice)).into());
    own.into_iter()
        .chain(unregistered(cluster, object, pod))
        .collect()
}

/// A pod's condition, whose fields differ from those of LBCF's kinds.
fn condition<'a>(pod: &'a Object, type_: &str) -> Option<&'a Value> {
    pod.list("/status/conditions")
        .iter()
        .find(|it| it["type"] == type_)
}

fn is_true(pod: &Object, type_: &str) -> bool {
    condition(pod, type_).is_some_and(|it| it["status"] == "True")
}

/// Why a pod is not ready to be registered, and advice. The controller's own gate does not count.
pub(super) fn unready(pod: &Object) -> Option<(String, String)> {
    let gates = pod.list("/spec/readinessGates").iter();
    let gates: Vec<_> = gates
        .filter_map(|it| it["conditionType"].as_str())
        .collect();
    let unmet = gates
        .iter()
        .find(|gate| **gate != READINESS_GATE && !is_true(pod, gate));
    let is_only_gated =
        gates.contains(&READINESS_GATE) && unmet.is_none() && is_true(pod, "ContainersReady");
    let because = |message: String, advice: &str| Some((message, advice.to_owned()));
    if pod.is_deleting() {
        return because(
            "is being deleted, so that it is not registered".to_owned(),
            "Nothing to do.",
        );
    }
    if is_true(pod, "Ready") || is_only_gated {
        return None;
    }
    let phase = pod.text("/status/phase");
    if ["Succeeded", "Failed"].contains(&phase) {
        return because(
            format!("has ended: {phase}"),
            "See its log, and that its workload creates another one.",
        );
    }
    if let Some(scheduled) = condition(pod, "PodScheduled").filter(|it| it["status"] != "True") {
        let message = scheduled["message"]
            .as_str()
            .unwrap_or("no node is assigned yet");
        return because(
            format!("is not scheduled: {message}"),
            "Give the cluster a node that it fits, or change what it asks for.",
        );
    }
    if let Some(waiting) = waiting_container(pod) {
        return because(waiting, "See kubectl describe pod and its log.");
    }
    if let Some(gate) = unmet {
        return because(
            format!("is not Ready: the readiness gate {gate} is not met"),
            "The gate's controller sets a condition of its name: see that it runs, or remove the gate from the pod's template.",
        );
    }
    because(
        "is not Ready: its readiness probe fails, or has not succeeded yet".to_owned(),
        "See its log, and kubectl describe pod for the answers of the probe.",
    )
}

/// The container that does not run, and why.
fn waiting_container(pod: &Object) -> Option<String> {
    let mut containers = pod.list("/status/containerStatuses").iter();
    containers.find_map(|it| {
        let waiting = &it["state"]["waiting"];
        let reason = waiting["reason"]
            .as_str()
            .filter(|it| *it != "ContainerCreating")?;
        let message = waiting["message"].as_str().unwrap_or_default();
        let name = it["name"].as_str().unwrap_or_default();
        let message = format!("is not Ready: container {name} is in {reason} {message}");
        Some(message.trim_end().to_owned())
    })
}

/// Why a pod is not registered, apart from what it is itself.
fn unregistered(cluster: &Cluster, object: &ObjectRef, pod: &Object) -> Option<Problem> {
    let name = &*object.key.name;
    let records = cluster
        .beside(object, Kind::BackendRecord)
        .filter(|(_, record)| {
            let names = [LABEL_BACKEND_POD, LABEL_BIND_POD].map(|label| record.label(label));
            let endpoint = record.text("/spec/endpointBackend/address");
            names.contains(&name) || (!endpoint.is_empty() && endpoint == pod.text("/status/podIP"))
        });
    let records: Vec<_> = records.collect();
    let unmet = records
        .iter()
        .filter(|(_, it)| !it.has_condition(condition_types::REGISTERED));
    let unmet: Vec<_> = unmet.map(|(it, _)| it.clone()).collect();
    if !unmet.is_empty() {
        return Some(Problem::following(
            object,
            "is not registered".to_owned(),
            unmet,
        ));
    }
    if !records.is_empty() {
        return None;
    }
    let kinds = [Kind::BackendGroup, Kind::Bind].into_iter();
    let owners: Vec<_> = kinds
        .flat_map(|kind| cluster.beside(object, kind))
        .collect();
    let selecting = owners.iter().filter(|(it, owner)| {
        let service = it.beside(Kind::Service, owner.text("/spec/service/name"));
        let of_service = cluster.get(&service).map(|it| it.map("/spec/selector"));
        selects(owner, (object, pod)) || of_service.is_some_and(|it| has_labels(pod, &it))
    });
    let selecting: Vec<_> = selecting.map(|(it, _)| it.clone()).collect();
    if selecting.is_empty() {
        return not_selected(cluster, (object, pod), &owners);
    }
    Some(Problem::following(
        object,
        "is selected, and not registered".to_owned(),
        selecting,
    ))
}

/// Nothing selects the pod: what almost does, and what would have to change.
fn not_selected(
    cluster: &Cluster,
    (object, pod): (&ObjectRef, &Object),
    owners: &[(ObjectRef, &Object)],
) -> Option<Problem> {
    if !cluster.sees(&object.beside(Kind::BackendGroup, "")) {
        return None;
    }
    let name = &*object.key.name;
    for (it, owner) in owners {
        let mut except = owner.texts(EXCEPT);
        if except.contains(&name) {
            except.retain(|it| *it != name);
            let patch = json!({"spec": {"pods": {"byLabel": {"except": except}}}});
            let message = format!("is excluded by spec.pods.byLabel.except of {it}");
            return Some(Finding::new(object, message, Fix::patch(it, &patch)).into());
        }
        let selector = owner.map(BY_LABEL);
        if nearest::selector(&selector, [pod.labels()]).is_some() {
            let missing = selector
                .iter()
                .filter(|(label, value)| pod.labels().get(*label) != Some(*value));
            let missing: Vec<_> = missing
                .map(|(label, value)| format!("{label}={value}"))
                .collect();
            let message = format!(
                "is not selected: {it} selects pods with {}",
                missing.join(", ")
            );
            let missing: Vec<_> = missing.iter().map(|it| quoted(it)).collect();
            let line = format!(" --overwrite {}", missing.join(" "));
            return Some(
                Finding::new(object, message, Fix::kubectl("label", object, &line)).into(),
            );
        }
    }
    let message = "is selected by no BackendGroup or Bind of its namespace";
    let fix = Fix::advice("Create one that selects it, if it should be registered.");
    Some(Finding::new(object, message, fix).into())
}
