//! A cluster with LBCF's controller in this process, for `lbcf demo` and `lbcf dev`.

mod controller;

use crate::manifests::{apply_admission, apply_crds};
use controller::start_controller;
use kube::Client;
use lbcf_controller::{CallCounts, Options};
use local_cluster::{LocalCluster, LocalClusterOptions, ServerHandle};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Why the local cluster or the controller did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// The embedded cluster did not start.
    #[error("starting the local cluster: {0}")]
    Cluster(#[source] local_cluster::Error),
    /// The cluster rejected the CRDs, or the controller did not become ready.
    #[error("preparing the cluster: {0}")]
    Prepare(String),
    /// A file could not be written.
    #[error("writing {path}: {source}")]
    Write {
        /// The path of the kubeconfig.
        path: PathBuf,
        /// The error of the file system.
        #[source]
        source: std::io::Error,
    },
}

/// The cluster, and the controller once it is started.
#[derive(Debug)]
pub(crate) struct LocalStack {
    cluster: LocalCluster,
    server: ServerHandle,
    kubeconfig: PathBuf,
    /// Removed with the kubeconfig at the end, unless the user chose its path.
    _folder: Option<TempDir>,
    controller: Option<JoinHandle<()>>,
    counts: CallCounts,
}

impl LocalStack {
    /// A cluster with LBCF's CRDs and admission in force, which admits no object of LBCF before the
    /// controller runs.
    ///
    /// # Errors
    /// [`StackError`].
    pub(crate) async fn start(
        kubeconfig: Option<&Path>,
        pod_traffic: bool,
    ) -> Result<Self, StackError> {
        let options = LocalClusterOptions {
            pod_traffic,
            ..LocalClusterOptions::default()
        };
        let cluster = LocalCluster::start(options).await;
        let cluster = cluster.map_err(StackError::Cluster)?;
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = cluster.serve(any_port).await.map_err(StackError::Cluster)?;
        let (kubeconfig, folder) = match kubeconfig {
            Some(path) => (path.to_owned(), None),
            None => {
                let folder = tempfile::Builder::new().prefix("lbcf-").tempdir();
                let folder = folder.map_err(|source| StackError::Write {
                    path: std::env::temp_dir(),
                    source,
                })?;
                (folder.path().join("kubeconfig"), Some(folder))
            }
        };
        server
            .write_kubeconfig(&kubeconfig)
            .map_err(|error| match error {
                local_cluster::Error::File { path, source } => StackError::Write { path, source },
                error => StackError::Cluster(error),
            })?;
        let client = cluster.client_as("lbcf");
        apply_crds(&client).await.map_err(StackError::Prepare)?;
        apply_admission(&client)
            .await
            .map_err(StackError::Prepare)?;
        Ok(Self {
            cluster,
            server,
            kubeconfig,
            _folder: folder,
            controller: None,
            counts: CallCounts::default(),
        })
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// A client whose requests have this name.
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
        if let Some(controller) = self.controller.take() {
            controller.abort();
            // The result is that the task was cancelled.
            let _ = controller.await;
        }
    }

    pub(crate) async fn shut_down(mut self) {
        self.kill_controller().await;
        self.server.shutdown().await;
        self.cluster.shutdown().await;
    }
}

/// Pods can have addresses of their own on this machine: on macOS each needs an alias.
pub(crate) fn has_loopback_addresses() -> bool {
    std::net::UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_ok()
}
