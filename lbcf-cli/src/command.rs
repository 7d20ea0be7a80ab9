//! The command line: which subcommands there are, and how each ends.

use crate::{demo, local_cluster, new, webhooks};
use clap::{Parser, Subcommand};
use lbcf_controller::cli::LogArgs;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

/// LBCF: load balancers for Kubernetes, with a driver for each cloud
///
/// `lbcf demo` shows it at work, with no cloud and no cluster.
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
    /// Show a load balancer's whole life: cluster, cloud and controller in one process
    Demo(demo::DemoArgs),
    /// Hold a driver, in whatever language, to the specification
    Conformance(lbcf_conformance::command::ConformanceArgs),
    /// Make a driver project: it works from the start, and shows what to fill in
    New(new::NewArgs),
    /// Run the controller against a cluster
    Controller(Box<lbcf_controller::cli::ControllerArgs>),
    /// Run the mock cloud with its driver
    MockDriver(mock_driver::cli::MockDriverArgs),
    /// Run a small Kubernetes API, for kubectl and tests
    LocalCluster(Box<local_cluster::LocalClusterArgs>),
    /// Print the CRDs, for `kubectl apply -f -`
    Crds,
    /// Print the webhook configurations that have the API server ask the controller, for
    /// `kubectl apply -f -`
    Webhooks(webhooks::WebhooksArgs),
}

/// Runs the command that the process was called with.
#[must_use]
pub fn main() -> ExitCode {
    let lbcf = Lbcf::parse();
    let default_filter = match lbcf.command {
        // The demo makes things fail on purpose, and shows what comes of it.
        Command::Demo(_) => "error",
        // Its reports say what goes on.
        Command::Conformance(_) => "warn",
        _ => "info",
    };
    let outcome = lbcf
        .log
        .start(default_filter)
        .map_err(Into::into)
        .and_then(|()| {
            let runtime = tokio::runtime::Runtime::new()?;
            let outcome = runtime.block_on(run(lbcf.command));
            // Whoever ends a run at once does not wait for a name to be found.
            runtime.shutdown_background();
            outcome
        });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell if stderr is closed.
            let _ = writeln!(std::io::stderr(), "lbcf: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::Demo(args) => {
            let report = demo::run(args).await?;
            return Ok(if report.passed {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            });
        }
        Command::Conformance(args) => return Ok(lbcf_conformance::command::run(args).await),
        Command::New(args) => new::run(args)?,
        Command::Controller(args) => {
            if let Err(error) = lbcf_controller::cli::run(*args).await {
                // Nobody is left to tell if stderr is closed.
                let _ = writeln!(std::io::stderr(), "lbcf: {error}");
                return Ok(error.exit_code());
            }
        }
        Command::MockDriver(args) => mock_driver::cli::run(args).await?,
        Command::LocalCluster(args) => local_cluster::run(*args).await?,
        Command::Crds => {
            std::io::stdout().write_all(lbcf_controller::api::crds_yaml()?.as_bytes())?;
        }
        Command::Webhooks(args) => webhooks::print(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_flag_has_an_environment_variable_and_a_help_text() {
        let mut commands = vec![Lbcf::command()];
        while let Some(command) = commands.pop() {
            for flag in command
                .get_arguments()
                .filter(|flag| flag.get_long().is_some())
            {
                let name = flag.get_long().unwrap_or_default();
                if ["help", "version"].contains(&name) {
                    continue;
                }
                assert!(
                    flag.get_env().is_some(),
                    "{} --{name} has no variable",
                    command.get_name()
                );
                assert!(
                    flag.get_help().is_some(),
                    "{} --{name} has no help",
                    command.get_name()
                );
            }
            commands.extend(command.get_subcommands().cloned());
        }
        Lbcf::command().debug_assert();
    }
}
