//! `lbcf dev`: a driver under development, with a cluster and the controller around it.
//!
//! The controller calls the driver through a proxy that shows each call. The driver is started again
//! when its program changes, and the manifests are applied again when the driver or they have changed.

mod printer;
mod proxy;
mod session;
mod watch;

use printer::Printer;
use session::Session;
use std::error::Error;
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
    exec: Option<String>,

    /// Use a driver that runs already
    #[arg(long, value_name = "URL", group = "driver")]
    driver_url: Option<String>,

    /// Apply the manifests of this file or folder, again when they change; may be given several times. Without
    /// a LoadBalancerDriver in them, the driver is registered as `lbcf-dev`
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    apply: Vec<PathBuf>,

    /// Start the driver again when one of these files changes [default: the program of --exec, if its path is given]
    #[arg(long, value_name = "FILE", value_delimiter = ',', requires = "exec")]
    watch: Vec<PathBuf>,

    /// Write the kubeconfig to this file [default: a temporary file]
    #[arg(long, value_name = "PATH")]
    kubeconfig: Option<PathBuf>,

    /// Format of the calls on standard output [default: text on a terminal, else json]
    #[arg(long, value_name = "FORMAT")]
    output: Option<Output>,
}

/// The format of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// A line of text for each call; those of `healthz` that succeed are left out
    Text,
    /// A line of JSON for each call, with request and response
    Json,
}

/// Runs until Ctrl-C or SIGTERM, and leaves nothing running or on disk.
pub(crate) async fn run(args: DevArgs) -> Result<(), Box<dyn Error>> {
    let shutdown = lbcf_serving::signals::shutdown()?;
    let printer = Printer::new(args.output);
    let mut session = Session::default();
    let ended = tokio::select! {
        ended = session.run(&args, &printer) => ended,
        () = shutdown => Ok(()),
    };
    session.end().await;
    ended
}
