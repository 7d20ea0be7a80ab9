//! The flags of `run`. Missing values come from the fixture, or else are defaults.

use super::connection::ConnectionArgs;
use super::values::{BudgetArg, call_time, time_scale, wait};
use crate::output::{Color, Format, Output};
use crate::report::FailOn;
use crate::settings::Profile;
use clap::builder::RangedU64ValueParser;
use lbcf_serving::secret::Secret;
use std::path::PathBuf;
use std::time::Duration;

/// The driver, the checks to run, and the reports to write.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_"))]
pub struct RunArgs {
    /// URL of a running driver, such as http://127.0.0.1:8080 [default: endpoint.url of the
    /// fixture]
    // The URL may have a password, and help texts show the values of variables.
    #[arg(
        long,
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "exec"
    )]
    pub url: Option<Secret>,

    /// Shell command that starts the driver; {port} stands for a free port. It is stopped at the
    /// end of the run, with all its child processes
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,

    /// Path of the driver that --exec starts [default: that of endpoint.url of the fixture]
    #[arg(long, value_name = "PATH", requires = "exec")]
    pub exec_path: Option<String>,

    /// File that describes the driver; `init` writes one [default: conformance.yaml in this
    /// folder, if it exists]
    #[arg(long, value_name = "FILE")]
    pub fixture: Option<PathBuf>,

    /// Time limit for the first response of the driver
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = wait)]
    pub wait: Duration,

    #[command(flatten)]
    /// The connection to the driver.
    pub connection: ConnectionArgs,

    /// Which checks apply to the driver [default: by the fixture's features, else core]
    #[arg(long, value_name = "PROFILE", help_heading = "Checks")]
    pub profile: Option<Profile>,

    /// Run only these checks: ids or groups, separated by commas; may be repeated
    #[arg(
        long,
        value_name = "IDS",
        value_delimiter = ',',
        help_heading = "Checks"
    )]
    pub only: Vec<String>,

    /// Skip these checks: ids or groups, separated by commas; may be repeated
    #[arg(
        long,
        value_name = "IDS",
        value_delimiter = ',',
        help_heading = "Checks"
    )]
    pub skip: Vec<String>,

    /// File of known failures: a line per check, with its id and the reason
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    pub known_failures: Option<PathBuf>,

    /// Fail when a known failure passes
    #[arg(long, help_heading = "Checks")]
    pub strict_known: bool,

    /// URL of the observer, which lists the load balancers and backends that really exist; {url}, {host}
    /// and {port} are those of the driver
    #[arg(
        long,
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "observe_cmd",
        help_heading = "Observer"
    )]
    pub observe_url: Option<Secret>,

    /// Shell command that prints what --observe-url would return; with the same placeholders
    #[arg(long, value_name = "COMMAND", help_heading = "Observer")]
    pub observe_cmd: Option<String>,

    /// Number of times that checks repeat a call, from 1 to 1000
    #[arg(
        long,
        value_name = "TIMES",
        default_value_t = 10,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000),
        help_heading = "Run",
    )]
    pub repeat: usize,

    /// Number of concurrent calls that checks send, from 1 to 1000
    #[arg(
        long,
        value_name = "CALLS",
        default_value_t = 50,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000),
        help_heading = "Run",
    )]
    pub concurrency: usize,

    /// Number of checks that run concurrently, from 1 to 64
    #[arg(
        long,
        value_name = "CHECKS",
        default_value_t = 8,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=64),
        help_heading = "Run",
    )]
    pub jobs: usize,

    /// Seed of names and UIDs: the same seed gives the same calls [default: random]
    #[arg(long, value_name = "NUMBER", help_heading = "Run")]
    pub seed: Option<u64>,

    /// Time limit of a call, up to 60s [default: that of the fixture, else 10s]
    #[arg(long, value_name = "DURATION", value_parser = call_time, help_heading = "Run")]
    pub timeout: Option<Duration>,

    /// Time limits: async=DURATION for an operation that is Running, total=DURATION for the run; may
    /// be repeated [default: those of the fixture, else async=45s,total=10m]
    #[arg(
        long = "budget",
        value_name = "WHAT=DURATION",
        value_delimiter = ',',
        help_heading = "Run"
    )]
    pub budgets: Vec<BudgetArg>,

    /// Factor for the delays that the driver requests, from 0 to 10
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        value_parser = time_scale,
        help_heading = "Run",
    )]
    pub time_scale: f64,

    /// Failures besides a failed MUST: should, a failed SHOULD; partial, a MUST that could
    /// not be tested; both, separated by a comma
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "must",
        value_delimiter = ',',
        help_heading = "Run"
    )]
    pub fail_on: Vec<FailOn>,

    /// Stop after the first check that fails
    #[arg(long, help_heading = "Run")]
    pub fail_fast: bool,

    /// Do not delete the created load balancers and backends
    #[arg(long, help_heading = "Run")]
    pub no_cleanup: bool,

    /// Write a report: human, json, junit, markdown, github or yaml; may be repeated
    #[arg(
        long = "output",
        value_name = "FORMAT=PATH",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub outputs: Vec<Output>,

    /// Format of the report on standard output [default: human]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<Format>,

    /// Write a YAML report for publication
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,

    /// Show each call as a curl command, and keep the calls of passed checks in reports, too
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub verbose: bool,

    /// Show no progress on standard error
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,

    /// Use of colors
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub color: Color,
}
