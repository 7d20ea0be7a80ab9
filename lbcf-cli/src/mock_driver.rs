//! `lbcf mock-driver`: the mock, its defects, and the cluster that it is compared with.

use crate::watched_cluster::WatchedCluster;
use lbcf_controller::cli::kubeconfig;
use lbcf_defective_driver::cli::DefectiveDriverArgs;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

/// Runs the mock cloud and its driver until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_MOCK_"))]
pub(crate) struct MockCommandArgs {
    #[command(flatten)]
    driver: DefectiveDriverArgs,

    /// Kubeconfig of the cluster that uses this cloud: the page shows what differs between them
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Name of the LoadBalancerDriver that is this mock, if the cluster has others; only what belongs to it
    /// is compared
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    driver_name: Option<String>,
}

/// Serves until a signal or a defect ends the driver. The cluster need not be there.
pub(crate) async fn run(mut args: MockCommandArgs) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &args.kubeconfig {
        let client = WatchedCluster::client(kubeconfig(path).await?)?;
        let cluster = WatchedCluster::follow(&client, args.driver_name);
        args.driver.mock.cluster = Some(Arc::new(cluster));
    }
    Ok(lbcf_defective_driver::cli::run(args.driver).await?)
}
