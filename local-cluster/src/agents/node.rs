//! Plays scheduler and kubelet for all nodes.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::phase::{Step, bound, next_step, started};
use super::run::{Agent, rewrite};
use crate::clock;
use crate::object::{self, Object, at, condition, text};
use crate::options::LocalClusterOptions;
use crate::rules::DeleteOptions;
use crate::store::{Change, ChangeKind, Resource, Stored};
use crate::writer::Cluster;

/// Pods get addresses from here on.
const FIRST_IP: Ipv4Addr = Ipv4Addr::new(10, 244, 0, 2);
const IP_COUNT: u32 = 65_000;

/// Longer than any process lives, and short enough to be added to a time.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A step to be taken at its time.
#[derive(Clone, Debug)]
struct Task {
    namespace: String,
    name: String,
    uid: String,
    step: Step,
}

/// The node agent.
#[derive(Debug)]
pub(super) struct NodeAgent {
    pods: Resource,
    nodes: Resource,
    ready_delay: Duration,
    termination_delay: Duration,
    /// Node name and address of the nodes that take pods.
    ready_nodes: BTreeMap<String, String>,
    due: BTreeMap<(Instant, u64), Task>,
    /// Where in `due` the next step of a pod is.
    waiting: HashMap<(String, Step), (Instant, u64)>,
    /// Pods that no node could take.
    unbound: Vec<Task>,
    addresses: HashMap<Ipv4Addr, String>,
    /// Counts up: tasks, nodes in turn, addresses in turn.
    sequence: u64,
    next_node: usize,
    next_ip: u32,
}

impl NodeAgent {
    pub(super) fn new(options: &LocalClusterOptions) -> Self {
        Self {
            pods: Resource::new("", "pods"),
            nodes: Resource::new("", "nodes"),
            ready_delay: options.pod_ready_delay,
            termination_delay: options.pod_termination_delay,
            ready_nodes: BTreeMap::new(),
            due: BTreeMap::new(),
            waiting: HashMap::new(),
            unbound: Vec::new(),
            addresses: HashMap::new(),
            sequence: 0,
            next_node: 0,
            next_ip: 0,
        }
    }

    fn see_node(&mut self, node: &Stored, gone: bool) {
        let ready = condition(&node.object, "Ready").and_then(|c| c.get("status")?.as_str());
        let closed = at(&node.object, &["spec", "unschedulable"]) == Some(&Value::Bool(true));
        if gone || closed || ready != Some("True") {
            self.ready_nodes.remove(&node.name);
            return;
        }
        let address = internal_ip(&node.object).unwrap_or_default();
        self.ready_nodes.insert(node.name.clone(), address);
        for task in std::mem::take(&mut self.unbound) {
            self.schedule(Instant::now(), task);
        }
    }

    fn see_pod(&mut self, pod: &Stored, gone: bool) {
        if gone {
            self.addresses.retain(|_, uid| uid != pod.uid());
            self.unbound.retain(|task| task.uid != pod.uid());
            return;
        }
        if let Some(ip) = text(&pod.object, &["status", "podIP"]).and_then(|ip| ip.parse().ok()) {
            self.addresses.insert(ip, pod.uid().to_owned());
        }
        let Some(step) = next_step(&pod.object) else {
            return;
        };
        let delay = match step {
            Step::Bind => Duration::ZERO,
            Step::Start => self.ready_delay,
            Step::End => self.termination_delay.min(grace(&pod.object)),
        };
        let task = Task {
            namespace: pod.namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid().to_owned(),
            step,
        };
        self.schedule(Instant::now() + delay.min(FOREVER), task);
    }

    /// Plans a step; one that is planned already can only come earlier.
    fn schedule(&mut self, at: Instant, task: Task) {
        let key = (task.uid.clone(), task.step);
        if let Some(planned) = self.waiting.get(&key) {
            if planned.0 <= at {
                return;
            }
            self.due.remove(planned);
        }
        self.sequence += 1;
        self.waiting.insert(key, (at, self.sequence));
        self.due.insert((at, self.sequence), task);
    }

