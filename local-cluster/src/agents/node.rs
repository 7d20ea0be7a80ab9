//! Plays scheduler and kubelet for all nodes.

mod addresses;
mod hosts;
mod queue;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use self::addresses::Addresses;
use self::hosts::{Hosts, News, Place, node_of};
use self::queue::{Queue, Task};
use super::kubelet::{Inputs, exited, judged, restarts, started};
use super::phase::{Cause, Host, Step, bound, next_step, unbound};
use super::placement::unschedulable;
use super::pods::has_ended;
use super::run::{Agent, rewrite};
use crate::clock;
use crate::object::{self, Object, at, is_deleting, text};
use crate::options::LocalClusterOptions;
use crate::rules::DeleteOptions;
use crate::store::{Change, ChangeKind, Resource, Stored};
use crate::writer::Cluster;

/// Longer than any process lives, and short enough to be added to a time.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How long containers rest that failed, at first and at most.
const BACK_OFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(300)];

/// The node agent.
#[derive(Debug)]
pub(super) struct NodeAgent {
    pods: Resource,
    nodes: Resource,
    ready_delay: Duration,
    run_time: Duration,
    termination_delay: Duration,
    hosts: Hosts,
    queue: Queue,
    /// Pods that no node could take, by uid.
    unbound: BTreeMap<String, Task>,
    addresses: Addresses,
    /// What the readiness of pods followed from when it was last looked at, by uid.
    inputs: HashMap<String, Inputs>,
    /// Pods to be looked at again, as their node has changed, and why.
    again: BTreeSet<(Place, Option<Cause>)>,
}

impl NodeAgent {
    pub(super) fn new(options: &LocalClusterOptions) -> Self {
        Self {
            pods: Resource::new("", "pods"),
            nodes: Resource::new("", "nodes"),
            ready_delay: options.pod_ready_delay,
            run_time: options.pod_run_time,
            termination_delay: options.pod_termination_delay,
            hosts: Hosts::default(),
            queue: Queue::default(),
            unbound: BTreeMap::new(),
            addresses: Addresses::default(),
            inputs: HashMap::new(),
            again: BTreeSet::new(),
        }
    }

    fn see_node(&mut self, node: &Arc<Stored>, gone: bool) {
        let cause = match self.hosts.see_node(node, gone) {
            News::Back => Some(Cause::Containers),
            News::Lost => Some(Cause::NodeLost),
            News::Gone => None,
            News::Other => return self.try_again(),
        };
        let pods = self.hosts.pods_on(&node.name);
        self.again
            .extend(pods.into_iter().map(|place| (place, cause)));
        self.try_again();
    }

    /// Nodes have changed: pods that none took may find one.
    fn try_again(&mut self) {
        for task in std::mem::take(&mut self.unbound).into_values() {
            self.queue.plan(Instant::now(), task);
        }
    }

    fn see_pod(&mut self, pod: &Stored, gone: bool) {
        let uid = pod.uid();
        let place = (pod.namespace.clone(), pod.name.clone());
        if gone {
            self.addresses.forget(uid);
            self.unbound.remove(uid);
            self.inputs.remove(uid);
            self.hosts.see_pod(uid, place, None);
            return;
        }
        let ip = text(&pod.object, &["status", "podIP"]);
        if let Some(ip) = ip.and_then(|ip| ip.parse::<Ipv4Addr>().ok()) {
            self.addresses.see(uid, ip);
        }
        self.hosts.see_pod(uid, place, node_of(&pod.object));
        let inputs = Inputs::of(&pod.object);
        let before = self.inputs.insert(uid.to_owned(), inputs.clone());
        if let Some(cause) = before.and_then(|before| inputs.cause(&before)) {
            self.plan(pod, Step::Judge(cause));
        }
        if let Some(step) = next_step(&pod.object, self.host(&pod.object)) {
            self.plan(pod, step);
        }
    }

    fn host(&self, pod: &Object) -> Host {
        node_of(pod).map_or(Host::Unknown, |node| self.hosts.host(node))
    }

    fn plan(&mut self, pod: &Stored, step: Step) {
        let delay = match step {
            Step::Bind | Step::Judge(_) => Duration::ZERO,
            Step::Start => self.ready_delay,
            Step::Exit => self.run_time.max(rest(&pod.object)),
            Step::End if is_deleting(&pod.object) => self.termination_delay.min(grace(&pod.object)),
            Step::End => self.termination_delay,
        };
        let task = Task {
            namespace: pod.namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid().to_owned(),
            step,
        };
        self.queue.plan(Instant::now() + delay.min(FOREVER), task);
    }

