//! Defaulting of built-in kinds, and the status of new objects.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Kind;
use crate::object::{Object, at, child, maps_in, string, text};

/// Defaults of built-in kinds; those of custom resources come from their schemas.
pub(crate) fn fill_defaults(kind: &Kind, object: &mut Object) {
    if kind.is_custom() {
        return;
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => pod_defaults(object),
        ("", "services") => service_defaults(object),
        ("", "namespaces") => namespace_defaults(object),
        ("", "nodes") => node_defaults(object),
        ("", "endpoints") => endpoints_defaults(object),
        ("", "secrets") => {
            fill(object, json!({"type": "Opaque"}));
            encode_string_data(object);
        }
        ("discovery.k8s.io", "endpointslices") => {
            for port in maps_in(object.get_mut("ports")) {
                fill(port, json!({"name": "", "protocol": "TCP"}));
            }
        }
        ("apiextensions.k8s.io", _) => super::crd_defaults(object),
        ("storage.k8s.io", "storageclasses") => {
            let defaults = json!({"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"});
            fill(object, defaults);
        }
        ("scheduling.k8s.io", _) => {
            fill(object, json!({"preemptionPolicy": "PreemptLowerPriority"}));
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            binding_defaults(object);
        }
        ("admissionregistration.k8s.io", plural) => super::webhook_defaults(plural, object),
        ("apps", plural) => {
            workload_defaults(plural, child(object, "spec"));
        }
        _ => {}
    }
}

fn endpoints_defaults(endpoints: &mut Object) {
    for subset in maps_in(endpoints.get_mut("subsets")) {
        for port in maps_in(subset.get_mut("ports")) {
            fill(port, json!({"protocol": "TCP"}));
        }
    }
}

/// Adds the defaults that are missing, inside of maps too; null counts as present.
fn fill(object: &mut Object, defaults: Value) {
    for (key, default) in crate::object::object(defaults) {
        match default {
            Value::Object(inner) if !inner.is_empty() => {
                fill(child(object, &key), Value::Object(inner));
            }
            default => {
                object.entry(key).or_insert(default);
            }
        }
    }
}

/// `stringData` is write-only: it becomes `data`, in base64.
fn encode_string_data(secret: &mut Object) {
    if let Some(Value::Object(texts)) = secret.remove("stringData") {
        let data = child(secret, "data");
        for (key, text) in texts {
            let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
            data.insert(key, Value::from(encoded));
        }
    }
}

fn binding_defaults(binding: &mut Object) {
    let group = json!({"apiGroup": "rbac.authorization.k8s.io"});
    fill(child(binding, "roleRef"), group.clone());
    for subject in maps_in(binding.get_mut("subjects")) {
        if text(subject, &["kind"]) != Some("ServiceAccount") {
            fill(subject, group.clone());
        }
    }
}

fn namespace_defaults(namespace: &mut Object) {
    let name = crate::object::name(namespace).to_owned();
    if !name.is_empty() {
        let labels = child(child(namespace, "metadata"), "labels");
        labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    }
    fill(namespace, json!({"status": {"phase": "Active"}}));
}

fn node_defaults(node: &mut Object) {
    if let Some(range) = at(node, &["spec", "podCIDR"]).cloned() {
        fill(node, json!({"spec": {"podCIDRs": [range]}}));
    }
    if let Some(capacity) = at(node, &["status", "capacity"]).cloned() {
        let status = child(node, "status");
        status.entry("allocatable").or_insert(capacity);
    }
}

fn pod_defaults(pod: &mut Object) {
    pod_ip_defaults(child(pod, "status"));
    let spec = child(pod, "spec");
    pod_spec_defaults(spec);
    for list in ["containers", "initContainers"] {
        for container in maps_in(spec.get_mut(list)) {
            let limits = at(container, &["resources", "limits"]).cloned();
            if let Some(limits) = limits {
                fill(container, json!({"resources": {"requests": limits}}));
            }
        }
    }
    fill(spec, json!({"enableServiceLinks": true}));
}

