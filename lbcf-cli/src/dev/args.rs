//! The flags of `lbcf dev`.

use std::path::PathBuf;

/// Run a driver with a cluster and the controller while you develop it.
///
/// Standard output has a line for each webhook call: text on a terminal, JSON in a pipe. Standard error has
/// everything else, also what the driver writes.
#[derive(Debug, Clone, clap::Args)]
#[command(group = clap::ArgGroup::new("driver").required(true))]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_DEV_"))]
pub(crate) struct DevArgs {
    /// Start the driver with this shell command; `{port}` becomes a free port, as does the variable PORT
    #[arg(long, value_name = "COMMAND", group = "driver")]
    pub(super) exec: Option<String>,

    /// Use a driver that runs already
    #[arg(long, value_name = "URL", group = "driver")]
    pub(super) driver_url: Option<String>,

    /// Apply the manifests of this file or folder, again when they change; may be given several times. Without
    /// a LoadBalancerDriver in them, the driver is registered as `lbcf-dev`
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub(super) apply: Vec<PathBuf>,

    /// Start the driver again when one of these files changes, or one in these folders that Git would not ignore
    /// [default: the program or the source files that --exec runs]
    #[arg(long, value_name = "PATH", value_delimiter = ',', requires = "exec")]
    pub(super) watch: Vec<PathBuf>,

    /// Write the kubeconfig to this file [default: a temporary file]
    #[arg(long, value_name = "PATH")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// Use the cluster of this kubeconfig, which must not have objects of LBCF; at the end load balancers are deleted, the rest and LBCF's CRDs stay
    #[arg(long, value_name = "PATH", conflicts_with = "kubeconfig")]
    pub(super) cluster_kubeconfig: Option<PathBuf>,

    /// Format of the calls on standard output [default: text on a terminal, else json]
    #[arg(long, value_name = "FORMAT")]
    pub(super) output: Option<Output>,
}

/// The format of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// A line of text for each call; those of `healthz` that succeed are left out
    Text,
    /// A line of JSON for each call, with request and response
    Json,
}
