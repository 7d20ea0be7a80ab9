//! Running pods answer: each has an address in 127.0.0.0/8 and serves HTTP on the TCP ports of its
//! containers, as if one program ran in all of them.
//!
//! A pod serves before its status says that it is running, until it is gone or its containers have
//! exited. Requests that it has begun to answer are finished.

mod server;

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio_util::sync::{CancellationToken, DropGuard};

use self::server::{PodProgram, bind, serve};
use super::pods::{has_ended, phase};
use crate::addresses::protocol;
use crate::annotations;
use crate::object::{self, Object, items, items_in, text};
use crate::store::Stored;

/// The largest number of ports of a pod.
const PORTS: usize = 64;

/// The pods that serve, by uid.
#[derive(Debug, Default)]
pub(super) struct PodServers(HashMap<String, PodServer>);

#[derive(Debug)]
struct PodServer {
    program: Arc<PodProgram>,
    /// Stops the servers by being dropped.
    _stop: DropGuard,
}

impl PodServers {
    /// Has a pod serve at an address, unless it does.
    ///
    /// # Errors
    /// The operating system's; `AddrInUse` if another program has one of the ports.
    pub(super) fn start(&mut self, pod: &Object, ip: Ipv4Addr) -> io::Result<()> {
        let uid = object::uid(pod);
        if self.0.contains_key(uid) {
            return Ok(());
        }
        let program = Arc::new(PodProgram::new(pod));
        program.set_ready(is_ready(pod));
        let listeners: io::Result<Vec<_>> =
            ports(pod).into_iter().map(|port| bind(ip, port)).collect();
        let stop = CancellationToken::new();
        for listener in listeners? {
            tokio::spawn(serve(listener, Arc::clone(&program), stop.clone()));
        }
        let server = PodServer {
            program,
            _stop: stop.drop_guard(),
        };
        self.0.insert(uid.to_owned(), server);
        Ok(())
    }

    /// Follows a pod that exists.
    pub(super) fn apply(&mut self, pod: &Stored) {
        let Some(server) = self.0.get(pod.uid()) else {
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
        if has_ended(&pod.object) {
            self.stop(pod.uid());
        }
    }

    pub(super) fn stop(&mut self, uid: &str) {
        self.0.remove(uid);
    }

    pub(super) fn retain(&mut self, exists: impl Fn(&str) -> bool) {
        self.0.retain(|uid, _| exists(uid));
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
    let ports = containers.into_iter().flatten().flat_map(|container| {
        let ports = items_in(container, "ports").filter(|port| protocol(port) == "TCP");
        ports.filter_map(|port| port.get("containerPort")?.as_u64()?.try_into().ok())
    });
    let mut ports: Vec<u16> = ports.filter(|port| *port > 0).collect();
    ports.sort_unstable();
    ports.dedup();
    ports.truncate(PORTS);
    ports
}
