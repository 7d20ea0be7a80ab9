//! The cluster of a world: embedded in this process, or any other one that a kubeconfig names.

use crate::manifests::NODES;
use crate::remote::{RemoteCluster, Session};
use kube::Client;
use lbcf_controller::admission::Endpoint;
use local_cluster::{
    Faults, InProcess, LocalCluster, LocalClusterOptions, NodeSpec, RequestCounts, ServerHandle,
};
use serde_json::Value;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

/// Names the kubeconfig of the cluster that the tests run against. Without it they run against the
/// embedded one.
pub const KUBECONFIG: &str = "LBCF_E2E_KUBECONFIG";

/// The cluster of a [`World`](crate::World).
#[derive(Debug)]
pub enum Cluster {
    /// In this process, for this world alone.
    Embedded(LocalCluster),
    /// Any cluster, which one world after another uses.
    Remote(Box<Session>),
}

/// Whether the tests run against the cluster of [`KUBECONFIG`].
#[must_use]
pub fn is_remote() -> bool {
    std::env::var_os(KUBECONFIG).is_some()
}

/// Whether a test has to be skipped because it needs something that only the embedded cluster has:
/// `what`, which is printed with the name of the test.
#[must_use]
pub fn needs_embedded(what: &str) -> bool {
    if is_remote() {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        // Not `println!`: the test harness discards what a passing test prints.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {test} needs the embedded cluster: {what}"
        );
    }
    is_remote()
}

impl Cluster {
    /// The cluster of [`KUBECONFIG`] as soon as no other world uses it, or else an embedded one.
    pub(crate) async fn start() -> Self {
        match RemoteCluster::from_environment() {
            Some(cluster) => Self::Remote(Box::new(cluster.begin().await)),
            None => Self::start_embedded(Self::options()).await,
        }
    }

    pub(crate) async fn start_embedded(options: LocalClusterOptions) -> Self {
        let cluster = LocalCluster::start(options).await;
        Self::Embedded(cluster.expect("the cluster starts"))
    }

    /// The options of the embedded cluster.
    pub(crate) fn options() -> LocalClusterOptions {
        let node = |(name, address): (&str, &str)| NodeSpec {
            name: name.to_owned(),
            address: address.parse().expect("an address"),
        };
        LocalClusterOptions {
            pod_ready_delay: Duration::from_millis(1),
            pod_termination_delay: Duration::from_millis(1),
            nodes: NODES.map(node).into(),
            ..LocalClusterOptions::default()
        }
    }

    /// A client whose requests are counted by this name. On a remote cluster all but `test` have only
    /// the permissions of the controller.
    #[must_use]
    pub fn client_as(&self, user_agent: &str) -> Client {
        match self {
            Self::Embedded(cluster) => cluster.client_as(user_agent),
            Self::Remote(session) => session.client_as(user_agent),
        }
    }

    /// The requests of the clients of [`Self::client_as`] so far. The embedded cluster counts those that it
    /// receives, and so those of all clients.
    #[must_use]
    pub fn requests(&self) -> RequestCounts {
        match self {
            Self::Embedded(cluster) => cluster.requests(),
            Self::Remote(session) => session.requests(),
        }
    }

    /// Injects faults into the embedded cluster.
    ///
    /// # Panics
    /// If it is a remote one: see [`needs_embedded`].
    #[must_use]
    pub fn faults(&self) -> Faults {
        self.embedded().faults()
    }

    /// Serves the embedded cluster on a socket, for kubectl.
    ///
    /// # Panics
    /// If it is a remote one, or the socket cannot be had.
    pub async fn serve(&self, addr: SocketAddr) -> ServerHandle {
        let served = self.embedded().serve(addr).await;
        served.expect("a socket can be had")
    }

    /// The embedded cluster's API, to which tests add layers that fail.
    pub(crate) fn service(&self) -> InProcess {
        self.embedded().service()
    }

    pub(crate) fn embedded(&self) -> &LocalCluster {
        match self {
            Self::Embedded(cluster) => cluster,
            Self::Remote(_) => {
                panic!("this test needs the embedded cluster, and has to skip itself")
            }
        }
    }

    pub(crate) fn into_embedded(self) -> LocalCluster {
        match self {
            Self::Embedded(cluster) => cluster,
            Self::Remote(_) => {
                panic!("this test needs the embedded cluster, and has to skip itself")
            }
        }
    }

    /// Where the API server finds the admission webhooks.
    pub(crate) fn admission_endpoint(&self) -> Endpoint {
        match self {
            Self::Embedded(_) => Endpoint::default(),
            Self::Remote(session) => Endpoint::Url(session.admission_url()),
        }
    }

    /// The names that the certificate of the admission webhooks needs in addition to the Service's.
    pub(crate) fn admission_names(&self) -> Vec<String> {
        match self {
            Self::Embedded(_) => Vec::new(),
            Self::Remote(session) => vec![session.host().to_owned()],
        }
    }

    /// From now on admission is served at this address.
    pub(crate) fn set_admission_address(&self, service: &str, addr: SocketAddr) {
        match self {
            Self::Embedded(cluster) => cluster.set_service_address(service, addr.to_string()),
            Self::Remote(session) => session.set_admission_address(addr),
        }
    }

    /// Changes an object that a test is about to create so that it suits a cluster that has nodes of its
    /// own: pods are bound to the test's nodes, and only those are backends of services.
    pub fn adapt(&self, kind: &str, object: &mut Value) {
        if matches!(self, Self::Remote(_)) {
            crate::remote::adapt(kind, object);
        }
    }
}
