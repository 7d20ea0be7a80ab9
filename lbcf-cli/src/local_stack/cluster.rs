//! The cluster of a stack: embedded in this process, or one that its user has.

use super::error::StackError;
use crate::manifests::{admission, apply_admission, apply_crds, delete_admission, lbcf_objects};
use kube::Client;
use lbcf_controller::admission::Endpoint;
use lbcf_controller::cli::kubeconfig;
use lbcf_controller::names::{CONTROLLER, SYSTEM_NAMESPACE};
use local_cluster::{LocalCluster, LocalClusterOptions, ServerHandle};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The Secret, in the system's namespace, with the certificates that admission is served with.
pub(super) const CERTIFICATES: &str = "lbcf-controller-admission";

pub(super) enum Cluster {
    Embedded {
        cluster: LocalCluster,
        /// None for one that only this process reaches.
        served: Option<Served>,
    },
    Given {
        url: String,
        client: Client,
        kubeconfig: PathBuf,
    },
}

pub(super) struct Served {
    server: ServerHandle,
    kubeconfig: PathBuf,
    /// Removed with the kubeconfig at the end, unless the user chose its path.
    _folder: Option<TempDir>,
}

impl Cluster {
    /// An embedded cluster that only this process reaches, because others need not read what it is given.
    pub(super) async fn unserved(options: LocalClusterOptions) -> Result<Self, StackError> {
        let cluster = LocalCluster::start(options).await;
        let cluster = cluster.map_err(StackError::Cluster)?;
        Ok(Self::Embedded {
            cluster,
            served: None,
        })
    }

    /// An embedded cluster, with its kubeconfig in this file or a temporary one.
    pub(super) async fn embedded(
        kubeconfig: Option<&Path>,
        options: LocalClusterOptions,
    ) -> Result<Self, StackError> {
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
        let served = Served {
            server,
            kubeconfig,
            _folder: folder,
        };
        Ok(Self::Embedded {
            cluster,
            served: Some(served),
        })
    }

    /// The cluster of a kubeconfig's current context. One with LBCF is refused: a second controller would undo what the
    /// first one does, and only the stack's own objects may be deleted at the end.
    pub(super) async fn given(path: &Path) -> Result<Self, String> {
        let config = kubeconfig(path).await.map_err(|error| error.to_string())?;
        let url = config.cluster_url.to_string();
        let client = Client::try_from(config).map_err(|error| error.to_string())?;
        let mut found = lbcf_objects(&client).await?;
        found.extend(admission(&client).await?);
        if let Some(first) = found.first() {
            let count = found.len();
            return Err(format!(
                "LBCF is in use in this cluster: {first}, the first of {count}"
            ));
        }
        Ok(Self::Given {
            url,
            client,
            kubeconfig: path.to_owned(),
        })
    }

    /// Puts LBCF's CRDs and admission in force, which admits no object of LBCF before the controller runs.
    pub(super) async fn prepare(&self) -> Result<(), String> {
        let client = self.client_as("lbcf");
        apply_crds(&client).await?;
        apply_admission(&client, &Endpoint::default()).await
    }

    pub(super) fn url(&self) -> String {
        match self {
            Self::Embedded { served, .. } => {
                let served = served.as_ref();
                served.map(|it| it.server.url()).unwrap_or_default()
            }
            Self::Given { url, .. } => url.clone(),
        }
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        match self {
            Self::Embedded { served, .. } => {
                let served = served.as_ref();
                served.map_or(Path::new(""), |it| &it.kubeconfig)
            }
            Self::Given { kubeconfig, .. } => kubeconfig,
        }
    }

    /// A client whose requests have this name, if the cluster is embedded.
    pub(super) fn client_as(&self, name: &str) -> Client {
        match self {
            Self::Embedded { cluster, .. } => cluster.client_as(name),
            Self::Given { client, .. } => client.clone(),
        }
    }

    /// From now on the cluster calls the admission webhooks at this address.
    pub(super) async fn call_admission_at(&self, addr: SocketAddr) -> Result<(), String> {
        match self {
            Self::Embedded { cluster, .. } => {
                let service = format!("{CONTROLLER}.{SYSTEM_NAMESPACE}.svc");
                cluster.set_service_address(service, addr.to_string());
                Ok(())
            }
            Self::Given { client, .. } => {
                apply_admission(client, &Endpoint::Url(format!("https://{addr}"))).await
            }
        }
    }

    /// Ends the embedded cluster, and removes admission with its certificates from another one.
    pub(super) async fn shut_down(self) {
        match self {
            Self::Embedded { cluster, served } => {
                if let Some(Served { server, .. }) = served {
                    server.shutdown().await;
                }
                cluster.shutdown().await;
            }
            Self::Given { client, .. } => {
                if let Err(problem) = delete_admission(&client, CERTIFICATES).await {
                    tracing::error!(problem, "LBCF's admission stays in the cluster");
                }
            }
        }
    }
}
