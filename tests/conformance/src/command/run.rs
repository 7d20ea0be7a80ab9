//! `run`: configures a run by the flags, handles signals, and writes the reports.

use super::connection::ConnectionArgs;
use super::console::{CommandError, print_error};
use super::inputs::{DriverSource, RunInputs};
use super::reproduce;
use super::run_args::RunArgs;
use crate::checks;
use crate::driver::{Exec, ExecError};
use crate::fixture::{Endpoint, Fixture, Observe};
use crate::output::{Output, Show, render, step_summary};
use crate::progress::{Progress as _, Screen};
use crate::report::{Exit, Report};
use crate::selection::{self, Capabilities, Plan};
use crate::settings::Settings;
use crate::suite::{Suite, SuiteError};
use crate::transport::Transport;
use futures::FutureExt as _;
use lbcf_serving::secret::Secret;
use lbcf_serving::signals::Signals;
use std::io::Stderr;
use std::sync::Arc;
use tokio::sync::SetOnce;

pub(super) async fn run(args: RunArgs) -> Result<Exit, CommandError> {
    let mut given = RunInputs::read(&args)?;
    let outputs = args.output.destinations()?;
    let driver = given.driver(&args)?;
    let reproduce = reproduce::command_line(&args, &given, &driver)?;
    let mut signals =
        Signals::listen().map_err(|problem| CommandError::usage(format!("signals: {problem}")))?;
    let settings = given.settings.clone();
    let (transport, exec) = reached(&driver, &args.connection, &given.fixture.endpoint)?;
    let mut suite = Suite::over(transport).settings(settings.clone());
    if let Some(exec) = exec {
        suite = suite.started(exec);
    }
    if given.path.is_none() {
        print_error("no fixture is given: waiting for the driver, which may serve one");
        let served = tokio::select! {
            served = suite.served_fixture() => served.map_err(stop)?,
            _ = signals.next() => return Ok(Exit::Interrupted),
        };
        if let Some(served) = served {
            given.use_served(served, &args)?;
        }
    }
    print_error(&given.fixture_message(&args));

    let is_exec = matches!(driver, DriverSource::Exec { .. });
    let planned = planned(&given.fixture, &settings, is_exec);
    let (all, seed) = (checks::all().count(), settings.seed);
    print_error(&format!("{planned} of {all} checks can run; seed {seed}"));

    let policy = settings.policy;
    let screen = Screen::on_stderr(planned, args.output.quiet, args.output.color, policy);
    let progress = Arc::new(screen.with_calls(settings.verbose));
    let cleans_up = settings.cleanup;
    let suite = suite.fixture(given.fixture).progress(progress.clone());

    let outcome = until_signalled(suite, &mut signals, &progress, cleans_up).await;
    progress.ended();
    let Some(outcome) = outcome else {
        print_error("stopped at once; resources of the run may be left behind");
        return Ok(Exit::Interrupted);
    };
    let mut report = outcome.map_err(stop)?;
    report.reproduce = reproduce;
    let exit = Exit::of(&report, policy);
    let show = Show::on_stdout(args.output.color, policy);
    Ok(written(&report, &outputs, &show, exit))
}

/// Runs until the end, or until the second signal, which returns `None`. The first signal interrupts
/// the run, which then cleans up.
async fn until_signalled(
    suite: Suite,
    signals: &mut Signals,
    progress: &Screen<Stderr>,
    cleans_up: bool,
) -> Option<Result<Report, SuiteError>> {
    let interrupt = SetOnce::new();
    let mut run = Box::pin(suite.run_until(interrupt.wait().map(drop)));
    tokio::select! {
        outcome = &mut run => return Some(outcome),
        name = signals.next() => {
            let then = if cleans_up { "cleaning up" } else { "without cleaning up" };
            progress.note(&format!("{name}: ending the run, {then}; a second signal stops it at once"));
        }
    }
    // The run may just have ended.
    let _ = interrupt.set(());
    tokio::select! {
        outcome = &mut run => Some(outcome),
        _ = signals.next() => None,
    }
}

/// The transport to the driver, and its process, if the kit starts it.
fn reached(
    driver: &DriverSource,
    connection: &ConnectionArgs,
    endpoint: &Endpoint,
) -> Result<(Transport, Option<Exec>), CommandError> {
    match driver {
        DriverSource::Url(Secret(url)) => Ok((connection.transport(url, endpoint)?, None)),
        DriverSource::Exec { command, path } => {
            // Reports wrong flags before the driver starts.
            connection.transport(&format!("http://127.0.0.1:1/{path}"), endpoint)?;
            let exec = Exec::start(command).map_err(|problem| match problem {
                ExecError::NoPort { .. } => CommandError::usage(problem),
                problem => CommandError::new(Exit::Unreachable, problem),
            })?;
            let url = format!("{}/{path}", exec.url());
            Ok((connection.transport(&url, endpoint)?, Some(exec)))
        }
    }
}

/// The number of checks that will run.
fn planned(fixture: &Fixture, settings: &Settings, exec: bool) -> usize {
    let means = Capabilities {
        observer: fixture.observe.is_some(),
        modifying: matches!(fixture.observe, Some(Observe::Url(_))),
        exec,
    };
    let features = selection::features(fixture);
    checks::all()
        .map(|check| selection::plan(check, settings, fixture, &features, means))
        .filter(|plan| !matches!(plan, Plan::Skip(..)))
        .count()
}

fn stop(problem: SuiteError) -> CommandError {
    let exit = match &problem {
        SuiteError::Fixture(_) | SuiteError::Transport(_) | SuiteError::Observer(_) => Exit::Usage,
        SuiteError::Exec(_) | SuiteError::Unreachable { .. } => Exit::Unreachable,
        SuiteError::Interrupted { .. } => Exit::Interrupted,
    };
    CommandError::new(exit, problem)
}

/// Writes all reports; one that cannot be written changes the exit code.
fn written(report: &Report, outputs: &[Output], show: &Show, exit: Exit) -> Exit {
    let summary = step_summary();
    let of_file = Show {
        policy: show.policy,
        ..Show::default()
    };
    let mut exit = exit;
    for output in outputs {
        // Colors and width are those of the terminal.
        let show = output.path.as_ref().map_or(show, |_| &of_file);
        let text = render(report, output.format, show).map_err(|problem| problem.to_string());
        let written = text.and_then(|text| {
            let written = output.write(&text, summary.as_deref());
            written.map_err(|problem| problem.to_string())
        });
        if let Err(problem) = written {
            print_error(&format!("error: {problem}"));
            if exit == Exit::Passed {
                exit = Exit::Usage;
            }
        }
    }
    exit
}
