//! The flags of `run`. What is not given is taken from the fixture, or else has a default.

use super::connection::ConnectionArgs;
use super::values::{BudgetArg, Secret, call_time, time_scale, wait};
use crate::output::{Color, Format, Output};
use crate::report::FailOn;
use crate::settings::Profile;
use clap::builder::RangedU64ValueParser;
use std::path::PathBuf;
use std::time::Duration;

/// Which driver, which checks, and what becomes of the results.
#[derive(Debug, Clone, clap::Args)]
pub struct RunArgs {
    /// URL of a driver that runs, such as http://127.0.0.1:8080 [default: endpoint.url of the
    /// fixture]
    // It may have a password, and help texts show variables' values.
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_URL",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "exec"
    )]
    pub url: Option<Secret>,

    /// Command that starts the driver, for the shell; {port} stands for a free port. It is ended
    /// with the run, and all that it started
    #[arg(long, env = "LBCF_CONFORMANCE_EXEC", value_name = "COMMAND")]
    pub exec: Option<String>,

    /// Path of the driver that --exec starts [default: that of endpoint.url of the fixture]
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_EXEC_PATH",
        value_name = "PATH",
        requires = "exec"
    )]
    pub exec_path: Option<String>,

    /// What the kit has to know of the driver; `init` writes one [default: lbcf-conformance.yaml
    /// in this folder, if it is there]
    #[arg(long, env = "LBCF_CONFORMANCE_FIXTURE", value_name = "FILE")]
    pub fixture: Option<PathBuf>,

    /// How long to wait for the driver to answer at all
    #[arg(long, env = "LBCF_CONFORMANCE_WAIT", value_name = "DURATION", default_value = "30s",
        value_parser = wait)]
    pub wait: Duration,

    #[command(flatten)]
    /// How the driver is reached beyond its URL.
    pub connection: ConnectionArgs,

    /// Which checks concern the driver [default: by the fixture's features, else core]
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_PROFILE",
        value_name = "PROFILE",
        help_heading = "Which checks"
    )]
    pub profile: Option<Profile>,

    /// Only these checks: ids or groups, with commas between them; may be repeated
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_ONLY",
        value_name = "IDS",
        value_delimiter = ',',
        help_heading = "Which checks"
    )]
    pub only: Vec<String>,

    /// Not these checks: ids or groups, with commas between them; may be repeated
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_SKIP",
        value_name = "IDS",
        value_delimiter = ',',
        help_heading = "Which checks"
    )]
    pub skip: Vec<String>,

    /// File of checks that are known to fail, a line for each: its id and the reason
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_KNOWN_FAILURES",
        value_name = "FILE",
        help_heading = "Which checks"
    )]
    pub known_failures: Option<PathBuf>,

    /// Fail when a check passes that is known to fail
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_STRICT_KNOWN",
        help_heading = "Which checks"
    )]
    pub strict_known: bool,

    /// URL that tells what is in the driver's cloud; {url}, {host} and {port} are the driver's
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_OBSERVE_URL",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "observe_cmd",
        help_heading = "Looking into the cloud"
    )]
    pub observe_url: Option<Secret>,

    /// Command that prints what is in the driver's cloud, for the shell; places as in --observe-url
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_OBSERVE_CMD",
        value_name = "COMMAND",
        help_heading = "Looking into the cloud"
    )]
    pub observe_cmd: Option<String>,

    /// How often "repeated" is, from 1 to 1000
    #[arg(long, env = "LBCF_CONFORMANCE_REPEAT", value_name = "TIMES", default_value_t = 10,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000),
        help_heading = "How it goes")]
    pub repeat: usize,

    /// How many calls "side by side" is, from 1 to 1000
    #[arg(long, env = "LBCF_CONFORMANCE_CONCURRENCY", value_name = "CALLS", default_value_t = 50,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000),
        help_heading = "How it goes")]
    pub concurrency: usize,

    /// How many checks are made side by side, from 1 to 64
    #[arg(long, env = "LBCF_CONFORMANCE_JOBS", value_name = "CHECKS", default_value_t = 8,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=64),
        help_heading = "How it goes")]
    pub jobs: usize,

    /// What names and uids follow from: the same seed, the same calls [default: another each time]
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_SEED",
        value_name = "NUMBER",
        help_heading = "How it goes"
    )]
    pub seed: Option<u64>,

    /// How long a call may take, up to 60s [default: as the fixture says, else 10s]
    #[arg(long, env = "LBCF_CONFORMANCE_TIMEOUT", value_name = "DURATION",
        value_parser = call_time, help_heading = "How it goes")]
    pub timeout: Option<Duration>,

    /// How long things may take: async=DURATION for one operation that is Running, total=DURATION
    /// for the run; may be repeated [default: as the fixture says, else async=2m,total=10m]
    #[arg(
        long = "budget",
        env = "LBCF_CONFORMANCE_BUDGET",
        value_name = "WHAT=DURATION",
        value_delimiter = ',',
        help_heading = "How it goes"
    )]
    pub budgets: Vec<BudgetArg>,

    /// What waits are multiplied with that the driver asks for, from 0 to 10
    #[arg(long, env = "LBCF_CONFORMANCE_TIME_SCALE", value_name = "FACTOR", default_value = "1",
        value_parser = time_scale, help_heading = "How it goes")]
    pub time_scale: f64,

    /// Which failures fail the run
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_FAIL_ON",
        value_name = "LEVEL",
        default_value = "must",
        help_heading = "How it goes"
    )]
    pub fail_on: FailOn,

    /// End with the first check that fails
    #[arg(long, env = "LBCF_CONFORMANCE_FAIL_FAST", help_heading = "How it goes")]
    pub fail_fast: bool,

    /// Leave everything as it is at the end, to look at it
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_NO_CLEANUP",
        help_heading = "How it goes"
    )]
    pub no_cleanup: bool,

    /// Write a report: human, json, junit, tap, markdown, github or yaml; may be repeated
    #[arg(
        long = "output",
        env = "LBCF_CONFORMANCE_OUTPUT",
        value_name = "FORMAT=PATH",
        value_delimiter = ',',
        help_heading = "What is written"
    )]
    pub outputs: Vec<Output>,

    /// Form of the report on standard output [default: human]
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_FORMAT",
        value_name = "FORMAT",
        help_heading = "What is written"
    )]
    pub format: Option<Format>,

    /// Write the report for publication, as YAML
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_REPORT",
        value_name = "FILE",
        help_heading = "What is written"
    )]
    pub report: Option<PathBuf>,

    /// Show each call as a curl command, and keep the calls of passed checks in reports, too
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_VERBOSE",
        conflicts_with = "quiet",
        help_heading = "What is written"
    )]
    pub verbose: bool,

    /// Show no progress
    #[arg(long, env = "LBCF_CONFORMANCE_QUIET", help_heading = "What is written")]
    pub quiet: bool,

    /// Whether there are colors
    #[arg(
        long,
        env = "LBCF_CONFORMANCE_COLOR",
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "What is written"
    )]
    pub color: Color,
}
