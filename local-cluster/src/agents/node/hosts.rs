//! The nodes, and which pods are on them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::agents::phase::Host;
use crate::agents::placement::{Obstacle, is_node_ready, obstacle};
use crate::object::{Object, at, text};
use crate::store::Stored;

/// Namespace and name.
pub(super) type Place = (String, String);

/// How a node has changed for its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It is well again, or for the first time.
    Back,
    /// Nobody hears of it any more.
    Lost,
    /// It is no more.
    Gone,
    /// What is new concerns the scheduler at most.
    Other,
}

/// The nodes by name, and the pods, by uid, that are bound to nodes.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    nodes: BTreeMap<String, Arc<Stored>>,
    pods: HashMap<String, BTreeMap<String, Place>>,
    node_of: HashMap<String, String>,
    /// Nodes that were, as long as pods are bound to them.
    gone: BTreeSet<String>,
}

impl Hosts {
    /// Takes in a node.
    pub(super) fn see_node(&mut self, node: &Arc<Stored>, gone: bool) -> News {
        let was = self.host(&node.name);
        if gone {
            self.nodes.remove(&node.name);
            if self.pods.contains_key(&node.name) {
                self.gone.insert(node.name.clone());
            }
            return News::Gone;
        }
        self.nodes.insert(node.name.clone(), Arc::clone(node));
        self.gone.remove(&node.name);
        match (was, self.host(&node.name)) {
            (was, Host::Ready) if was != Host::Ready => News::Back,
            (Host::Ready, Host::Silent) => News::Lost,
            _ => News::Other,
        }
    }

    /// Remembers the nodes that were, before those that are are taken in.
    pub(super) fn succeed(&mut self, before: &Self) {
        let nodes = before.nodes.keys().chain(&before.gone);
        let used = nodes.filter(|node| self.pods.contains_key(*node));
        self.gone = used.cloned().collect();
    }

    /// Takes in which node a pod is bound to; `None` for one that is gone.
    pub(super) fn see_pod(&mut self, uid: &str, place: Place, node: Option<&str>) {
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
                self.gone.remove(&before);
            }
        }
        if let Some(node) = node {
            self.node_of.insert(uid.to_owned(), node.to_owned());
            let pods = self.pods.entry(node.to_owned()).or_default();
            pods.insert(uid.to_owned(), place);
        }
    }

    /// The pods on a node.
    pub(super) fn pods_on(&self, node: &str) -> Vec<Place> {
        let pods = self.pods.get(node).into_iter().flatten();
        pods.map(|(_, place)| place.clone()).collect()
    }

    /// How a node is.
    pub(super) fn host(&self, node: &str) -> Host {
        match self.nodes.get(node) {
            Some(node) if is_node_ready(&node.object) => Host::Ready,
            Some(_) => Host::Silent,
            None if self.gone.contains(node) => Host::Gone,
            None => Host::Unknown,
        }
    }

    /// The address of a node.
    pub(super) fn address(&self, node: &str) -> Option<&str> {
        let node = self.nodes.get(node)?;
        at(&node.object, &["status", "addresses"])?
            .as_array()?
            .iter()
            .find(|a| a.get("type").and_then(Value::as_str) == Some("InternalIP"))?
            .get("address")?
            .as_str()
    }

    /// The node with the fewest pods of those that take a pod, or what keeps it off each.
    pub(super) fn choose(&self, pod: &Object) -> Result<&str, Vec<Obstacle>> {
        let mut obstacles = Vec::new();
        let mut best: Option<(usize, &str)> = None;
        for (name, node) in &self.nodes {
            match obstacle(pod, &node.object) {
                Some(obstacle) => obstacles.push(obstacle),
                None => {
                    let load = (self.pods.get(name).map_or(0, BTreeMap::len), name.as_str());
                    best = Some(best.map_or(load, |best| best.min(load)));
                }
            }
        }
        best.map(|(_, name)| name).ok_or(obstacles)
    }
}

/// The node that a pod is bound to.
pub(super) fn node_of(pod: &Object) -> Option<&str> {
    text(pod, &["spec", "nodeName"]).filter(|node| !node.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn node(name: &str, ready: &str, closed: bool) -> Arc<Stored> {
        let node = json!({
            "metadata": {"name": name}, "spec": {"unschedulable": closed},
            "status": {
                "conditions": [{"type": "Ready", "status": ready}],
                "addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "192.0.2.1"}],
            },
        });
        Arc::new(Stored::new(object(node), 1))
    }

    fn place(name: &str) -> Place {
        ("d".to_owned(), name.to_owned())
    }

    #[test]
    fn the_emptiest_node_that_may_is_chosen() {
        let mut hosts = Hosts::default();
        let pod = object(json!({}));
        assert_eq!(hosts.choose(&pod), Err(vec![]));
        for (name, ready, closed) in [
            ("a", "True", false),
            ("b", "True", false),
            ("c", "True", true),
            ("d", "False", false),
        ] {
            hosts.see_node(&node(name, ready, closed), false);
        }
        assert_eq!(hosts.choose(&pod), Ok("a"));
        hosts.see_pod("p", place("p"), Some("a"));
        assert_eq!(hosts.choose(&pod), Ok("b"));
        hosts.see_pod("p", place("p"), None);
        assert_eq!(hosts.choose(&pod), Ok("a"));
        hosts.see_node(&node("a", "True", true), false);
        hosts.see_node(&node("b", "Unknown", false), false);
        let found = hosts.choose(&pod).unwrap_err();
        assert_eq!(
            found,
            [
                Obstacle::Closed,
                Obstacle::Taint,
                Obstacle::Closed,
                Obstacle::Taint
            ]
        );
        assert_eq!(hosts.address("a"), Some("192.0.2.1"));
    }

    #[test]
    fn pods_learn_what_becomes_of_their_node() {
        let mut hosts = Hosts::default();
        assert_eq!(hosts.see_node(&node("a", "True", false), false), News::Back);
        hosts.see_pod("p", place("p"), Some("a"));
        assert_eq!(hosts.see_node(&node("a", "True", true), false), News::Other);
        assert_eq!(
            hosts.see_node(&node("a", "False", false), false),
            News::Lost
        );
        assert_eq!(hosts.host("a"), Host::Silent);
        assert_eq!(hosts.see_node(&node("a", "True", false), false), News::Back);
        assert_eq!(hosts.see_node(&node("a", "True", false), true), News::Gone);
        assert_eq!(hosts.host("a"), Host::Gone);
        assert_eq!(hosts.pods_on("a"), [place("p")]);
        let mut next = Hosts::default();
        next.see_pod("p", place("p"), Some("a"));
        next.succeed(&hosts);
        assert_eq!(next.host("a"), Host::Gone);
        hosts.see_pod("p", place("p"), None);
        assert_eq!(hosts.host("a"), Host::Unknown);
        assert!(hosts.pods.is_empty() && hosts.node_of.is_empty() && hosts.gone.is_empty());
    }
}
