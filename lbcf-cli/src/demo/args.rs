//! The flags of `lbcf demo`, and the errors that it reports.

use super::profile::fixture::FixtureProblem;
use crate::local_stack::StackError;
use clap::ValueEnum;
use lbcf_conformance::observer::ObserverError;
use lbcf_conformance::transport::TransportError;
use mock_driver::TrafficOptions;
use mock_driver::cli::Profile;
use std::path::PathBuf;
use std::time::Duration;

/// Show a load balancer from creation to deletion: cluster, cloud and controller in one process.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_DEMO_"))]
pub struct DemoArgs {
    /// Exit after the tour; without this flag everything keeps running for kubectl until Ctrl-C
    #[arg(long)]
    pub once: bool,

    /// Format of the results on standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Output,

    /// Initial number of pods
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub pods: u16,

    /// Write the kubeconfig to this file [default: a temporary file]
    #[arg(long, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Use the cluster of this kubeconfig, which must have neither LBCF nor the namespace my-namespace; everything but LBCF's CRDs is deleted at the end
    #[arg(long, value_name = "PATH", conflicts_with = "kubeconfig")]
    pub cluster_kubeconfig: Option<PathBuf>,

    /// Kind of the mock's cloud; with azure no requests are sent, as its load balancers do not forward
    #[arg(
        long,
        value_name = "PROFILE",
        default_value = "clb",
        conflicts_with = "driver_url"
    )]
    pub profile: Profile,

    /// Use this driver instead of the mock; steps that need the mock are skipped
    #[arg(long, value_name = "URL")]
    pub driver_url: Option<String>,

    /// Fixture of that driver for `lbcf conformance`, with its fields and its observer [default: what the driver serves]
    #[arg(long, value_name = "FILE", requires = "driver_url")]
    pub fixture: Option<PathBuf>,

    /// Time that requests on a deregistered pod may take; with 0s they are broken off, and the tour fails
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = lbcf_serving::duration::parse_up_to_a_day)]
    pub drain_time: Duration,
}

impl Default for DemoArgs {
    fn default() -> Self {
        Self {
            once: false,
            output: Output::Text,
            pods: 3,
            kubeconfig: None,
            cluster_kubeconfig: None,
            profile: Profile::Clb,
            driver_url: None,
            fixture: None,
            drain_time: TrafficOptions::default().drain_time,
        }
    }
}

/// The format of the results on standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// Text, printed while the tour runs
    #[default]
    Text,
    /// One JSON document after the tour
    Json,
}

/// Why the demo could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The cluster or the controller did not start.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// The mock driver did not start.
    #[error("starting the mock driver: {0}")]
    Driver(#[source] mock_driver::MockError),
    /// The fixture of another driver is not valid, or lacks a field.
    #[error("the fixture {0}")]
    Fixture(#[from] FixtureProblem),
    /// The URL of the driver, or of its observer, is not valid.
    #[error(transparent)]
    Url(#[from] TransportError),
    /// The observer of another driver does not work.
    #[error(transparent)]
    Observer(#[from] ObserverError),
    /// Standard output or signal handling failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
