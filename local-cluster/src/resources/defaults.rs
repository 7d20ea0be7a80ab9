//! What the API server fills into built-in objects when they are created or updated.

mod workloads;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Kind, events};
use crate::object::{Object, at, child, text};

/// Fills in defaults; custom resources get theirs from their schema.
pub(crate) fn fill_defaults(kind: &Kind, object: &mut Object) {
    if kind.is_custom() {
        return;
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_defaults(object),
        ("", "services") => service_defaults(object),
        ("", "namespaces") => namespace_defaults(object),
        ("", "secrets") => {
            object.entry("type").or_insert(json!("Opaque"));
            encode_string_data(object);
        }
        // Presented in the newer form here: the defaults belong to the stored form.
        ("events.k8s.io", "events") => {
            let mut stored = super::event_from_v1(std::mem::take(object));
            events::event_defaults(&mut stored);
            *object = super::event_to_v1(stored);
        }
        ("", "events") => events::event_defaults(object),
        ("apiextensions.k8s.io", _) => super::crd_defaults(object),
        ("storage.k8s.io", "storageclasses") => {
            or(object, "reclaimPolicy", json!("Delete"));
            or(object, "volumeBindingMode", json!("Immediate"));
        }
        ("scheduling.k8s.io", _) => {
            or(object, "preemptionPolicy", json!("PreemptLowerPriority"));
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            binding_defaults(object);
        }
        ("admissionregistration.k8s.io", plural) => super::webhook_defaults(plural, object),
        ("apps" | "batch", plural) | ("", plural @ "replicationcontrollers") => {
            workloads::workload_defaults(plural, object);
        }
        _ => {}
    }
}

fn or(map: &mut Object, key: &str, value: Value) {
    map.entry(key).or_insert(value);
}

/// What was written as text is kept, and read, in base64.
fn encode_string_data(secret: &mut Object) {
    if let Some(Value::Object(texts)) = secret.remove("stringData") {
        let data = child(secret, "data");
        for (key, text) in texts {
            let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
            data.insert(key, Value::from(encoded));
        }
    }
}

/// Who is bound is named by the group that users, groups and roles belong to.
fn binding_defaults(binding: &mut Object) {
    const GROUP: &str = "rbac.authorization.k8s.io";
    or(child(binding, "roleRef"), "apiGroup", json!(GROUP));
    let subjects = binding.get_mut("subjects").and_then(Value::as_array_mut);
    for subject in subjects
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if text(subject, &["kind"]) != Some("ServiceAccount") {
            or(subject, "apiGroup", json!(GROUP));
        }
    }
}

fn namespace_defaults(namespace: &mut Object) {
    let name = crate::object::name(namespace).to_owned();
    let labels = child(child(namespace, "metadata"), "labels");
    labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    if !crate::object::is_deleting(namespace) {
        or(
            child(namespace, "spec"),
            "finalizers",
            json!(["kubernetes"]),
        );
    }
}

fn pod_defaults(pod: &mut Object) {
    pod_condition_defaults(pod);
    let spec = child(pod, "spec");
    pod_spec_defaults(spec);
    or(spec, "priority", json!(0));
    or(spec, "enableServiceLinks", json!(true));
    or(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
    let toleration = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    or(
        spec,
        "tolerations",
        json!([
            toleration("node.kubernetes.io/not-ready"),
            toleration("node.kubernetes.io/unreachable")
        ]),
    );
}

/// What pods and templates of pods have in common.
fn pod_spec_defaults(spec: &mut Object) {
    for list in ["containers", "initContainers"] {
        if let Some(Value::Array(containers)) = spec.get_mut(list) {
            for container in containers.iter_mut().filter_map(Value::as_object_mut) {
                container_defaults(container);
            }
        }
    }
    or(spec, "restartPolicy", json!("Always"));
    or(spec, "terminationGracePeriodSeconds", json!(30));
    or(spec, "dnsPolicy", json!("ClusterFirst"));
    or(spec, "securityContext", json!({}));
    or(spec, "schedulerName", json!("default-scheduler"));
}

/// Pod conditions show both times even when they were never set.
fn pod_condition_defaults(pod: &mut Object) {
    let conditions = pod
        .get_mut("status")
        .and_then(|s| s.get_mut("conditions"))
        .and_then(Value::as_array_mut);
    for condition in conditions
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        or(condition, "lastProbeTime", Value::Null);
        or(condition, "lastTransitionTime", Value::Null);
    }
}

fn container_defaults(container: &mut Object) {
    let image = text(container, &["image"]).unwrap_or_default();
    // The part after the last slash: a registry's port is no tag.
    let tag = image.rsplit('/').next().and_then(|i| i.split_once(':'));
    let pinned = image.contains('@') || tag.is_some_and(|(_, tag)| tag != "latest");
    let policy = if pinned { "IfNotPresent" } else { "Always" };
    or(container, "imagePullPolicy", json!(policy));
    or(container, "resources", json!({}));
    or(
        container,
        "terminationMessagePath",
        json!("/dev/termination-log"),
    );
    or(container, "terminationMessagePolicy", json!("File"));
    if let Some(Value::Array(ports)) = container.get_mut("ports") {
        for port in ports.iter_mut().filter_map(Value::as_object_mut) {
            or(port, "protocol", json!("TCP"));
        }
    }
}

fn service_defaults(service: &mut Object) {
    let spec = child(service, "spec");
    or(spec, "type", json!("ClusterIP"));
    or(spec, "sessionAffinity", json!("None"));
    let type_name = text(spec, &["type"]).unwrap_or_default().to_owned();
    if let Some(Value::Array(ports)) = spec.get_mut("ports") {
        for port in ports.iter_mut().filter_map(Value::as_object_mut) {
            or(port, "protocol", json!("TCP"));
            let number = port.get("port").cloned().unwrap_or_default();
            or(port, "targetPort", number);
        }
    }
    if type_name == "ExternalName" {
        return;
    }
    or(spec, "ipFamilies", json!(["IPv4"]));
    or(spec, "ipFamilyPolicy", json!("SingleStack"));
    or(spec, "internalTrafficPolicy", json!("Cluster"));
    if matches!(type_name.as_str(), "NodePort" | "LoadBalancer") {
        or(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if at(spec, &["clusterIP"]).is_some() && at(spec, &["clusterIPs"]).is_none() {
        let ip = spec.get("clusterIP").cloned().unwrap_or_default();
        spec.insert("clusterIPs".to_owned(), json!([ip]));
    }
}
