//! Running pods answer: each has an address in 127.0.0.0/8 and serves HTTP on the TCP ports of its
//! containers, as if one program ran in all of them.
//!
//! A pod serves before its status says that it is running, until it is gone or its containers have
//! exited. Requests that it has begun to answer are finished.

mod respond;
mod server;

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::respond::PodProgram;
use self::server::{bind, serve};
use super::pod_lifecycle::{back_off, crashed, exited_with, restarted, restarts};
use super::pods::{node_name, phase};
use super::write::modify;
use crate::annotations;
use crate::clock;
use crate::object::{self, Object, at, is_deleting, items, string, text};
use crate::store::{Resource, Stored};
use crate::writer::Cluster;

/// How many ports a pod serves at most.
const PORTS: usize = 64;

/// The pods that serve, by uid.
#[derive(Debug)]
pub(super) struct PodServers {
    cluster: Arc<Cluster>,
    /// How long containers that have exited take to run again, at least.
    restart_delay: Duration,
    pods: HashMap<String, PodServer>,
}

#[derive(Debug)]
struct PodServer {
    program: Arc<PodProgram>,
    /// Stops the servers by being dropped.
    _stop: DropGuard,
}

impl PodServers {
    pub(super) fn new(cluster: Arc<Cluster>, restart_delay: Duration) -> Self {
        Self {
            cluster,
            restart_delay,
            pods: HashMap::new(),
        }
    }

    /// Has a pod serve at an address, unless it does.
    ///
    /// # Errors
    /// The operating system's; `AddrInUse` if another program has one of the ports.
    pub(super) fn start(&mut self, pod: &Object, ip: Ipv4Addr) -> io::Result<()> {
        let uid = object::uid(pod).to_owned();
        if self.pods.contains_key(&uid) {
            return Ok(());
        }
        let stop = CancellationToken::new();
        let program = Arc::new(PodProgram::new(
            object::namespace(pod),
            object::name(pod),
            node_name(pod).unwrap_or_default(),
            ip,
        ));
        program.set_ready(is_ready(pod));
        let ports = ports(pod);
        let listeners: io::Result<Vec<_>> = ports.iter().map(|port| bind(ip, *port)).collect();
        let process = PodProcess {
            cluster: Arc::clone(&self.cluster),
            restart_delay: self.restart_delay,
            uid: uid.clone(),
            program: Arc::clone(&program),
            ports,
        };
        tokio::spawn(process.run(listeners?, stop.clone()));
        let server = PodServer {
            program,
            _stop: stop.drop_guard(),
        };
        self.pods.insert(uid, server);
        Ok(())
    }

    /// Follows a pod that exists.
    pub(super) fn apply(&mut self, pod: &Stored) {
        let Some(server) = self.pods.get(pod.uid()) else {
            let ip = text(&pod.object, &["status", "podIP"]).map(str::parse);
            if phase(&pod.object) == Some("Running")
                && pod_ip(&pod.object).is_none()
                && let Some(Ok(ip)) = ip
                && Ipv4Addr::is_loopback(&ip)
                && let Err(error) = self.start(&pod.object, ip)
            {
                // One that was running when an earlier process ended.
                tracing::warn!(pod = pod.name, %ip, %error, "the pod cannot serve");
            }
            return;
        };
        server.program.set_ready(is_ready(&pod.object));
        if matches!(phase(&pod.object), Some("Succeeded" | "Failed")) {
            self.stop(pod.uid());
        }
    }

    pub(super) fn stop(&mut self, uid: &str) {
        self.pods.remove(uid);
    }

    pub(super) fn retain(&mut self, exists: impl Fn(&str) -> bool) {
        self.pods.retain(|uid, _| exists(uid));
    }
}

/// The address that an annotation gives a pod, whose containers the user runs.
pub(super) fn pod_ip(pod: &Object) -> Option<&str> {
    let ip = text(pod, &["metadata", "annotations", annotations::POD_IP])?;
    ip.parse::<std::net::IpAddr>().is_ok().then_some(ip)
}

fn is_ready(pod: &Object) -> bool {
    text(pod, &["metadata", "annotations", annotations::READY]) != Some("false")
}

/// The TCP ports of the containers, each once.
fn ports(pod: &Object) -> Vec<u16> {
    let containers = ["containers", "initContainers"].map(|list| items(pod, &["spec", list]));
    let ports = containers.into_iter().flatten().filter_map(|container| {
        let ports = container.get("ports").and_then(Value::as_array)?;
        let of_tcp = |port: &&Value| matches!(string(port, "protocol"), "" | "TCP");
        let number = |port: &Value| port.get("containerPort")?.as_u64()?.try_into().ok();
        Some(ports.iter().filter(of_tcp).filter_map(number))
    });
    let mut ports: Vec<u16> = ports.flatten().filter(|port| *port > 0).collect();
    ports.sort_unstable();
    ports.dedup();
    ports.truncate(PORTS);
    ports
}

/// The program in the containers of a pod.
#[derive(Debug)]
struct PodProcess {
    cluster: Arc<Cluster>,
    restart_delay: Duration,
    uid: String,
    program: Arc<PodProgram>,
    ports: Vec<u16>,
}

impl PodProcess {
    /// Serves until `stop`, and again after each exit that a client has asked for.
    async fn run(self, mut listeners: Vec<tokio::net::TcpListener>, stop: CancellationToken) {
        loop {
            let exit = stop.child_token();
            let exits = self.program.exits(exit.clone());
            let servers = listeners
                .drain(..)
                .map(|listener| serve(listener, Arc::clone(&self.program), exit.clone()));
            futures::future::join_all(servers).await;
            exit.cancelled().await;
            let Some(code) = exits.code().filter(|_| !stop.is_cancelled()) else {
                return;
            };
            let Some(delay) = self.exited(code) else {
                return;
            };
            tokio::select! {
                () = sleep(delay) => {}
                () = stop.cancelled() => return,
            }
            let ip = self.program.ip();
            let bound: io::Result<Vec<_>> = self.ports.iter().map(|port| bind(ip, *port)).collect();
            match bound {
                Ok(bound) => listeners = bound,
                Err(error) => {
                    let pod = self.program.name();
                    tracing::warn!(pod, %error, "the pod cannot serve again");
                    return;
                }
            }
            let now = clock::now();
            self.modify(|pod| restarted(pod, &now));
        }
    }

    /// Stores the exit of the containers. Returns when they run again, if they do.
    fn exited(&self, code: i64) -> Option<Duration> {
        let now = clock::now();
        self.modify(|pod| match restarts(pod, code) {
            true => crashed(pod, code, &now),
            false => exited_with(pod, code, &now),
        });
        let (namespace, name) = (self.program.namespace(), self.program.name());
        let pod = self.cluster.store.get(&pods(), namespace, name)?;
        let runs_again = pod.uid() == self.uid && phase(&pod.object) == Some("Running");
        runs_again.then(|| self.restart_delay.max(back_off(&pod.object)))
    }

    /// Changes the pod, if it is running.
    fn modify(&self, change: impl Fn(&Object) -> Object) {
        let key = (self.program.namespace(), self.program.name());
        modify(&self.cluster, &pods(), key, |pod| {
            let is_running = object::uid(pod) == self.uid
                && phase(pod) == Some("Running")
                && !(is_deleting(pod) && at(pod, &["metadata", "finalizers"]).is_none());
            is_running.then(|| change(pod))
        });
    }
}

fn pods() -> Resource {
    Resource::new("", "pods")
}