    fn take(&mut self, cluster: &Cluster, task: Task) {
        let Some(pod) = cluster.store.get(&self.pods, &task.namespace, &task.name) else {
            return;
        };
        let host = self.host(&pod.object);
        let is_due = |pod: &Object| {
            object::uid(pod) == task.uid
                && match task.step {
                    Step::Judge(cause) => is_judged(pod, host, cause),
                    step => next_step(pod, host) == Some(step),
                }
        };
        if !is_due(&pod.object) {
            return;
        }
        let place = (task.namespace.as_str(), task.name.as_str());
        let now = clock::now();
        let change = |to: &dyn Fn(&Object) -> Object| {
            rewrite(cluster, &self.pods, place, |pod| {
                is_due(pod).then(|| to(pod))
            });
        };
        match task.step {
            Step::Bind => self.bind(cluster, &task, &pod),
            Step::Start => {
                let Some(ip) = self.addresses.choose(&task.uid) else {
                    tracing::warn!(pod = task.name, "no pod address is left");
                    return;
                };
                let address = node_of(&pod.object).and_then(|node| self.hosts.address(node));
                let (ip, address) = (ip.to_string(), address.unwrap_or("127.0.0.1"));
                change(&|pod| started(pod, &ip, address, &now));
            }
            Step::Judge(cause) => change(&|pod| judged(pod, cause, &now)),
            Step::Exit => change(&|pod| exited(pod, &now)),
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

    fn bind(&mut self, cluster: &Cluster, task: &Task, pod: &Stored) {
        let gates = at(&pod.object, &["spec", "schedulingGates"]).and_then(Value::as_array);
        let chosen = if gates.is_some_and(|gates| !gates.is_empty()) {
            let message = "Scheduling is blocked due to non-empty scheduling gates";
            Err(("SchedulingGated", message.to_owned()))
        } else {
            let chosen = self.hosts.choose(&pod.object).map(str::to_owned);
            chosen.map_err(|obstacles| ("Unschedulable", unschedulable(&obstacles)))
        };
        let now = clock::now();
        let place = (task.namespace.as_str(), task.name.as_str());
        rewrite(cluster, &self.pods, place, |pod| {
            let is_due =
                object::uid(pod) == task.uid && next_step(pod, Host::Unknown) == Some(Step::Bind);
            is_due.then(|| match &chosen {
                Ok(node) => bound(pod, node, &now),
                Err((reason, message)) => unbound(pod, reason, message, &now),
            })
        });
        match chosen {
            // Counted at once, so that the next pod goes elsewhere.
            Ok(node) => {
                let place = (task.namespace.clone(), task.name.clone());
                self.hosts.see_pod(&task.uid, place, Some(&node));
            }
            Err(_) => _ = self.unbound.insert(task.uid.clone(), task.clone()),
        }
    }
}

/// Whether a pod's readiness is for its node to judge.
fn is_judged(pod: &Object, host: Host, cause: Cause) -> bool {
    let wanted = match cause {
        Cause::NodeLost => Host::Silent,
        Cause::Gates | Cause::Containers => Host::Ready,
    };
    host == wanted && text(pod, &["status", "phase"]) == Some("Running")
}

impl Agent for NodeAgent {
    fn reset(&mut self, objects: Vec<(Resource, Arc<Stored>)>) {
        // What was planned stays planned, and is checked when its time comes.
        let before = std::mem::take(&mut self.hosts);
        self.addresses = Addresses::default();
        self.unbound.clear();
        let known: BTreeSet<&str> = objects.iter().map(|(_, o)| o.uid()).collect();
        self.inputs.retain(|uid, _| known.contains(uid.as_str()));
        let (pods, nodes) = (self.pods.clone(), self.nodes.clone());
        let of = |wanted: Resource| objects.iter().filter(move |(r, _)| *r == wanted);
        of(pods.clone()).for_each(|(_, pod)| {
            let place = (pod.namespace.clone(), pod.name.clone());
            self.hosts.see_pod(pod.uid(), place, node_of(&pod.object));
        });
        self.hosts.succeed(&before);
        of(nodes).for_each(|(_, node)| _ = self.hosts.see_node(node, false));
        of(pods).for_each(|(_, pod)| self.see_pod(pod, false));
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
        for ((namespace, name), cause) in std::mem::take(&mut self.again) {
            let Some(pod) = cluster.store.get(&self.pods, &namespace, &name) else {
                continue;
            };
            if let Some(cause) = cause.filter(|_| !has_ended(&pod.object)) {
                self.plan(&pod, Step::Judge(cause));
            }
            self.see_pod(&pod, false);
        }
        while let Some(task) = self.queue.take(now) {
            self.take(cluster, task);
        }
        self.queue.next()
    }
}

fn grace(pod: &Object) -> Duration {
    let seconds = at(pod, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_u64);
    Duration::from_secs(seconds.unwrap_or(0).min(u64::from(u32::MAX)))
}

/// How long containers rest before they run, and fail, again.
fn rest(pod: &Object) -> Duration {
    let [first, longest] = BACK_OFF;
    match u32::try_from(restarts(pod)) {
        Ok(0) | Err(_) => Duration::ZERO,
        Ok(count) => first.saturating_mul(1 << (count - 1).min(16)).min(longest),
    }
}
