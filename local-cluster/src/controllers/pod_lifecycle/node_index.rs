//! The nodes, and the pods on each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::phase::NodeState;
use crate::controllers::scheduling::{FilterReason, filter, is_node_ready};
use crate::object::{Object, items, string};
use crate::store::Stored;

pub(super) type PodKey = (String, String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeTransition {
    Ready,
    /// It is no longer ready.
    Unreachable,
    Deleted,
    /// The change matters to the scheduler at most.
    Other,
}

/// Nodes by name, and the pods that are bound to them by uid.
#[derive(Debug, Default)]
pub(super) struct NodeIndex {
    nodes: BTreeMap<String, Arc<Stored>>,
    pods: HashMap<String, BTreeMap<String, PodKey>>,
    node_of: HashMap<String, String>,
    /// Deleted nodes, as long as pods are bound to them.
    deleted: BTreeSet<String>,
}

impl NodeIndex {
    pub(super) fn apply_node(&mut self, node: &Arc<Stored>, deleted: bool) -> NodeTransition {
        let before = self.state(&node.name);
        if deleted {
            self.nodes.remove(&node.name);
            if self.pods.contains_key(&node.name) {
                self.deleted.insert(node.name.clone());
            }
            return NodeTransition::Deleted;
        }
        self.nodes.insert(node.name.clone(), Arc::clone(node));
        self.deleted.remove(&node.name);
        match (before, self.state(&node.name)) {
            (before, NodeState::Ready) if before != NodeState::Ready => NodeTransition::Ready,
            (NodeState::Ready, NodeState::Unreachable) => NodeTransition::Unreachable,
            _ => NodeTransition::Other,
        }
    }

    /// Takes over the deleted nodes of an earlier index; to be called before nodes are applied.
    pub(super) fn inherit_deleted(&mut self, before: &Self) {
        let nodes = before.nodes.keys().chain(&before.deleted);
        let used = nodes.filter(|node| self.pods.contains_key(*node));
        self.deleted = used.cloned().collect();
    }

    /// Applies the node that a pod is bound to; `None` removes the pod.
    pub(super) fn apply_pod(&mut self, uid: &str, key: PodKey, node: Option<&str>) {
        let before = self.node_of.get(uid).map(String::as_str);
        if before == node && node.is_some() {
            return;
        }
        if let Some(before) = self.node_of.remove(uid)
            && let Some(pods) = self.pods.get_mut(&before)
        {
            pods.remove(uid);
            if pods.is_empty() {
                self.pods.remove(&before);
                self.deleted.remove(&before);
            }
        }
        if let Some(node) = node {
            self.node_of.insert(uid.to_owned(), node.to_owned());
            let pods = self.pods.entry(node.to_owned()).or_default();
            pods.insert(uid.to_owned(), key);
        }
    }

    pub(super) fn pods_on(&self, node: &str) -> Vec<PodKey> {
        let pods = self.pods.get(node).into_iter().flatten();
        pods.map(|(_, key)| key.clone()).collect()
    }

    pub(super) fn state(&self, node: &str) -> NodeState {
        match self.nodes.get(node) {
            Some(node) if is_node_ready(&node.object) => NodeState::Ready,
            Some(_) => NodeState::Unreachable,
            None if self.deleted.contains(node) => NodeState::Deleted,
            None => NodeState::Unknown,
        }
    }

    /// The `InternalIP` of a node.
    pub(super) fn address(&self, node: &str) -> Option<&str> {
        items(&self.nodes.get(node)?.object, &["status", "addresses"])
            .find(|address| string(address, "type") == "InternalIP")?
            .get("address")?
            .as_str()
    }

    /// Of the nodes that a pod fits, the one with the fewest pods; or why it fits none.
    pub(super) fn choose(&self, pod: &Object) -> Result<&str, Vec<FilterReason>> {
        let mut reasons = Vec::new();
        let mut best: Option<(usize, &str)> = None;
        for (name, node) in &self.nodes {
            match filter(pod, &node.object) {
                Some(reason) => reasons.push(reason),
                None => {
                    let load = (self.pods.get(name).map_or(0, BTreeMap::len), name.as_str());
                    best = Some(best.map_or(load, |best| best.min(load)));
                }
            }
        }
        best.map(|(_, name)| name).ok_or(reasons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn node(name: &str, ready: &str, cordoned: bool) -> Arc<Stored> {
        let node = json!({
            "metadata": {"name": name}, "spec": {"unschedulable": cordoned},
            "status": {
                "conditions": [{"type": "Ready", "status": ready}],
                "addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "192.0.2.1"}],
            },
        });
        Arc::new(Stored::new(object(node), 1))
    }

    fn key(name: &str) -> PodKey {
        ("d".to_owned(), name.to_owned())
    }

    #[test]
    fn of_the_nodes_that_fit_the_emptiest_is_chosen() {
        let mut index = NodeIndex::default();
        let pod = object(json!({}));
        assert_eq!(index.choose(&pod), Err(vec![]));
        for (name, ready, cordoned) in [
            ("a", "True", false),
            ("b", "True", false),
            ("c", "True", true),
            ("d", "False", false),
        ] {
            index.apply_node(&node(name, ready, cordoned), false);
        }
        assert_eq!(index.choose(&pod), Ok("a"));
        index.apply_pod("p", key("p"), Some("a"));
        assert_eq!(index.choose(&pod), Ok("b"));
        index.apply_pod("p", key("p"), None);
        assert_eq!(index.choose(&pod), Ok("a"));
        index.apply_node(&node("a", "True", true), false);
        index.apply_node(&node("b", "Unknown", false), false);
        let found = index.choose(&pod).unwrap_err();
        assert_eq!(
            found,
            [
                FilterReason::Unschedulable,
                FilterReason::Taint,
                FilterReason::Unschedulable,
                FilterReason::Taint
            ]
        );
        assert_eq!(index.address("a"), Some("192.0.2.1"));
    }

    #[test]
    fn transitions_of_nodes_are_recognised() {
        let mut index = NodeIndex::default();
        for (ready, cordoned, deleted, expected) in [
            ("True", false, false, NodeTransition::Ready),
            ("True", true, false, NodeTransition::Other),
            ("False", false, false, NodeTransition::Unreachable),
            ("True", false, false, NodeTransition::Ready),
            ("True", false, true, NodeTransition::Deleted),
        ] {
            let found = index.apply_node(&node("a", ready, cordoned), deleted);
            assert_eq!(found, expected);
            assert_eq!(index.state("a") == NodeState::Unreachable, ready == "False");
            index.apply_pod("p", key("p"), Some("a"));
        }
        assert_eq!(index.state("a"), NodeState::Deleted);
        assert_eq!(index.pods_on("a"), [key("p")]);
        let mut next = NodeIndex::default();
        next.apply_pod("p", key("p"), Some("a"));
        next.inherit_deleted(&index);
        assert_eq!(next.state("a"), NodeState::Deleted);
        index.apply_pod("p", key("p"), None);
        assert_eq!(index.state("a"), NodeState::Unknown);
        assert!(index.pods.is_empty() && index.node_of.is_empty() && index.deleted.is_empty());
    }
}
