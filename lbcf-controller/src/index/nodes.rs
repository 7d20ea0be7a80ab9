//! Nodes, reduced to what reconciling needs.

use super::store::{Versioned, version_of};
use crate::api::names::LABEL_EXCLUDED;
use crate::api::{ObjectKey, key_of};
use k8s_openapi::api::core::v1::{NodeAddress, NodeSpec, NodeStatus};
use kube::api::ObjectMeta;
use std::collections::BTreeMap;

/// The cluster autoscaler's taint of nodes that it is about to remove.
const TAINT_REMOVING: &str = "ToBeDeletedByClusterAutoscaler";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeView {
    /// The namespace is empty.
    pub key: ObjectKey,
    pub version: u64,
    pub labels: BTreeMap<String, String>,
    pub addresses: Vec<NodeAddress>,
    /// True if it is registered where its service is. As in Kubernetes' own load balancers,
    /// being ready does not matter, which health checks notice sooner, nor being cordoned, which
    /// only keeps new pods away.
    pub usable: bool,
}

impl NodeView {
    pub(crate) fn new(
        metadata: &ObjectMeta,
        spec: Option<&NodeSpec>,
        status: Option<&NodeStatus>,
    ) -> Self {
        let labels = metadata.labels.clone().unwrap_or_default();
        let addresses = status.and_then(|status| status.addresses.clone());
        let addresses = addresses.unwrap_or_default();
        let taints = spec.and_then(|spec| spec.taints.as_ref());
        let is_removing = taints.is_some_and(|taints| {
            let mut taints = taints.iter();
            taints.any(|taint| taint.key == TAINT_REMOVING)
        });
        Self {
            key: key_of(metadata),
            version: version_of(metadata),
            // A node without addresses has not been initialized by its cloud.
            usable: !addresses.is_empty()
                && !is_removing
                && !labels.contains_key(LABEL_EXCLUDED)
                && metadata.deletion_timestamp.is_none(),
            labels,
            addresses,
        }
    }

    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.labels == other.labels
            && self.addresses == other.addresses
            && self.usable == other.usable
    }
}

impl Versioned for NodeView {
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }

    fn version(&self) -> u64 {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Node;
    use serde_json::{Value, json};

    fn is_usable(changes: &Value) -> bool {
        let mut node = json!({
            "metadata": {"name": "n"},
            "status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]},
        });
        json_patch(&mut node, changes);
        let node: Node = serde_json::from_value(node).unwrap();
        NodeView::new(&node.metadata, node.spec.as_ref(), node.status.as_ref()).usable
    }

    /// Replaces the fields of an object by those of another one.
    fn json_patch(object: &mut Value, changes: &Value) {
        for (field, change) in changes.as_object().unwrap() {
            for (name, value) in change.as_object().unwrap() {
                object[field][name] = value.clone();
            }
        }
    }

    #[test]
    fn d40_nodes_are_usable_as_in_kubernetes_own_load_balancers() {
        let taint = |key| json!({"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}});
        let condition =
            |status| json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        for (changes, expected) in [
            (json!({}), true),
            (condition("True"), true),
            (condition("False"), true),
            (condition("Unknown"), true),
            (json!({"spec": {"unschedulable": true}}), true),
            (taint("node.kubernetes.io/unreachable"), true),
            (taint("ToBeDeletedByClusterAutoscaler"), false),
            (json!({"metadata": {"labels": {LABEL_EXCLUDED: ""}}}), false),
            (
                json!({"metadata": {"labels": {LABEL_EXCLUDED: "false"}}}),
                false,
            ),
            (
                json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
                false,
            ),
            (json!({"status": {"addresses": []}}), false),
        ] {
            assert_eq!(is_usable(&changes), expected, "{changes}");
        }
    }
}
