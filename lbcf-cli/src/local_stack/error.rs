//! Why a stack does not start.

use std::path::PathBuf;

/// Why the local cluster or the controller did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// The embedded cluster did not start.
    #[error("starting the local cluster: {0}")]
    Cluster(#[source] local_cluster::Error),
    /// The user's cluster cannot be used, it rejected the CRDs, or the controller did not become ready.
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
