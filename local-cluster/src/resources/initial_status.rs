//! The status of new objects.

use serde_json::{Value, json};

use super::Kind;
use crate::object::{self, Object, child};

/// Sets the initial status of the kind; a status in a create request is ignored.
pub(crate) fn reset_status(kind: &Kind, object: &mut Object) {
    if !kind.has_status {
        return;
    }
    match initial_status(kind) {
        // Kubelets set the status when they register their nodes.
        _ if kind.is("", "nodes") => {
            let status = child(object, "status");
            for (key, value) in blank_node() {
                status.entry(key).or_insert(value);
            }
        }
        Some(status) => {
            object.insert("status".to_owned(), status);
        }
        None => {
            object.remove("status");
        }
    }
}

fn blank_node() -> Object {
    object::object(json!({
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": {
            "architecture": "", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
            "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "",
            "osImage": "", "systemUUID": "",
        },
    }))
}

/// The zero values that Kubernetes' types encode.
fn initial_status(kind: &Kind) -> Option<Value> {
    if kind.is_custom() {
        return None;
    }
    Some(match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => json!({"phase": "Pending", "qosClass": "BestEffort"}),
        ("", "services") | ("networking.k8s.io", "ingresses") => json!({"loadBalancer": {}}),
        ("", "namespaces") => json!({"phase": "Active"}),
        ("", "persistentvolumes" | "persistentvolumeclaims") => json!({"phase": "Pending"}),
        ("", "replicationcontrollers") | ("apps", "replicasets") => json!({"replicas": 0}),
        ("apps", "statefulsets") => json!({"availableReplicas": 0, "replicas": 0}),
        ("apps", "daemonsets") => json!({
            "currentNumberScheduled": 0, "desiredNumberScheduled": 0,
            "numberMisscheduled": 0, "numberReady": 0,
        }),
        ("autoscaling", _) => json!({"currentMetrics": null, "desiredReplicas": 0}),
        ("policy", "poddisruptionbudgets") => json!({
            "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0,
        }),
        ("storage.k8s.io", _) => json!({"attached": false}),
        ("apps" | "batch", _) | ("", "resourcequotas") => json!({}),
        _ => return None,
    })
}