    fn take(&mut self, cluster: &Cluster, task: Task) {
        let Some(pod) = cluster.store.get(&self.pods, &task.namespace, &task.name) else {
            return;
        };
        if pod.uid() != task.uid || next_step(&pod.object) != Some(task.step) {
            return;
        }
        let place = (task.namespace.as_str(), task.name.as_str());
        let still =
            |pod: &Object| object::uid(pod) == task.uid && next_step(pod) == Some(task.step);
        match task.step {
            Step::Bind => match self.choose_node() {
                None => self.unbound.push(task.clone()),
                Some(node) => rewrite(cluster, &self.pods, place, |pod| {
                    still(pod).then(|| bound(pod, &node, &clock::now()))
                }),
            },
            Step::Start => {
                let Some(ip) = self.choose_ip(&task.uid) else {
                    tracing::warn!(pod = task.name, "no pod address is left");
                    return;
                };
                let node = text(&pod.object, &["spec", "nodeName"]).unwrap_or_default();
                let host = self.ready_nodes.get(node).cloned();
                let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
                rewrite(cluster, &self.pods, place, |pod| {
                    still(pod).then(|| started(pod, &ip.to_string(), &host, &clock::now()))
                });
            }
            Step::End => {
                let Some(kind) = cluster.registry.builtin("", "pods") else {
                    return;
                };
                let options = DeleteOptions {
                    grace_seconds: Some(0),
                    uid: Some(task.uid.clone()),
                    ..DeleteOptions::default()
                };
                // Gone already, or another pod by that name: either way nothing is left to do.
                let _ = cluster.delete(&kind, place.0, place.1, &options);
            }
        }
    }

    fn choose_node(&mut self) -> Option<String> {
        let count = self.ready_nodes.len();
        let index = self.next_node.checked_rem(count)?;
        self.next_node = self.next_node.wrapping_add(1);
        self.ready_nodes.keys().nth(index).cloned()
    }

    /// The next address in turn that no pod has, so that one is not soon used again.
    fn choose_ip(&mut self, uid: &str) -> Option<Ipv4Addr> {
        for _ in 0..IP_COUNT {
            let ip = Ipv4Addr::from(u32::from(FIRST_IP) + self.next_ip);
            self.next_ip = (self.next_ip + 1) % IP_COUNT;
            if let Entry::Vacant(free) = self.addresses.entry(ip) {
                free.insert(uid.to_owned());
                return Some(ip);
            }
        }
        None
    }
}

impl Agent for NodeAgent {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        self.ready_nodes.clear();
        self.addresses.clear();
        self.unbound.clear();
        for (resource, stored) in &objects {
            if *resource == self.nodes {
                self.see_node(stored, false);
            } else if *resource == self.pods {
                self.see_pod(stored, false);
            }
        }
    }

    fn observe(&mut self, change: &Change) {
        let gone = change.kind == ChangeKind::Deleted;
        if change.resource == self.nodes {
            self.see_node(&change.object, gone);
        } else if change.resource == self.pods {
            self.see_pod(&change.object, gone);
        }
    }

    fn act(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        while let Some(entry) = self.due.first_entry() {
            if entry.key().0 > now {
                return Some(entry.key().0);
            }
            let task = entry.remove();
            self.waiting.remove(&(task.uid.clone(), task.step));
            self.take(cluster, task);
        }
        None
    }
}

fn grace(pod: &Object) -> Duration {
    let seconds = at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_u64);
    Duration::from_secs(seconds.unwrap_or(0).min(u64::from(u32::MAX)))
}

fn internal_ip(node: &Object) -> Option<String> {
    at(node, &["status", "addresses"])?
        .as_array()?
        .iter()
        .find(|a| a.get("type").and_then(Value::as_str) == Some("InternalIP"))
        .and_then(|a| Some(a.get("address")?.as_str()?.to_owned()))
}
