//! A cluster with LBCF's controller in this process, for `lbcf demo` and `lbcf dev`.

mod cluster;
mod controller;
mod error;

pub use error::StackError;

use cluster::Cluster;
use controller::start_controller;
use kube::Client;
use lbcf_controller::{CallCounts, Health, Options};
use local_cluster::{LocalCluster, LocalClusterOptions};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;
use tokio::task::JoinHandle;

/// The cluster, and the controller once it is started.
pub(crate) struct LocalStack {
    cluster: Cluster,
    controller: Option<(JoinHandle<()>, Health)>,
    counts: CallCounts,
}

impl LocalStack {
    /// A cluster with LBCF's CRDs and admission in force, which admits no object of LBCF before the
    /// controller runs: that of a kubeconfig, or an embedded one that writes its kubeconfig.
    ///
    /// # Errors
    /// [`StackError`].
    pub(crate) async fn start(
        of_user: Option<&Path>,
        kubeconfig: Option<&Path>,
        options: LocalClusterOptions,
    ) -> Result<Self, StackError> {
        let cluster = match of_user {
            Some(path) => Cluster::given(path).await.map_err(StackError::Prepare)?,
            None => Cluster::embedded(kubeconfig, options).await?,
        };
        Self::of(cluster).await
    }

    /// The same with an embedded cluster that only this process reaches.
    ///
    /// # Errors
    /// [`StackError`].
    pub(crate) async fn unserved(options: LocalClusterOptions) -> Result<Self, StackError> {
        Self::of(Cluster::unserved(options).await?).await
    }

    async fn of(cluster: Cluster) -> Result<Self, StackError> {
        if let Err(problem) = cluster.prepare().await {
            cluster.shut_down().await;
            return Err(StackError::Prepare(problem));
        }
        Ok(Self {
            cluster,
            controller: None,
            counts: CallCounts::default(),
        })
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        self.cluster.kubeconfig()
    }

    pub(crate) fn url(&self) -> String {
        self.cluster.url()
    }

    /// The cluster, if it is embedded.
    pub(crate) const fn embedded(&self) -> Option<&LocalCluster> {
        match &self.cluster {
            Cluster::Embedded { cluster, .. } => Some(cluster),
            Cluster::Given { .. } => None,
        }
    }

    /// True if the controller has nothing to do before something changes or a time has come.
    pub(crate) fn is_at_rest(&self) -> bool {
        let health = self.controller.as_ref();
        health.is_some_and(|(_, health)| health.is_at_rest())
    }

    /// A client whose requests have this name, if the cluster is embedded.
    pub(crate) fn client_as(&self, name: &str) -> Client {
        self.cluster.client_as(name)
    }

    /// The number of calls of each webhook so far.
    pub(crate) fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.counts.snapshot()
    }

    /// Starts a controller, and waits until it serves admission.
    ///
    /// # Errors
    /// [`StackError::Prepare`].
    pub(crate) async fn start_controller(&mut self, options: Options) -> Result<(), StackError> {
        let controller = start_controller(&self.cluster, options, &self.counts);
        self.controller = Some(controller.await.map_err(StackError::Prepare)?);
        Ok(())
    }

    /// Kills the controller without a graceful shutdown.
    pub(crate) async fn kill_controller(&mut self) {
        if let Some((controller, _)) = self.controller.take() {
            controller.abort();
            // The result is that the task was cancelled.
            let _ = controller.await;
        }
    }

    pub(crate) async fn shut_down(mut self) {
        self.kill_controller().await;
        self.cluster.shut_down().await;
    }
}

/// Pods can have addresses of their own on this machine: on macOS each needs an alias.
pub(crate) fn has_loopback_addresses() -> bool {
    std::net::UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_ok()
}
