//! Nodes, reduced to what reconciling needs.

use super::store::Versioned;
use crate::key::ObjectKey;
use k8s_openapi::api::core::v1::{Node, NodeAddress};
use std::collections::BTreeMap;

/// Kubernetes' label of nodes that external load balancers must not use.
const LABEL_EXCLUDED: &str = "node.kubernetes.io/exclude-from-external-load-balancers";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeView {
    /// The namespace is empty.
    pub key: ObjectKey,
    pub version: u64,
    pub labels: BTreeMap<String, String>,
    pub addresses: Vec<NodeAddress>,
    /// Whether it is ready, and neither cordoned, excluded nor being deleted (u15).
    pub usable: bool,
}

impl NodeView {
    pub(crate) fn of(node: &Node) -> Self {
        let labels = node.metadata.labels.clone().unwrap_or_default();
        let status = node.status.as_ref();
        let is_ready = status
            .and_then(|status| status.conditions.as_ref())
            .is_some_and(|conditions| {
                conditions
                    .iter()
                    .any(|condition| condition.type_ == "Ready" && condition.status == "True")
            });
        let is_cordoned = node
            .spec
            .as_ref()
            .is_some_and(|spec| spec.unschedulable == Some(true));
        Self {
            key: ObjectKey::new("", node.metadata.name.clone().unwrap_or_default()),
            version: Versioned::version(node),
            usable: is_ready
                && !is_cordoned
                && !labels.contains_key(LABEL_EXCLUDED)
                && node.metadata.deletion_timestamp.is_none(),
            labels,
            addresses: status
                .and_then(|status| status.addresses.clone())
                .unwrap_or_default(),
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
