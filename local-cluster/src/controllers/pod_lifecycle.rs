//! Acts as the scheduler and as the kubelet of every node; containers are not run.

mod node_index;
mod phase;
mod pod_ips;
mod pod_status;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use self::node_index::{NodeIndex, NodeTransition, PodKey};
use self::phase::{NodeState, PodAction, ReadinessTrigger, bound, next_action, unbound};
use self::pod_ips::{FIRST_IP, PodIps};
use self::pod_status::{ReadinessInputs, exited, started, with_readiness};
use super::pod_traffic::{PodServers, pod_ip};
use super::pods::{has_ended, node_name, phase};
use super::queues::DelayQueue;
use super::run::Controller;
use super::scheduling::unschedulable;
use super::write::{delete, modify};
use crate::addresses::FIRST_LOCAL_POD;
use crate::clock;
use crate::object::{self, Object, at, is_deleting, items, text};
use crate::options::LocalClusterOptions;
use crate::rules::DeleteOptions;
use crate::store::{EventType, Resource, StoreEvent, Stored};
use crate::writer::Cluster;

/// Longer than any process runs, and short enough to be added to a time.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// The number of addresses that are tried for a pod that serves.
const ADDRESS_TRIES: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PodTask {
    namespace: String,
    name: String,
    uid: String,
    action: PodAction,
}

/// Pods, by uid, their nodes, and what to do with them when.
#[derive(Debug)]
pub(super) struct PodLifecycle {
    pods: Resource,
    nodes: Resource,
    ready_delay: Duration,
    run_time: Duration,
    termination_delay: Duration,
    node_index: NodeIndex,
    queue: DelayQueue<PodTask>,
    /// Pods that fit no node, until a node changes.
    unschedulable: BTreeMap<String, PodTask>,
    pod_ips: PodIps,
    /// `None` if pods serve nothing.
    servers: Option<PodServers>,
    readiness: HashMap<String, ReadinessInputs>,
    /// Pods whose node has changed, and what that does to their readiness.
    affected: BTreeSet<(PodKey, Option<ReadinessTrigger>)>,
}

impl PodLifecycle {
    pub(super) fn new(options: &LocalClusterOptions) -> Self {
        let serve = options.pod_traffic;
        Self {
            servers: serve.then(PodServers::default),
            pods: Resource::new("", "pods"),
            nodes: Resource::new("", "nodes"),
            ready_delay: options.pod_ready_delay,
            run_time: options.pod_run_time,
            termination_delay: options.pod_termination_delay,
            node_index: NodeIndex::default(),
            queue: DelayQueue::default(),
            unschedulable: BTreeMap::new(),
            pod_ips: PodIps::new(if serve { FIRST_LOCAL_POD } else { FIRST_IP }),
            readiness: HashMap::new(),
            affected: BTreeSet::new(),
        }
    }

    fn apply_node(&mut self, node: &Arc<Stored>, deleted: bool) {
        let transition = self.node_index.apply_node(node, deleted);
        if transition != NodeTransition::Other {
            let trigger = match transition {
                NodeTransition::Ready => Some(ReadinessTrigger::Containers),
                NodeTransition::Unreachable => Some(ReadinessTrigger::NodeUnreachable),
                NodeTransition::Deleted | NodeTransition::Other => None,
            };
            let pods = self.node_index.pods_on(&node.name);
            self.affected
                .extend(pods.into_iter().map(|pod| (pod, trigger)));
        }
        for task in std::mem::take(&mut self.unschedulable).into_values() {
            self.queue.set_earlier(task, Instant::now());
        }
    }

