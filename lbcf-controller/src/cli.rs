//! The controller as a command: its flags, and what it does until it is told to end. Whichever
//! binary has the command calls this.

mod admission;
mod cluster;
mod drivers;
mod health;
mod leader;
mod listen;
mod log;
mod signals;
mod work;

pub use admission::AdmissionArgs;
pub use cluster::ClusterArgs;
pub use drivers::DriverArgs;
pub use health::HealthArgs;
pub use leader::LeaderArgs;
pub use listen::{Listen, NoAddress};
pub use log::{LogArgs, LogError, LogFormat};
pub use work::WorkArgs;

use crate::{Controller, HealthServer, InvalidLeaderElection, Options};
use clap::Parser;
use lbcf_driver_sdk::client::HttpClientError;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::task::JoinSet;

/// Runs the LBCF controller against a cluster until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
pub struct ControllerArgs {
    /// Which cluster, and how hard it is asked.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How it works.
    #[command(flatten)]
    pub work: WorkArgs,
    /// How it connects to drivers.
    #[command(flatten)]
    pub drivers: DriverArgs,
    /// How it takes turns with others.
    #[command(flatten)]
    pub leader: LeaderArgs,
    /// Where it tells how it is.
    #[command(flatten)]
    pub health: HealthArgs,
    /// Where it checks what users write.
    #[command(flatten)]
    pub admission: AdmissionArgs,
}

impl From<&ControllerArgs> for Options {
    /// The options that need nothing but the flags: all but [`Options::driver_client`] and
    /// [`Options::leader_election`].
    fn from(args: &ControllerArgs) -> Self {
        args.work.options()
    }
}

/// Why the command did not start, or ended by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The kubeconfig cannot be read.
    #[error("--kubeconfig {path}: {source}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: kube::config::KubeconfigError,
    },
    /// There is no cluster to be found.
    #[error(
        "no cluster: --kubeconfig is not given, there is no kubeconfig where kubectl looks, and this is no pod: {0}"
    )]
    NoCluster(#[source] kube::config::InferConfigError),
    /// The client cannot be made of the configuration.
    #[error("connecting to the cluster: {0}")]
    Client(#[source] kube::Error),
    /// The signals of the operating system cannot be listened to.
    #[error("listening for signals: {0}")]
    Signals(#[source] std::io::Error),
    /// Drivers cannot be called as the flags say.
    #[error("--driver-ca-file and the other flags for drivers: {0}")]
    Drivers(#[from] HttpClientError),
    /// It cannot take part in the election like this.
    #[error(transparent)]
    LeaderElection(#[from] InvalidLeaderElection),
    /// The address of health and metrics cannot be had.
    #[error("--health-address {addr}: {source}; give another, with port 0 for any, or off")]
    HealthAddress {
        /// The address.
        addr: SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The address of admission cannot be had.
    #[error("--admission-address {addr}: {source}; give another, or off")]
    AdmissionAddress {
        /// The address.
        addr: SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Admission cannot be served as the flags say.
    #[error("--admission-service, --admission-namespace: {0}")]
    Admission(#[from] crate::admission::AdmissionError),
    /// It ran, and ended without having been asked to.
    #[error(transparent)]
    Run(#[from] crate::RunError),
}

impl CommandError {
    /// 1 where the controller ran, 2 where it did not come to that.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Run(_)) { 1 } else { 2 })
    }
}

/// Runs the controller until Ctrl-C or SIGTERM; then it finishes what is in progress.
///
/// # Errors
/// [`CommandError`], when it cannot start, or ends by itself.
pub async fn run(args: ControllerArgs) -> Result<(), CommandError> {
    let stop = signals::until_told_to_end().map_err(CommandError::Signals)?;
    let mut options = Options::from(&args);
    options.driver_client = args.drivers.client()?;
    options.leader_election = args.leader.election(&args)?;
    let config = args.cluster.config().await?;
    let controller = Controller::new(args.cluster.client(config.clone())?, options)
        .with_election_client(cluster::election_client(config)?);
    // The server ends with the controller.
    let mut servers = JoinSet::new();
    if let Some(addr) = args.health.health_address.addr() {
        let server = HealthServer::bind(addr)
            .await
            .map_err(|source| CommandError::HealthAddress { addr, source })?;
        tracing::info!(addr = %server.addr(), "serving /healthz, /readyz and /metrics");
        servers.spawn(server.serve(controller.health()));
    }
    let controller = match args.admission.server(&args.cluster).await? {
        Some(server) => controller.with_admission(server),
        None => controller,
    };
    let ended = controller.run(stop).await;
    Ok(ended.inspect_err(|error| tracing::error!(%error, "the controller ends"))?)
}

/// The LBCF controller: it watches a cluster and tells drivers what to do
///
/// It works against the cluster of its kubeconfig or its pod, until Ctrl-C or SIGTERM.
#[derive(Debug, Parser)]
#[command(name = "lbcf-controller", version)]
struct LbcfController {
    #[command(flatten)]
    controller: ControllerArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// Runs the binary `lbcf-controller` as it was called.
#[must_use]
pub fn main() -> ExitCode {
    let LbcfController { controller, log } = LbcfController::parse();
    let tell = |error: &dyn std::fmt::Display| {
        // Nobody is left to tell if stderr is closed.
        let _ = writeln!(std::io::stderr(), "lbcf-controller: {error}");
    };
    if let Err(error) = log.start("info") {
        tell(&error);
        return ExitCode::from(2);
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            tell(&error);
            return ExitCode::from(2);
        }
    };
    match runtime.block_on(run(controller)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            error.exit_code()
        }
    }
}

#[cfg(test)]
mod tests;