/// Admission sets these after managed fields are computed, so that no client owns them.
pub(crate) fn admit_pod(pod: &mut Object) {
    let defaults = json!({
        "spec": {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", "tolerations": []},
        "status": {"qosClass": "BestEffort"},
    });
    fill(pod, defaults);
    let spec = child(pod, "spec");
    let Some(Value::Array(tolerations)) = spec.get_mut("tolerations") else {
        return;
    };
    for key in [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ] {
        let is_tolerated = tolerations.iter().any(|toleration| {
            let word = |field| string(toleration, field);
            ["", key].contains(&word("key")) && ["", "NoExecute"].contains(&word("effect"))
        });
        if !is_tolerated {
            tolerations.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
}

/// Either of `podIP` and `podIPs` follows from the other; the first counts.
fn pod_ip_defaults(status: &mut Object) {
    let first = at(status, &["podIPs"]).and_then(|ips| ips.pointer("/0/ip"));
    let first = first.cloned().unwrap_or_default();
    let one = status.entry("podIP").or_insert(first.clone()).clone();
    if one.is_null() {
        status.remove("podIP");
    } else if one != first {
        status.insert("podIPs".to_owned(), json!([{"ip": one}]));
    }
}

/// The defaults that pods and pod templates share.
fn pod_spec_defaults(spec: &mut Object) {
    for list in ["containers", "initContainers"] {
        maps_in(spec.get_mut(list)).for_each(container_defaults);
    }
    for volume in maps_in(spec.get_mut("volumes")) {
        for source in ["configMap", "downwardAPI", "projected", "secret"] {
            if let Some(Value::Object(source)) = volume.get_mut(source) {
                fill(source, json!({"defaultMode": 420}));
            }
        }
    }
    if let Some(account) = text(spec, &["serviceAccountName"]).filter(|name| !name.is_empty()) {
        // The former name of the field.
        let account = json!({"serviceAccount": account});
        fill(spec, account);
    }
    fill(
        spec,
        json!({
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst", "securityContext": {},
            "schedulerName": "default-scheduler",
        }),
    );
}

fn container_defaults(container: &mut Object) {
    let image = text(container, &["image"]).unwrap_or_default();
    // Only after the last slash does a colon begin a tag, and not a registry's port.
    let tag = image.rsplit('/').next().and_then(|i| i.split_once(':'));
    let pinned = image.contains('@') || tag.is_some_and(|(_, tag)| tag != "latest");
    let policy = if pinned { "IfNotPresent" } else { "Always" };
    fill(
        container,
        json!({
            "imagePullPolicy": policy, "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        }),
    );
    for port in maps_in(container.get_mut("ports")) {
        fill(port, json!({"protocol": "TCP"}));
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(Value::Object(probe)) = container.get_mut(probe) else {
            continue;
        };
        let times = json!({
            "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        });
        fill(probe, times);
        if probe.contains_key("httpGet") {
            fill(probe, json!({"httpGet": {"path": "/", "scheme": "HTTP"}}));
        }
    }
}

fn service_defaults(service: &mut Object) {
    let is_balancer = text(service, &["spec", "type"]) == Some("LoadBalancer");
    let balancer = child(child(service, "status"), "loadBalancer");
    for ingress in maps_in(balancer.get_mut("ingress")) {
        if is_balancer && ingress.contains_key("ip") {
            fill(ingress, json!({"ipMode": "VIP"}));
        }
    }
    let spec = child(service, "spec");
    fill(
        spec,
        json!({"type": "ClusterIP", "sessionAffinity": "None"}),
    );
    match text(spec, &["sessionAffinity"]) {
        Some("ClientIP") => fill(
            spec,
            json!({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10_800}}}),
        ),
        _ => _ = spec.remove("sessionAffinityConfig"),
    }
    let type_name = text(spec, &["type"]).unwrap_or_default().to_owned();
    for port in maps_in(spec.get_mut("ports")) {
        let number = port.get("port").cloned().unwrap_or_default();
        port.entry("protocol").or_insert(json!("TCP"));
        let target = port.entry("targetPort").or_insert(Value::Null);
        if *target == 0 || *target == "" || target.is_null() {
            *target = number;
        }
    }
    if type_name == "ExternalName" {
        return;
    }
    fill(spec, json!({"internalTrafficPolicy": "Cluster"}));
    if type_name != "ClusterIP" || spec.contains_key("externalIPs") {
        fill(spec, json!({"externalTrafficPolicy": "Cluster"}));
    }
    if type_name == "LoadBalancer" {
        fill(spec, json!({"allocateLoadBalancerNodePorts": true}));
    }
}

/// A rolling update has its parameters only if it is the strategy.
fn workload_defaults(plural: &str, spec: &mut Object) {
    let (defaults, strategy, rolling_update) = match plural {
        "deployments" => (
            json!({"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600}),
            "strategy",
            json!({"maxUnavailable": "25%", "maxSurge": "25%"}),
        ),
        "statefulsets" => (
            json!({
                "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
            }),
            "updateStrategy",
            json!({"partition": 0}),
        ),
        "daemonsets" => (
            json!({"revisionHistoryLimit": 10}),
            "updateStrategy",
            json!({"maxUnavailable": 1, "maxSurge": 0}),
        ),
        "replicasets" => (json!({"replicas": 1}), "", Value::Null),
        _ => return,
    };
    fill(spec, defaults);
    if !strategy.is_empty() {
        let strategy = child(spec, strategy);
        fill(strategy, json!({"type": "RollingUpdate"}));
        if text(strategy, &["type"]) == Some("RollingUpdate") {
            fill(strategy, json!({"rollingUpdate": rolling_update}));
        }
    }
    if let Some(Value::Object(template)) = spec.get_mut("template") {
        pod_spec_defaults(child(template, "spec"));
    }
}

/// Sets the initial status of the kind; a status in a create request is ignored.
pub(crate) fn reset_status(kind: &Kind, object: &mut Object) {
    // Kubelets set the status when they register their nodes.
    if !kind.has_status || kind.is("", "nodes") {
        return;
    }
    object.remove("status");
    if kind.is("", "namespaces") {
        fill(object, json!({"spec": {"finalizers": ["kubernetes"]}}));
    }
    if !kind.is_custom() {
        object.insert("status".to_owned(), initial_status(kind));
        super::normalise(kind, object);
    }
}

/// The phases of new objects.
fn initial_status(kind: &Kind) -> Value {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => json!({"phase": "Pending"}),
        ("", "namespaces") => json!({"phase": "Active"}),
        ("", "persistentvolumes" | "persistentvolumeclaims") => json!({"phase": "Pending"}),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn with_defaults(plural: &str, spec: Value) -> Object {
        let mut spec = object(spec);
        workload_defaults(plural, &mut spec);
        let once = spec.clone();
        workload_defaults(plural, &mut spec);
        assert_eq!(spec, once, "defaulting is idempotent");
        object(json!({"spec": spec}))
    }

    fn template() -> Value {
        json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i:1"}]},
        })
    }

    #[test]
    fn a_deployment_rolls_out_by_quarters() {
        let given = json!({"strategy": {}, "template": template()});
        let deployment = with_defaults("deployments", given);
        let spec = &deployment["spec"];
        assert_eq!(spec["replicas"], 1);
        assert_eq!(
            spec["strategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})
        );
        assert_eq!(spec["template"]["metadata"], json!({"labels": {"a": "b"}}));
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["restartPolicy"], "Always");
        assert_eq!(pod["containers"][0]["imagePullPolicy"], "IfNotPresent");
        // Admission sets these on pods, and not in templates.
        assert!(pod.get("tolerations").is_none() && pod.get("priority").is_none());
        let recreate = with_defaults("deployments", json!({"strategy": {"type": "Recreate"}}));
        assert_eq!(recreate["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn stateful_and_daemon_sets_roll_out_one_by_one() {
        let stateful = with_defaults("statefulsets", json!({"template": template()}));
        assert_eq!(
            stateful["spec"]["updateStrategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
        );
        assert_eq!(stateful["spec"]["podManagementPolicy"], "OrderedReady");
        let daemon = with_defaults("daemonsets", json!({"template": template()}));
        assert_eq!(
            daemon["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"],
            1
        );
    }
}
