//! `lbcf local-cluster`: the embedded Kubernetes API as a server for kubectl.

use crate::demo::{apply_crds, until_told_to_end};
use local_cluster::{LocalCluster, LocalClusterOptions};
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Runs a small Kubernetes API until Ctrl-C. It keeps everything in memory.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LocalClusterArgs {
    /// Address to listen on; port 0 takes a free one
    #[arg(
        long,
        env = "LBCF_LOCAL_CLUSTER_LISTEN",
        value_name = "ADDR",
        default_value = "127.0.0.1:8001"
    )]
    listen: SocketAddr,

    /// Write a kubeconfig for it to this file
    #[arg(long, env = "LBCF_LOCAL_CLUSTER_KUBECONFIG", value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Start with LBCF's resource kinds; without this it knows the built-in kinds only
    #[arg(long, env = "LBCF_LOCAL_CLUSTER_WITH_CRDS")]
    with_crds: bool,
}

/// Serves until Ctrl-C or SIGTERM. The URL is the one line on stdout, written when connections
/// are accepted.
pub(crate) async fn run(args: LocalClusterArgs) -> Result<(), Box<dyn Error>> {
    let stop = until_told_to_end()?;
    let cluster = LocalCluster::start(LocalClusterOptions::default()).await?;
    if args.with_crds {
        apply_crds(&cluster.client_as("lbcf")).await?;
    }
    let server = cluster
        .serve(args.listen)
        .await
        .map_err(|error| format!("--listen {}: {error}", args.listen))?;
    if let Some(path) = &args.kubeconfig {
        std::fs::write(path, server.kubeconfig())
            .map_err(|error| format!("--kubeconfig {}: {error}", path.display()))?;
        tracing::info!(path = %path.display(), "the kubeconfig is written");
    }
    writeln!(std::io::stdout(), "{}", server.url())?;
    stop.await;
    server.shutdown().await;
    cluster.shutdown().await;
    Ok(())
}
