//! Objects of the tests on a cluster that has other nodes, too.

use super::nodes::taint;
use super::owned::LABEL;
use crate::manifests::NODES;
use serde_json::{Value, json};

/// Changes an object that is about to be created.
pub(crate) fn adapt(kind: &str, object: &mut Value) {
    match kind {
        // Bound to a node that runs nothing; the cluster's scheduler never sees it.
        "Pod" if object["spec"]["nodeName"].is_null() => {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            let last = name.bytes().last().unwrap_or_default();
            let (node, _) = NODES[usize::from(last) % NODES.len()];
            object["spec"]["nodeName"] = node.into();
        }
        "BackendGroup" | "Bind"
            if object["spec"]["service"].is_object()
                && object["spec"]["service"]["mode"] != "Endpoints" =>
        {
            object["spec"]["service"]["nodeSelector"][LABEL] = "true".into();
        }
        "Node" => {
            object["metadata"]["labels"][LABEL] = "true".into();
            object["spec"]["taints"] = json!([taint()]);
        }
        "Namespace" => {
            let labels = &mut object["metadata"]["labels"];
            labels[LABEL] = "true".into();
            // The tests' pods say nothing about their security, and run nothing.
            labels["pod-security.kubernetes.io/enforce"] = "privileged".into();
        }
        _ => {}
    }
}
