//! `run`: sets a run up as the flags say, sees to Ctrl-C, and writes the reports.

use super::connection::ConnectionArgs;
use super::given::{Given, Where};
use super::run_args::RunArgs;
use super::signals::Signals;
use super::values::Secret;
use super::verbose::WithCalls;
use super::{Stop, destinations, reproduce, tell};
use crate::checks;
use crate::driver::{Exec, ExecError};
use crate::fixture::{Endpoint, Fixture, Observe};
use crate::output::{Output, Show, render, step_summary};
use crate::progress::{Progress, Screen};
use crate::report::{Ending, Exit, Report};
use crate::selection::{self, Means, Plan};
use crate::settings::Settings;
use crate::suite::{Suite, SuiteError};
use crate::transport::Transport;
use std::sync::Arc;
use tokio::sync::oneshot;

pub(super) async fn run(args: RunArgs) -> Result<Exit, Stop> {
    let given = Given::read(&args)?;
    let outputs = destinations::of(&args)?;
    let driver = given.driver(&args)?;
    let reproduce = reproduce::command_line(&args, &given, &driver)?;
    let mut signals = Signals::listen()?;
    tell(&given.fixture_told(&args));

    let settings = given.settings.clone();
    let planned = planned(
        &given.fixture,
        &settings,
        matches!(driver, Where::Exec { .. }),
    );
    let (all, seed) = (checks::all().count(), settings.seed);
    tell(&format!(
        "{planned} of {all} checks can be made; seed {seed}"
    ));

    let (transport, exec) = reached(&driver, &args.connection, &given.fixture.endpoint)?;
    let judging = settings.judging;
    let screen = Screen::on_stderr(planned, args.quiet, args.color, judging);
    let progress: Arc<dyn Progress> = if args.verbose {
        Arc::new(WithCalls(screen))
    } else {
        Arc::new(screen)
    };
    let cleans_up = settings.cleanup;
    let mut suite = Suite::over(transport)
        .fixture(given.fixture)
        .settings(settings)
        .progress(progress.clone());
    if let Some(exec) = exec {
        suite = suite.started(exec);
    }

    let outcome = until_signalled(suite, &mut signals, &*progress, cleans_up).await;
    progress.ended();
    let Some(outcome) = outcome else {
        tell("ended at once; what the run made may be left behind");
        return Ok(Exit::Interrupted);
    };
    let mut report = outcome.map_err(stop)?;
    report.reproduce = reproduce;
    let exit = Exit::of(&report, judging, Ending::of(&report));
    let show = Show::on_stdout(args.color, judging);
    Ok(written(&report, &outputs, &show, exit))
}

/// Runs to the end, or to the second signal: nothing then. The first has it clean up.
async fn until_signalled(
    suite: Suite,
    signals: &mut Signals,
    progress: &dyn Progress,
    cleans_up: bool,
) -> Option<Result<Report, SuiteError>> {
    let (interrupt, interrupted) = oneshot::channel::<()>();
    let mut run = Box::pin(suite.run_until(async {
        // An error is that nobody will interrupt any more.
        if interrupted.await.is_err() {
            std::future::pending::<()>().await;
        }
    }));
    tokio::select! {
        outcome = &mut run => return Some(outcome),
        name = signals.next() => {
            let then = if cleans_up { "cleaning up" } else { "leaving everything as it is" };
            progress.note(&format!("{name}: the run ends, {then}; once more ends it at once"));
        }
    }
    // The run may just have ended.
    let _ = interrupt.send(());
    tokio::select! {
        outcome = &mut run => Some(outcome),
        _ = signals.next() => None,
    }
}

/// The way to the driver, and its process, if it is to be started.
fn reached(
    driver: &Where,
    connection: &ConnectionArgs,
    endpoint: &Endpoint,
) -> Result<(Transport, Option<Exec>), Stop> {
    match driver {
        Where::Url(Secret(url)) => Ok((connection.transport(url, endpoint)?, None)),
        Where::Exec { command, path } => {
            // Flags that are wrong are said before anything is started.
            connection.transport(&format!("http://127.0.0.1:1/{path}"), endpoint)?;
            let exec = Exec::start(command).map_err(|problem| match problem {
                ExecError::NoPort { .. } => Stop::usage(problem),
                problem => Stop::unreachable(problem),
            })?;
            let url = format!("http://127.0.0.1:{}/{path}", exec.port());
            Ok((connection.transport(&url, endpoint)?, Some(exec)))
        }
    }
}

/// How many checks will be made.
fn planned(fixture: &Fixture, settings: &Settings, exec: bool) -> usize {
    let means = Means {
        observer: fixture.observe.is_some(),
        meddling: matches!(fixture.observe, Some(Observe::Url(_))),
        exec,
    };
    let features = selection::features(fixture);
    checks::all()
        .map(|check| selection::plan(check, settings, fixture, &features, means))
        .filter(|plan| !matches!(plan, Plan::Skip(..)))
        .count()
}

fn stop(problem: SuiteError) -> Stop {
    let exit = match &problem {
        SuiteError::Fixture(_) | SuiteError::Transport(_) | SuiteError::Observer(_) => Exit::Usage,
        SuiteError::Exec(_) | SuiteError::Unreachable { .. } => Exit::Unreachable,
        SuiteError::Interrupted { .. } => Exit::Interrupted,
    };
    Stop {
        exit,
        why: problem.to_string(),
    }
}

/// Writes every report that can be written. That one cannot be is no good end.
fn written(report: &Report, outputs: &[Output], show: &Show, exit: Exit) -> Exit {
    let mut problems = Vec::new();
    let summary = step_summary();
    for output in outputs {
        let show = Show {
            // Colors and width are the terminal's.
            color: show.color && output.path.is_none(),
            width: if output.path.is_none() {
                show.width
            } else {
                Show::WIDTH
            },
            ..*show
        };
        let written = render(report, output.format, &show)
            .map_err(|problem| problem.to_string())
            .and_then(|text| {
                let written = output.write(&text, summary.as_deref());
                written.map_err(|problem| problem.to_string())
            });
        problems.extend(written.err());
    }
    for problem in &problems {
        tell(&format!("error: {problem}"));
    }
    if exit == Exit::Passed && !problems.is_empty() {
        Exit::Usage
    } else {
        exit
    }
}
