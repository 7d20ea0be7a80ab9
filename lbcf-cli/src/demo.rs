//! `lbcf demo`: a load balancer's whole life, with no cloud and no cluster.
//!
//! One process runs the embedded Kubernetes API, the mock cloud with its driver, and the
//! controller. The tour applies the manifests of `deploy/examples/` and changes things as a person
//! with kubectl would; whether a step passed is read from the cloud, not from the controller.

mod cloud_view;
mod kubectl;
mod play;
mod report;
mod screen;
mod stage;
mod steps;
mod tour;

pub use report::{Report, StepReport};

pub(crate) use kubectl::apply_crds;

use clap::ValueEnum;
use screen::Screen;
use stage::Stage;
use std::io::Write;
use std::path::PathBuf;

/// Shows a load balancer's whole life: cluster, cloud and controller in one process.
#[derive(Debug, Clone, clap::Args)]
pub struct DemoArgs {
    /// End after the tour; without this, everything stays up for kubectl until Ctrl-C
    #[arg(long, env = "LBCF_DEMO_ONCE")]
    pub once: bool,

    /// Form of the result
    #[arg(
        long,
        env = "LBCF_DEMO_OUTPUT",
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub output: Output,

    /// Number of pods to begin with
    #[arg(long, env = "LBCF_DEMO_PODS", value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub pods: u16,

    /// Write the kubeconfig to this file [default: one in the folder for temporary files]
    #[arg(long, env = "LBCF_DEMO_KUBECONFIG", value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Drive this driver instead of the mock; steps that need to see the mock's cloud are skipped
    #[arg(long, env = "LBCF_DEMO_DRIVER_URL", value_name = "URL")]
    pub driver_url: Option<String>,
}

impl Default for DemoArgs {
    fn default() -> Self {
        Self {
            once: false,
            output: Output::Text,
            pods: 3,
            kubeconfig: None,
            driver_url: None,
        }
    }
}

/// The form of the result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// What happens, as it happens, for people
    #[default]
    Text,
    /// One JSON document at the end
    Json,
}

/// Why the demo could not be given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The embedded cluster did not start.
    #[error("starting the local cluster: {0}")]
    Cluster(#[source] local_cluster::Error),
    /// The mock driver did not start.
    #[error("starting the mock driver: {0}")]
    Driver(#[source] mock_driver::MockError),
    /// The cluster refused what the demo is built on.
    #[error("preparing the cluster: {0}")]
    Prepare(String),
    /// A file could not be written.
    #[error("writing {path}: {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Standard output could not be written to, or signals not be listened to.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Gives the demo and prints it.
///
/// # Errors
/// [`DemoError`], where it could not even begin. A step that fails is told in the report.
pub async fn run(args: DemoArgs) -> Result<Report, DemoError> {
    let stop = until_told_to_end()?;
    let screen = Screen::new(args.output);
    let mut stage = Stage::set(&args).await?;
    screen.opening(&stage)?;
    let report = {
        let mut stop = std::pin::pin!(stop);
        let tour = tour::take(&mut stage, &screen, args.pods);
        let report = tokio::select! {
            report = tour => report?,
            () = &mut stop => {
                screen.line("interrupted")?;
                Report::interrupted()
            }
        };
        if args.output == Output::Json {
            let json = serde_json::to_string_pretty(&report).map_err(std::io::Error::from)?;
            writeln!(std::io::stdout(), "{json}")?;
        }
        if !args.once && !report.interrupted {
            tour::set_up_again(&mut stage, &screen, args.pods).await?;
            stop.await;
        }
        report
    };
    stage.strike().await;
    Ok(report)
}

/// Waits for Ctrl-C or SIGTERM; listens from the call on, so that none is lost.
#[cfg(unix)]
pub(crate) fn until_told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn until_told_to_end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