    fn apply_pod(&mut self, pod: &Stored, deleted: bool) {
        let uid = pod.uid();
        let key = (pod.namespace.clone(), pod.name.clone());
        if deleted {
            self.pod_ips.release(uid);
            self.servers.iter_mut().for_each(|it| it.stop(uid));
            self.unschedulable.remove(uid);
            self.readiness.remove(uid);
            self.node_index.apply_pod(uid, key, None);
            return;
        }
        let ip = text(&pod.object, &["status", "podIP"]);
        if let Some(ip) = ip.and_then(|ip| ip.parse::<Ipv4Addr>().ok()) {
            self.pod_ips.insert(uid, ip);
        }
        self.servers.iter_mut().for_each(|it| it.apply(pod));
        self.node_index.apply_pod(uid, key, node_name(&pod.object));
        let inputs = ReadinessInputs::of(&pod.object);
        let before = self.readiness.insert(uid.to_owned(), inputs.clone());
        if let Some(trigger) = before.and_then(|before| inputs.trigger(&before)) {
            self.schedule(pod, PodAction::UpdateReadiness(trigger));
        }
        if let Some(action) = next_action(&pod.object, self.node_state(&pod.object)) {
            self.schedule(pod, action);
        }
    }

    fn node_state(&self, pod: &Object) -> NodeState {
        node_name(pod).map_or(NodeState::Unknown, |node| self.node_index.state(node))
    }

    fn schedule(&mut self, pod: &Stored, action: PodAction) {
        let delay = match action {
            PodAction::Bind | PodAction::UpdateReadiness(_) => Duration::ZERO,
            PodAction::Start => self.ready_delay,
            PodAction::Exit => self.run_time,
            PodAction::Remove if is_deleting(&pod.object) => {
                self.termination_delay.min(grace_period(&pod.object))
            }
            PodAction::Remove => self.termination_delay,
        };
        let task = PodTask {
            namespace: pod.namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid().to_owned(),
            action,
        };
        self.queue
            .set_earlier(task, Instant::now() + delay.min(FOREVER));
    }

    fn perform(&mut self, cluster: &Cluster, task: PodTask) {
        let Some(pod) = cluster.store.get(&self.pods, &task.namespace, &task.name) else {
            return;
        };
        let node = self.node_state(&pod.object);
        let is_due = |pod: &Object| {
            object::uid(pod) == task.uid
                && match task.action {
                    PodAction::UpdateReadiness(trigger) => updates_readiness(pod, node, trigger),
                    action => next_action(pod, node) == Some(action),
                }
        };
        if !is_due(&pod.object) {
            return;
        }
        let now = clock::now();
        let change = |to: &dyn Fn(&Object) -> Object| {
            let key = (task.namespace.as_str(), task.name.as_str());
            modify(cluster, &self.pods, key, |pod| is_due(pod).then(|| to(pod)));
        };
        match task.action {
            PodAction::Bind => {
                let node = self.choose_node(&pod.object);
                change(&|pod| match &node {
                    Ok(node) => bound(pod, node, &now),
                    Err((reason, message)) => unbound(pod, reason, message, &now),
                });
                match node {
                    // Counted before its event arrives, so that the next pod takes another node.
                    Ok(node) => {
                        let key = (task.namespace, task.name);
                        self.node_index.apply_pod(&task.uid, key, Some(&node));
                    }
                    Err(_) => _ = self.unschedulable.insert(task.uid.clone(), task),
                }
            }
            PodAction::Start => {
                let (ips, servers) = (&mut self.pod_ips, &mut self.servers);
                let Some(ip) = start_serving(ips, servers, &pod.object) else {
                    tracing::warn!(pod = task.name, "all pod addresses are in use");
                    return;
                };
                let host_ip = node_name(&pod.object).and_then(|node| self.node_index.address(node));
                let host_ip = host_ip.unwrap_or("127.0.0.1");
                change(&|pod| started(pod, &ip, host_ip, &now));
            }
            PodAction::UpdateReadiness(trigger) => {
                change(&|pod| with_readiness(pod, trigger, &now));
            }
            PodAction::Exit => change(&|pod| exited(pod, &now)),
            PodAction::Remove => {
                if let Some(kind) = cluster.registry.builtin("", "pods") {
                    let options = DeleteOptions {
                        grace_seconds: Some(0),
                        ..DeleteOptions::default()
                    };
                    delete(cluster, &kind, &pod, options);
                }
            }
        }
    }

