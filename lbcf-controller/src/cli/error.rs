//! Errors of the command.

use crate::process::leader::InvalidLeaderElection;
use lbcf_driver_client::HttpClientError;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

/// Why the command did not start or ended unexpectedly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The kubeconfig cannot be read.
    #[error("--kubeconfig {path}: {source}")]
    Kubeconfig {
        /// Path of the kubeconfig.
        path: PathBuf,
        /// The error of the parser.
        #[source]
        source: kube::config::KubeconfigError,
    },
    /// No cluster is configured.
    #[error("no cluster: set --kubeconfig or KUBECONFIG, or run in a pod: {0}")]
    NoCluster(#[source] kube::config::InferConfigError),
    /// The configuration of the cluster cannot be used.
    #[error("connecting to the cluster: {0}")]
    Client(#[source] kube::Error),
    /// Signal handlers cannot be installed.
    #[error("listening for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// A flag for drivers, or a file that it names, is invalid.
    #[error("--driver-ca-file and the other flags for drivers: {0}")]
    Drivers(#[from] HttpClientError),
    /// A flag of leader election is invalid.
    #[error(transparent)]
    LeaderElection(#[from] InvalidLeaderElection),
    /// The address of health and metrics, or of admission, cannot be bound.
    #[error("{flag} {addr}: {source}; set another address, or off")]
    Address {
        /// The flag that sets the address.
        flag: &'static str,
        /// The address of the flag.
        addr: SocketAddr,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// A flag of admission is invalid.
    #[error("--admission-service, --admission-namespace: {0}")]
    Admission(#[from] crate::admission::AdmissionError),
    /// The controller ended without having been stopped.
    #[error(transparent)]
    Run(#[from] crate::controller::RunError),
}

impl CommandError {
    pub(super) const fn address(
        flag: &'static str,
        addr: SocketAddr,
        source: std::io::Error,
    ) -> Self {
        Self::Address { flag, addr, source }
    }

    /// 1 if the controller ran, 2 if it did not start.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Run(_)) { 1 } else { 2 })
    }
}
