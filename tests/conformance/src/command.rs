//! The command: `lbcf conformance …`, or `lbcf-conformance …` as its own binary. Results go to
//! standard output; progress, notes and errors to standard error.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | every tested MUST passed |
//! | 1 | a check failed; `replay`: a call could not be sent again; `diff`: a rule that passed no longer does |
//! | 2 | invalid arguments, an invalid fixture, a broken observer, a file that cannot be written |
//! | 3 | the driver cannot be reached |
//! | 4 | the checks passed, but resources are left behind |
//! | 130 | interrupted |

mod connection;
mod console;
mod example;
mod explain;
mod inputs;
mod list;
mod names;
mod needs;
mod published;
mod replay;
mod reproduce;
mod run;
mod run_args;

#[cfg(test)]
mod tests;

pub use connection::ConnectionArgs;
pub use explain::ExplainArgs;
pub use lbcf_serving::secret::Secret;
pub use list::{ListArgs, ListFormat};
pub use published::{BadgeArgs, DiffArgs};
pub use replay::ReplayArgs;
pub use run_args::{BudgetArg, OutputArgs, RunArgs};

use crate::init::{self, InitArgs};
use crate::report::Exit;
use crate::transport::{Settings, Transport};
use console::{CommandError, print, print_error};
use std::pin::Pin;
use std::process::ExitCode;

/// The arguments of the command.
///
/// ```
/// use clap::Parser;
/// use lbcf_conformance::command::{Command, ConformanceArgs};
///
/// #[derive(Parser)]
/// struct Mine {
///     #[command(flatten)]
///     conformance: ConformanceArgs,
/// }
/// let mine = Mine::parse_from(["mine", "explain", "ens-02"]);
/// assert!(matches!(mine.conformance.command, Command::Explain(_)));
/// ```
#[derive(Debug, Clone, clap::Args)]
pub struct ConformanceArgs {
    /// One of `run`, `list`, `explain`, `init`, `replay`, `badge` and `diff`.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `lbcf conformance`.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Command {
    /// Test a driver, and report which rules it breaks
    Run(Box<RunArgs>),
    /// List the checks and their rules
    List(ListArgs),
    /// Explain checks: the rule, why it matters, and usual mistakes
    Explain(ExplainArgs),
    /// Write a first fixture: the description of your driver
    Init(InitArgs),
    /// Send the calls of a report's failed checks again
    Replay(ReplayArgs),
    /// Print a published report as a badge: an SVG image
    ///
    /// The badge counts the MUST rules that apply to the driver. Red: one failed, known failures included; yellow: one
    /// was not tested; yellow-green: only SHOULD rules failed.
    Badge(BadgeArgs),
    /// Compare two published reports, and fail on regressions
    ///
    /// A regression is a rule that passed in OLD, and in NEW fails (also as a known failure) or is skipped. A rule that
    /// no longer applies, because the driver no longer has a feature, is none, unless the profiles of the runs differ.
    ///
    /// Exit code 0: no regression; 1: a regression; 2: a file cannot be read, or is no report.
    Diff(DiffArgs),
}

/// Runs the command in a tokio runtime, and returns its exit code.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use lbcf_conformance::command::{self, Command, ConformanceArgs, ExplainArgs};
///
/// let command = Command::Explain(ExplainArgs { ids: vec!["ENS-02".into()] });
/// let code = command::run(ConformanceArgs { command }).await;
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// # }
/// ```
///
/// Boxed, so that it is compiled with this crate: the machine code of an `async fn` is generated in the
/// crates that await it.
pub fn run(args: ConformanceArgs) -> Pin<Box<dyn Future<Output = ExitCode>>> {
    Box::pin(run_command(args))
}

async fn run_command(args: ConformanceArgs) -> ExitCode {
    let done = match args.command {
        Command::Run(args) => run::run(*args).await,
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Init(args) => init(&args).await,
        Command::Replay(args) => replay::run(&args).await,
        Command::Badge(args) => published::run_badge(&args),
        Command::Diff(args) => published::run_diff(&args),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            print_error(&format!("error: {}", error.message));
            error.exit.into()
        }
    }
}

async fn init(args: &InitArgs) -> Result<Exit, CommandError> {
    let connect = |url: &str| {
        Transport::to_url(url, &Settings::default()).map_err(|problem| problem.to_string())
    };
    let text = init::run(args, connect).await;
    print(&text.map_err(CommandError::usage)?)?;
    Ok(Exit::Passed)
}