    /// The node for a pod, or reason and message of its condition.
    fn choose_node(&self, pod: &Object) -> Result<String, (&'static str, String)> {
        if items(pod, &["spec", "schedulingGates"]).next().is_some() {
            let message = "Scheduling is blocked due to non-empty scheduling gates";
            return Err(("SchedulingGated", message.to_owned()));
        }
        let node = self.node_index.choose(pod).map(str::to_owned);
        node.map_err(|reasons| ("Unschedulable", unschedulable(&reasons)))
    }
}

/// Allocates a pod's address, at which it serves, if pods do.
fn start_serving(
    pod_ips: &mut PodIps,
    servers: &mut Option<PodServers>,
    pod: &Object,
) -> Option<String> {
    if let Some(ip) = pod_ip(pod) {
        return Some(ip.to_owned());
    }
    let uid = object::uid(pod);
    for _ in 0..ADDRESS_TRIES {
        let ip = pod_ips.allocate(uid)?;
        let Some(servers) = servers else {
            return Some(ip.to_string());
        };
        match servers.start(pod, ip) {
            Ok(()) => return Some(ip.to_string()),
            // Another cluster may run on this machine.
            Err(error) if error.kind() == ErrorKind::AddrInUse => pod_ips.release(uid),
            Err(error) => {
                let pod = object::name(pod);
                tracing::warn!(pod, %ip, %error, "the pod cannot serve");
                return Some(ip.to_string());
            }
        }
    }
    None
}

/// The readiness of a pod on a node in this state follows from the trigger.
fn updates_readiness(pod: &Object, node: NodeState, trigger: ReadinessTrigger) -> bool {
    let expected = match trigger {
        ReadinessTrigger::NodeUnreachable => NodeState::Unreachable,
        ReadinessTrigger::Gates | ReadinessTrigger::Containers => NodeState::Ready,
    };
    node == expected && phase(pod) == Some("Running")
}

impl Controller for PodLifecycle {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        // The queue stays: each task is checked when it is due.
        let before = std::mem::take(&mut self.node_index);
        self.pod_ips.clear();
        self.unschedulable.clear();
        let uids: BTreeSet<&str> = objects.iter().map(|(_, o)| o.uid()).collect();
        self.readiness.retain(|uid, _| uids.contains(uid.as_str()));
        let exists = |uid: &str| uids.contains(uid);
        self.servers.iter_mut().for_each(|it| it.retain(exists));
        let (pods, nodes) = (self.pods.clone(), self.nodes.clone());
        let of = |resource: Resource| objects.iter().filter(move |(r, _)| *r == resource);
        of(pods.clone()).for_each(|(_, pod)| {
            let key = (pod.namespace.clone(), pod.name.clone());
            self.node_index
                .apply_pod(pod.uid(), key, node_name(&pod.object));
        });
        self.node_index.inherit_deleted(&before);
        of(nodes).for_each(|(_, node)| _ = self.node_index.apply_node(node, false));
        of(pods).for_each(|(_, pod)| self.apply_pod(pod, false));
    }

    fn apply(&mut self, event: &StoreEvent) {
        let deleted = event.kind == EventType::Deleted;
        if event.resource == self.nodes {
            self.apply_node(&event.object, deleted);
        } else if event.resource == self.pods {
            self.apply_pod(&event.object, deleted);
        }
    }

    async fn reconcile(&mut self, cluster: &Cluster, now: Instant) -> Option<Instant> {
        for ((namespace, name), trigger) in std::mem::take(&mut self.affected) {
            let Some(pod) = cluster.store.get(&self.pods, &namespace, &name) else {
                continue;
            };
            if let Some(trigger) = trigger.filter(|_| !has_ended(&pod.object)) {
                self.schedule(&pod, PodAction::UpdateReadiness(trigger));
            }
            self.apply_pod(&pod, false);
        }
        while let Some(task) = self.queue.pop(now) {
            self.perform(cluster, task);
        }
        self.queue.next()
    }
}

fn grace_period(pod: &Object) -> Duration {
    let seconds = at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_u64);
    Duration::from_secs(seconds.unwrap_or(0).min(u64::from(u32::MAX)))
}
