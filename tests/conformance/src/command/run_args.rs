//! The flags of `run`. Missing values come from the fixture, or else are defaults.

use super::connection::ConnectionArgs;
use super::console::CommandError;
use crate::fixture::duration;
use crate::output::{Color, Format, Output};
use crate::report::FailOn;
use crate::settings::Settings;
use lbcf_serving::secret::Secret;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// The driver, the checks to run, and the reports to write.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_"))]
pub struct RunArgs {
    /// URL of a running driver, such as http://127.0.0.1:8080 [default: endpoint.url of the
    /// fixture]
    // The URL may have a password, and help texts show the values of variables.
    #[arg(long, value_name = "URL", hide_env_values = true)]
    #[arg(conflicts_with = "exec")]
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

    #[command(flatten)]
    /// The connection to the driver.
    pub connection: ConnectionArgs,

    #[command(flatten)]
    /// The settings that the library has, too.
    pub settings: Settings,

    /// File of known failures: a line per check, with its id and the reason
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    pub known_failures: Option<PathBuf>,

    /// Fail when a known failure passes
    #[arg(long, help_heading = "Checks")]
    pub strict_known: bool,

    /// URL of the observer, which lists the load balancers and backends that really exist; {url}, {host}
    /// and {port} are those of the driver
    #[arg(long, value_name = "URL", hide_env_values = true)]
    #[arg(conflicts_with = "observe_cmd", help_heading = "Observer")]
    pub observe_url: Option<Secret>,

    /// Shell command that prints what --observe-url would return; with the same placeholders
    #[arg(long, value_name = "COMMAND", help_heading = "Observer")]
    pub observe_cmd: Option<String>,

    /// Seed of names and UIDs: the same seed gives the same calls [default: random]
    #[arg(long, value_name = "NUMBER", help_heading = "Run")]
    pub seed: Option<u64>,

    /// Time limits: async=DURATION for an operation that is Running, total=DURATION for the run; may
    /// be repeated [default: those of the fixture, else async=45s,total=10m]
    #[arg(long = "budget", value_name = "WHAT=DURATION", value_delimiter = ',')]
    #[arg(help_heading = "Run")]
    pub budgets: Vec<BudgetArg>,

    /// Results that fail the run: must, a failed MUST; should, also a failed SHOULD
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "must",
        help_heading = "Run"
    )]
    pub fail_on: FailOn,

    /// Exit with 0, not with 5, if a MUST could not be tested
    #[arg(long, help_heading = "Run")]
    pub allow_partial: bool,

    /// Do not delete the created load balancers and backends
    #[arg(long, help_heading = "Run")]
    pub no_cleanup: bool,

    #[command(flatten)]
    /// The reports to write, and the progress.
    pub output: OutputArgs,
}

/// The reports to write, and the progress.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write a report: human, json, junit, markdown, github or report; may be repeated
    #[arg(long = "output", value_name = "FORMAT=PATH", value_delimiter = ',')]
    pub outputs: Vec<Output>,

    /// Format of the report on standard output [default: human]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Write the report for publication, as --output report=FILE
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Show no progress on standard error
    #[arg(long)]
    pub quiet: bool,

    /// Use of colors
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// A time limit: `async=120s` or `total=10m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetArg {
    /// One operation until it is no longer `Running`.
    Async(Duration),
    /// The whole run, until the last check ends.
    Total(Duration),
}

impl FromStr for BudgetArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = "expected async=DURATION or total=DURATION, such as async=120s";
        let (name, time) = text.split_once('=').ok_or(wrong)?;
        let time = duration::parse(time, duration::LONGEST);
        let time = time.map_err(|problem| format!("{name}: {problem}"));
        match name {
            "async" => time.map(Self::Async),
            "total" => time.map(Self::Total),
            _ => Err(wrong.to_owned()),
        }
    }
}

impl fmt::Display for BudgetArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Async(time) => write!(f, "async={}", duration::shown(*time)),
            Self::Total(time) => write!(f, "total={}", duration::shown(*time)),
        }
    }
}

impl OutputArgs {
    /// All reports to write. The human-readable report is written to standard output, unless another
    /// one is, or it has another destination.
    pub(super) fn destinations(&self) -> Result<Vec<Output>, CommandError> {
        let to = |format, path| Output { format, path };
        let mut outputs = Vec::from_iter(self.format.map(|format| to(format, None)));
        outputs.extend(self.outputs.iter().cloned());
        let report = self.report.clone();
        outputs.extend(report.map(|path| to(Format::Report, Some(path))));
        for (index, output) in outputs.iter().enumerate() {
            if let Some(other) = outputs[..index].iter().find(|o| o.path == output.path) {
                let (one, two, place) = (other.format, output.format, output.place());
                return Err(CommandError::usage(format!(
                    "{one} and {two} both go to {place}: use a different file for each"
                )));
            }
            if let Some(path) = &output.path {
                is_in_a_folder(path, output)?;
            }
        }
        let is_taken = |output: &Output| output.path.is_none() || output.format == Format::Human;
        if !outputs.iter().any(is_taken) {
            outputs.insert(0, to(Format::Human, None));
        }
        Ok(outputs)
    }
}

/// Reports a wrong path before the run starts.
fn is_in_a_folder(path: &Path, output: &Output) -> Result<(), CommandError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let problem = if path.is_dir() {
        "this is a folder".to_owned()
    } else if !folder.is_dir() {
        format!("the folder {} does not exist", folder.display())
    } else {
        return Ok(());
    };
    Err(CommandError::usage(format!("{output}: {problem}")))
}
