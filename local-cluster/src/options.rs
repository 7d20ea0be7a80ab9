//! How a local cluster is set up.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// A node that exists from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// The node's name.
    pub name: String,
    /// Its `InternalIP`.
    pub address: IpAddr,
}

/// How a local cluster is set up. Start from [`Default`] and change what matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalClusterOptions {
    /// From a pod's binding to its being `Running` and `Ready`.
    pub pod_ready_delay: Duration,
    /// From a running pod's deletion to its end; never longer than its grace period.
    pub pod_termination_delay: Duration,
    /// How long the containers of a pod run that does not start them anew: one with the restart
    /// policy `Never` or `OnFailure`, as Jobs have.
    pub pod_run_time: Duration,
    /// The nodes that exist from the start.
    pub nodes: Vec<NodeSpec>,
    /// Whether pods are bound to nodes and run. Without, they stay as clients leave them, like on a
    /// cluster without scheduler and kubelets: a pod with a node that is deleted waits for ever,
    /// unless it is given no grace.
    pub run_pods: bool,
    /// How many changes are kept for each resource, as long as their objects take no more than 8 MiB
    /// as JSON. A watch that asks for an older version, or falls further behind, is told
    /// `410 Expired`.
    pub event_history: usize,
    /// Where the services are that admission webhooks name, as `name.namespace.svc` to `host:port`:
    /// there is no service network here. The certificate must be valid for the service's name.
    pub service_addresses: BTreeMap<String, String>,
    /// Where the cluster is kept, so that it outlives its process; `None` keeps it in memory only.
    ///
    /// The directory is made when it is missing, and one process at a time has it. Every write is
    /// given to the system before anybody can see it: what was acknowledged survives the end of the
    /// process, also by `kill -9`. The system writes to the medium in its own time. So a power loss or
    /// a crash of the machine can cost the last writes, those since about 4 MB of writes ago at most;
    /// what is left then is the cluster as it was at one moment, and no version is given twice.
    ///
    /// A write that the disk does not take, because it is full, read-only or gone, is answered with
    /// `500 InternalError`, and nothing changes.
    ///
    /// After a restart, what was there is there, and agents go on where they were. Versions go on
    /// growing; watches from, and lists at, versions from before are told `410 Expired`. Namespaces
    /// that every cluster has are made again if they were deleted, and so is the service
    /// `kubernetes`. Nodes are not: of [`Self::nodes`], those are made that were never made before.
    pub data_dir: Option<PathBuf>,
}

impl Default for LocalClusterOptions {
    fn default() -> Self {
        let node = |number: u8| NodeSpec {
            name: format!("node-{number}"),
            address: IpAddr::V4(Ipv4Addr::new(192, 168, 100, 10 + number)),
        };
        Self {
            pod_ready_delay: Duration::from_millis(300),
            pod_termination_delay: Duration::from_millis(500),
            pod_run_time: Duration::from_secs(1),
            nodes: vec![node(1), node(2)],
            run_pods: true,
            event_history: 10_000,
            service_addresses: BTreeMap::new(),
            data_dir: None,
        }
    }
}
