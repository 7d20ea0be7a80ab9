//! The controller as a command, for any binary that offers it.

mod admission;
mod cluster;
mod drivers;
mod error;
mod leader;
mod listen;
mod log;
mod work;

pub use admission::AdmissionArgs;
pub use cluster::{ClusterArgs, kubeconfig, without_needless_proxy};
pub use drivers::DriverArgs;
pub use error::CommandError;
pub use leader::LeaderArgs;
pub use listen::{HealthArgs, Listen, NoAddress};
pub use log::{LogArgs, LogError, LogFormat};
pub use work::{WorkArgs, host_and_url};

use crate::api::{ObjectKey, names};
use crate::controller::Controller;
use crate::controller::health::HealthServer;
use crate::drivers::CallCounts;
use crate::process::metrics::Metrics;
use clap::Parser;
use futures::future::BoxFuture;
use lbcf_serving::traces;
use std::io::Write;
use std::process::ExitCode;
use tokio::task::JoinSet;

/// Runs the LBCF controller against a cluster until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
pub struct ControllerArgs {
    /// The cluster and the rate of requests to it.
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Reconciling, retries and limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Certificates and the token for connections to drivers.
    #[command(flatten)]
    pub drivers: DriverArgs,
    /// Leader election with its durations.
    #[command(flatten)]
    pub leader: LeaderArgs,
    /// The server of health and metrics.
    #[command(flatten)]
    pub health: HealthArgs,
    /// The server of the admission webhooks.
    #[command(flatten)]
    pub admission: AdmissionArgs,
}

/// Runs the controller until a signal asks it to end, and finishes reconciling what is in progress.
///
/// # Errors
/// [`CommandError`], if it cannot start or ends unexpectedly.
pub fn run(args: ControllerArgs) -> BoxFuture<'static, Result<(), CommandError>> {
    // Boxed, so that it is compiled with this crate.
    Box::pin(run_until_stopped(args))
}

async fn run_until_stopped(args: ControllerArgs) -> Result<(), CommandError> {
    let stop = lbcf_serving::signals::shutdown().map_err(CommandError::Signals)?;
    let mut options = args.work.options();
    let [of_system, of_tenants] = args.drivers.clients()?;
    options.driver_client = Some(of_system);
    options.driver_client_of_tenants = Some(of_tenants);
    let namespace = args.leader.namespace(&args.cluster);
    options.record_key = ObjectKey::new(namespace, names::RECORD_KEY_SECRET);
    options.leader_election = args.leader.election(&args.cluster, options.dry_run)?;
    let config = args.cluster.config().await?;
    options.api_server = cluster::api_server(&config).await;
    let metrics = Metrics::new();
    let client = args.cluster.client(config.clone(), &metrics)?;
    let controller = Controller::with_metrics(client, options, CallCounts::default(), metrics)
        .with_election_client(cluster::election_client(config)?);
    // Aborted when the controller has ended.
    let mut servers = JoinSet::new();
    if let Some(addr) = args.health.health_address.addr() {
        let server = HealthServer::bind(addr)
            .await
            .map_err(|source| CommandError::address("--health-address", addr, source))?
            .allow_hosts(args.health.allow_host);
        tracing::info!(addr = %server.addr(), "serving /healthz, /readyz and /metrics");
        servers.spawn(server.serve(controller.health()));
    }
    let controller = match args.admission.server(&args.cluster).await? {
        Some(server) => controller.with_admission(server),
        None => controller,
    };
    let ended = controller.run(stop).await;
    Ok(ended.inspect_err(|error| tracing::error!(%error, "the controller failed"))?)
}

/// The LBCF controller: reconciles load balancers and backends by calling drivers
///
/// Connects to the cluster of its kubeconfig or pod and runs until a signal asks it to end.
#[derive(Debug, Parser)]
#[command(name = crate::names::CONTROLLER, version)]
struct LbcfController {
    #[command(flatten)]
    controller: ControllerArgs,
    #[command(flatten)]
    log: LogArgs,
}

/// The entry point of the binary `lbcf-controller`.
#[must_use]
pub fn main() -> ExitCode {
    let LbcfController { controller, log } = LbcfController::parse();
    let fail = |error: &dyn std::fmt::Display, code: ExitCode| {
        // Nothing can be done if stderr is closed.
        let _ = writeln!(std::io::stderr(), "lbcf-controller: {error}");
        code
    };
    if let Err(error) = log.start("info") {
        return fail(&error, ExitCode::from(2));
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error, ExitCode::from(2)),
    };
    let ended = runtime.block_on(run(controller));
    traces::flush();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, error.exit_code()),
    }
}

#[cfg(test)]
mod tests;
