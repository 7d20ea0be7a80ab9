//! Options of a local cluster.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

/// A node that exists when the cluster starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    /// The node's name, a DNS subdomain.
    pub name: String,
    /// The node's `InternalIP`, which its pods have as `hostIP`.
    pub address: IpAddr,
}

/// Options of a local cluster; each field has a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalClusterOptions {
    /// The time from a pod's binding until it is `Running` and `Ready`; 300 ms by default.
    pub pod_ready_delay: Duration,
    /// The time that a deleted pod terminates, at most its grace period; 500 ms by default.
    pub pod_termination_delay: Duration,
    /// The time after which the containers of a pod with restart policy `Never` or `OnFailure` exit; 1 s by
    /// default.
    pub pod_run_time: Duration,
    /// The initial nodes; two by default.
    pub nodes: Vec<NodeSpec>,
    /// Pods are bound to nodes and become ready, the default. Otherwise there is no scheduler and no
    /// kubelet: pods stay as clients leave them, and a deleted pod with a node stays until it is deleted
    /// with grace period 0.
    pub run_pods: bool,
    /// Controllers run, the default. Otherwise this is an API server alone: it allocates addresses and serves custom
    /// resources, and nothing else writes. There are no workloads, endpoints, garbage collection and pods that run, and
    /// deleted namespaces and CustomResourceDefinitions stay as on a cluster without a controller manager.
    pub run_controllers: bool,
    /// Running pods have addresses in 127.0.0.0/8 and serve HTTP on the TCP ports of their containers; off by
    /// default. `/healthz` follows the annotation [`READY`](crate::annotations::READY), `/slow?ms=` takes its
    /// time, and anything else responds with the pod's name, its node and the request's headers. Ports below
    /// 1024 get 8000 more where binding them needs privileges.
    pub pod_traffic: bool,
    /// The number of events that the watch cache of each resource keeps, as long as their objects have at most
    /// 8 MiB of JSON; 10,000 by default. A watch from an older version, or one that falls further behind, receives
    /// `410 Expired`.
    pub event_history: usize,
    /// The addresses (`host:port`) of the services (`name.namespace.svc`) that admission webhooks refer to,
    /// because there is no service network. The certificate must be valid for the service's name.
    pub service_addresses: BTreeMap<String, String>,
    /// The directory that stores the cluster across restarts; `None`, the default, keeps it in memory.
    ///
    /// The directory is created if it is missing, and is locked against other processes. Every write is
    /// passed to the operating system before it is visible, so an acknowledged write survives the end of
    /// the process, even by `kill -9`. It is not synced at once: a power loss or a crash of the machine can lose
    /// the last thousand writes. The cluster is then in an earlier consistent state, and no resource version is
    /// used twice.
    ///
    /// The writes are a log, which grows until the next start and then keeps the present objects only.
    /// Directories of versions before this log are refused.
    ///
    /// A write that the disk refuses, because it is full, read-only or missing, fails with
    /// `500 InternalError` and changes nothing.
    ///
    /// After a restart resource versions keep growing; watches and lists at versions from before receive
    /// `410 Expired`. The namespaces and the service `kubernetes` that every cluster has are created again
    /// if they were deleted. Of [`Self::nodes`] only those are created that never were before.
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
            run_controllers: true,
            pod_traffic: false,
            event_history: 10_000,
            service_addresses: BTreeMap::new(),
            data_dir: None,
        }
    }
}
