//! The command line: the subcommands and their exit codes.

use crate::demo::DemoError;
use crate::{
    completion, convert, demo, dev, diff, inspect, install, local_cluster, mock_driver, new, plan,
    webhooks,
};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lbcf_controller::cli::LogArgs;
use lbcf_serving::streams::{self, is_closed};
use lbcf_serving::traces;
use std::error::Error;
use std::io::Write;
use std::pin::Pin;
use std::process::ExitCode;

/// LBCF: load balancers for Kubernetes, with a driver for each cloud
///
/// `lbcf demo` shows it in action, without a cloud or a cluster.
#[derive(Debug, Parser)]
#[command(
    name = "lbcf",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Lbcf {
    #[command(flatten)]
    log: LogArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a load balancer from creation to deletion: cluster, cloud and controller in one process
    Demo(demo::DemoArgs),
    /// Run a driver with a cluster and the controller while you develop it, and show each call
    Dev(dev::DevArgs),
    /// Check that a driver, in any language, conforms to the specification
    Conformance(lbcf_conformance::command::ConformanceArgs),
    /// Create a driver project that works as it is and marks what to fill in
    New(new::NewArgs),
    /// Run the controller against a cluster
    Controller(Box<lbcf_controller::cli::ControllerArgs>),
    /// Run the mock cloud with its driver
    MockDriver(Box<mock_driver::MockCommandArgs>),
    /// Run a small Kubernetes API, for kubectl and tests
    LocalCluster(Box<local_cluster::LocalClusterArgs>),
    // Their help is that of the arguments.
    Check(inspect::CheckArgs),
    Why(inspect::WhyArgs),
    Tree(inspect::TreeArgs),
    Diff(Box<diff::DiffArgs>),
    Plan(Box<plan::PlanArgs>),
    Pause(inspect::PauseArgs),
    /// Let the controller call drivers again for an object that was paused
    Resume(inspect::PauseArgs),
    /// Print the CRDs, for `kubectl apply -f -`
    Crds,
    /// Print the admission webhook configurations, for `kubectl apply -f -`
    Webhooks(webhooks::WebhooksArgs),
    // Their help is that of the arguments.
    Install(install::InstallArgs),
    Convert(convert::ConvertArgs),
    /// Print a completion script, such as for `source <(lbcf completion bash)`
    Completion {
        /// Shell that reads the script
        shell: clap_complete::Shell,
    },
}

/// Parses the command line, runs the command and returns the exit code: 0, 1 for a failed demo or
/// conformance run, 2 for errors.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(lines) = completion::of_kubectl(std::env::args(), &mut command()) {
        return ExitCode::from(u8::from(streams::print(&lines).is_err()));
    }
    let lbcf = Lbcf::from_arg_matches(&command().get_matches());
    let lbcf = lbcf.unwrap_or_else(|error| error.exit());
    let default_filter = match lbcf.command {
        // The demo causes failures on purpose and reports them itself.
        Command::Demo(_) => "error",
        // The reports contain what happens.
        Command::Conformance(_)
        | Command::Check(_)
        | Command::Why(_)
        | Command::Tree(_)
        | Command::Diff(_) => "warn",
        // What the rehearsed controller reports is in the plan.
        Command::Plan(_) => "error",
        // Until the controller runs, admission is not ready.
        Command::Dev(_) => "warn,lbcf_controller::admission=error",
        _ => "info",
    };
    let outcome = lbcf
        .log
        .start(default_filter)
        .map_err(Into::into)
        .and_then(|()| {
            let runtime = tokio::runtime::Runtime::new()?;
            // tokio compiles what it runs once for each kind of runtime, unless it sees a trait object.
            let run: Pin<Box<dyn Future<Output = _>>> = Box::pin(run(lbcf.command));
            let outcome = runtime.block_on(run);
            traces::flush();
            // Does not wait for a blocking DNS lookup that is still running.
            runtime.shutdown_background();
            outcome
        });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // If stderr is closed, the message is lost.
            let _ = writeln!(std::io::stderr(), "lbcf: {error}");
            ExitCode::from(2)
        }
    }
}

/// The whole command line, for manual pages.
#[must_use]
pub fn command() -> clap::Command {
    Lbcf::command().mut_arg("log_level", |flag| {
        flag.help(
            "What is logged, to stderr: a level, or a list such as warn,lbcf_controller=debug \
             [default: info; of demo and plan: error; of conformance, dev and what only reads: warn]",
        )
    })
}

async fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::Demo(args) => {
            let report = match demo::run(args).await {
                // The reader of the output has ended, as in `| head`. The demo has cleaned up.
                Err(DemoError::Io(error)) if is_closed(&error) => return Ok(ExitCode::SUCCESS),
                report => report?,
            };
            return Ok(ExitCode::from(u8::from(!report.passed)));
        }
        Command::Dev(args) => dev::run(args).await?,
        Command::Conformance(args) => return Ok(lbcf_conformance::command::run(args).await),
        Command::Check(args) => return inspect::run_check(args).await,
        Command::Why(args) => return inspect::run_why(args).await,
        Command::Tree(args) => return inspect::run_tree(args).await,
        Command::Diff(args) => return diff::run(*args).await,
        Command::Plan(args) => return plan::run(*args).await,
        Command::Pause(args) => return inspect::run_pause(args, true).await,
        Command::Resume(args) => return inspect::run_pause(args, false).await,
        Command::New(args) => new::run(args)?,
        Command::Controller(args) => {
            if let Err(error) = lbcf_controller::cli::run(*args).await {
                // If stderr is closed, the message is lost.
                let _ = writeln!(std::io::stderr(), "lbcf: {error}");
                return Ok(error.exit_code());
            }
        }
        Command::MockDriver(args) => mock_driver::run(*args).await?,
        Command::LocalCluster(args) => local_cluster::run(*args).await?,
        Command::Crds => {
            streams::print(&lbcf_controller::api::crds_yaml()?)?;
        }
        Command::Webhooks(args) => webhooks::print(args)?,
        Command::Install(args) => install::print(&args)?,
        Command::Convert(args) => convert::run(args)?,
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut self::command(), "lbcf", &mut script);
            streams::print(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn every_flag_has_an_environment_variable_and_a_help_text() {
        let mut commands = vec![command()];
        while let Some(command) = commands.pop() {
            for flag in command
                .get_arguments()
                .filter(|flag| flag.get_long().is_some())
            {
                let name = flag.get_long().unwrap_or_default();
                if ["help", "version"].contains(&name) {
                    continue;
                }
                let variable = name.to_uppercase().replace('-', "_");
                let is_named_so = |env: &OsStr| env.to_string_lossy().ends_with(&variable);
                assert!(
                    flag.get_env().is_some_and(is_named_so),
                    "{} --{name} has the variable {:?}",
                    command.get_name(),
                    flag.get_env()
                );
                assert!(
                    flag.get_help().is_some(),
                    "{} --{name} has no help",
                    command.get_name()
                );
            }
            commands.extend(command.get_subcommands().cloned());
        }
        super::command().debug_assert();
    }
}
