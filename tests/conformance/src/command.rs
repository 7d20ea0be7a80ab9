//! The command: `lbcf conformance …`, and `lbcf-conformance …` in a binary of its own. Results go to
//! standard output; progress, notes and errors to standard error.
//!
//! | code | means |
//! |---|---|
//! | 0 | every MUST that was found out passed |
//! | 1 | a check failed; `replay`: something could not be sent again |
//! | 2 | wrong arguments, a wrong fixture, an observer that does not work, a file that cannot be written |
//! | 3 | the driver cannot be reached |
//! | 4 | the checks passed, but something of theirs is left behind |
//! | 130 | interrupted |

mod connection;
mod destinations;
mod example;
mod explain;
mod given;
mod list;
mod names;
mod needs;
mod page;
mod replay;
mod reproduce;
mod run;
mod run_args;
mod signals;
mod values;
mod verbose;

#[cfg(test)]
mod tests;

pub use connection::ConnectionArgs;
pub use explain::ExplainArgs;
pub use list::{ListArgs, ListFormat};
pub use replay::ReplayArgs;
pub use run_args::RunArgs;
pub use values::{BudgetArg, Secret};

use crate::init::{self, InitArgs};
use crate::report::Exit;
use crate::transport::{Settings, Transport};
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// What the command is to do.
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
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Command {
    /// Judge a driver
    Run(Box<RunArgs>),
    /// List the checks
    List(ListArgs),
    /// Explain checks: the rule, why it matters, what drivers usually do wrong
    Explain(ExplainArgs),
    /// Write a fixture to begin with: what the kit has to know of your driver
    Init(InitArgs),
    /// Send the calls of a report's failed checks again
    Replay(ReplayArgs),
}

/// Why the command did nothing, or not all, and its exit code.
#[derive(Debug)]
struct Stop {
    exit: Exit,
    why: String,
}

impl Stop {
    /// Something is wrong with what the command was given.
    fn usage(why: impl Display) -> Self {
        Self {
            exit: Exit::Usage,
            why: why.to_string(),
        }
    }

    fn unreachable(why: impl Display) -> Self {
        Self {
            exit: Exit::Unreachable,
            why: why.to_string(),
        }
    }
}

/// Does what the command line says, with its exit code. It has to be called in a tokio runtime.
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
pub async fn run(args: ConformanceArgs) -> ExitCode {
    let done = match args.command {
        Command::Run(args) => run::run(*args).await,
        Command::List(args) => list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Init(args) => init(&args).await,
        Command::Replay(args) => replay::run(&args).await,
    };
    match done {
        Ok(exit) => exit.into(),
        Err(stop) => {
            tell(&format!("error: {}", stop.why));
            stop.exit.into()
        }
    }
}

async fn init(args: &InitArgs) -> Result<Exit, Stop> {
    let connect = |url: &str| {
        Transport::to_url(url, &Settings::default()).map_err(|problem| problem.to_string())
    };
    let told = init::run(args, connect).await.map_err(Stop::usage)?;
    print(&told)?;
    Ok(Exit::Passed)
}

/// Writes to standard output. That nobody reads it any more is no error.
fn print(text: &str) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(problem) if problem.kind() != ErrorKind::BrokenPipe => {
            Err(Stop::usage(format!("standard output: {problem}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. Nobody is left to tell if it is closed.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
