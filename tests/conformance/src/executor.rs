//! Executes the checks of a run in phases, cleans up after each, and builds the report.
//!
//! # Time limits
//!
//! Every wait has a deadline, whatever the driver does: a call the webhook's timeout (10 s by
//! default), an operation its budget (45 s), the driver's start `--wait` (30 s), the whole run its
//! budget (10 min). Once an operation used up its budget and none of that webhook ever ended, the
//! checks that wait for one are skipped at their next call, and operations of other webhooks get a
//! ninth of the time; the same for webhooks that never responded (`run/patience.rs`). The final cleanup adds 60 s at most, and the final observation 30 s at most. So
//! with default settings:
//!
//! | the driver | the run ends after |
//! |---|---|
//! | never responds, or never with HTTP | 30 s |
//! | stops in the middle of the run | 3 s, or 10 s if it accepts connections but does not respond |
//! | responds to `healthz` only | less than a minute: five checks in a row without a response |
//! | has an operation that never ends, or that never responds | less than a minute |
//! | creates nothing, and takes long to say so | less than a minute |

mod cleanup;
mod results;

use crate::check::{Check, Concurrency};
use crate::checks;
use crate::classification::{Group, Level};
use crate::lab::Lab;
use crate::observer::{Observer, ObserverError};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use crate::report::{Report, SkipKind};
use crate::run::{Run, StopReason, reachable};
use crate::selection::{self, Capabilities, Plan};
use crate::sync::lock;
use futures::{FutureExt as _, StreamExt as _};
use results::FinishedCheck;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// The checks of what nearly all others need for their setup. They run first and in this order, so
/// that a failed setup is reported once.
const PREREQUISITES: [&str; 6] = ["CLB-01", "GEN-01", "GEN-02", "ENS-01", "DRG-01", "DLB-01"];

/// The attempts of a check that counts load balancers while others create and delete some, too.
const COUNTS: usize = 3;

/// The lines of the driver's output in a failure.
const WRITTEN_LINES: usize = 8;

/// The checks that ended so far.
type Finished = Mutex<Vec<FinishedCheck>>;

/// Runs all checks, until `interrupted` resolves.
///
/// # Errors
/// When the observer does not work, before any check runs.
pub(crate) async fn run(
    run: Arc<Run>,
    interrupted: impl Future<Output = ()>,
) -> Result<Report, ObserverError> {
    let began = Instant::now();
    let started = k8s_openapi::jiff::Timestamp::now();
    let started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let before = match &run.observer {
        Some(observer) => Some(observer.observe().await?),
        None => None,
    };
    let (planned, skipped) = planned(&run);
    let finished = Finished::new(skipped);
    let (this, ended) = (&run, &finished);
    let execute = |planned| async move {
        let finished = execute(this, planned).await;
        lock(ended).push(finished);
    };
    let phases = async {
        for (concurrency, checks) in phases(&planned, run.settings.jobs) {
            this.strangers().begin(concurrency <= 1);
            let checks = futures::stream::iter(checks);
            checks
                .for_each_concurrent(concurrency.max(1), execute)
                .await;
        }
    };
    tokio::select! {
        () = phases => {}
        () = interrupted => run.stop(StopReason::Interrupted),
    }
    let mut finished = finished.into_inner().unwrap_or_default();
    // The checks that were running when the run was interrupted.
    for PlannedCheck { check, .. } in planned {
        if !finished.iter().any(|ended| ended.check.id == check.id) {
            let reason = StopReason::Interrupted.reason();
            finished.push(FinishedCheck::skipped(check, SkipKind::BrokenOff, reason));
        }
    }
    if run.fault_is_on.load(Ordering::Relaxed) {
        // The check was cancelled: cleaning up fails until the cloud works again.
        let _ = Lab::new(run.clone(), "RTRY-05", 0).fault(false).await;
    }
    if run.settings.cleanup {
        cleanup::everything(&run).await;
    }
    let left_behind = cleanup::left_behind(&run, before.as_ref()).await;
    let took = began.elapsed();
    Ok(results::report(&run, finished, left_behind, started, took))
}

#[derive(Debug, Clone, Copy)]
struct PlannedCheck {
    check: &'static Check,
    index: u8,
    response_only: bool,
    needs_running: bool,
}

/// The checks that run, and those that are skipped.
fn planned(run: &Run) -> (Vec<PlannedCheck>, Vec<FinishedCheck>) {
    let mut planned = Vec::new();
    let mut skipped = Vec::new();
    let capabilities = Capabilities {
        observer: run.observer.is_some(),
        modifying: run.observer.as_ref().is_some_and(Observer::can_modify),
        exec: run.driver.0.is_some(),
    };
    for (index, check) in checks::all().enumerate() {
        let (settings, fixture) = (&run.settings, &run.fixture);
        let plan = selection::plan(check, settings, fixture, &run.features, capabilities);
        match plan {
            Plan::Skip(kind, reason) => skipped.push(FinishedCheck::skipped(check, kind, reason)),
            Plan::Run | Plan::RunOnResponses => planned.push(PlannedCheck {
                check,
                index: u8::try_from(index).unwrap_or(u8::MAX),
                response_only: plan == Plan::RunOnResponses,
                needs_running: selection::needs_running(check, settings, &run.features),
            }),
        }
    }
    (planned, skipped)
}

/// The checks of each phase, and how many of them run at a time: first the prerequisites, then the
/// other concurrency classes.
fn phases(planned: &[PlannedCheck], jobs: usize) -> Vec<(usize, Vec<PlannedCheck>)> {
    let position =
        |planned: &PlannedCheck| PREREQUISITES.iter().position(|id| *id == planned.check.id);
    let (mut first, others): (Vec<_>, Vec<_>) = planned
        .iter()
        .copied()
        .partition(|planned| position(planned).is_some());
    first.sort_by_key(position);
    let (late, others): (Vec<PlannedCheck>, Vec<_>) =
        others.into_iter().partition(|it| it.needs_running);
    let mut phases = vec![(1, first)];
    for (concurrency, jobs) in [
        (Concurrency::Parallel, jobs),
        (Concurrency::Counting, 1),
        (Concurrency::Exclusive, 1),
        (Concurrency::Last, 1),
    ] {
        let of_class = |planned: &&PlannedCheck| planned.check.concurrency == concurrency;
        phases.push((jobs, others.iter().filter(of_class).copied().collect()));
    }
    // Only the others show whether they run; they are as good alone.
    phases.push((1, late));
    phases
}

/// Runs one check and cleans up after it.
async fn execute(run: &Arc<Run>, planned: PlannedCheck) -> FinishedCheck {
    let check = planned.check;
    let stopped = run.stop_reason().filter(|reason| !spares(reason, check));
    if let Some(stopped) = stopped {
        return FinishedCheck::skipped(check, SkipKind::BrokenOff, stopped.reason());
    }
    if planned.needs_running && !run.was_running.load(Ordering::Relaxed) {
        let reason = selection::NEVER_RUNNING.to_owned();
        return FinishedCheck::skipped(check, SkipKind::NotApplicable, reason);
    }
    run.progress.started(check.id);
    let began = Instant::now();
    // One for all attempts, so that each has other names and uids.
    let lab = Lab::new(run.clone(), check.id, planned.index);
    let mut attempts = 1..COUNTS;
    let outcome = loop {
        let outcome = outcome_of(check, &lab, run, began).await;
        let is_doubtful = matches!(outcome, Ok(Err(_))) && lab.may_have_miscounted();
        if !is_doubtful || attempts.next().is_none() {
            break outcome;
        }
        cleanup::after(run, check.id).await;
    };
    let finished = match outcome {
        Ok(mut outcome) => {
            after(run, check, &mut outcome).await;
            FinishedCheck {
                check,
                written: written(run, &outcome, began),
                outcome,
                notes: lab.notes(),
                response_only: planned.response_only,
                took: began.elapsed(),
            }
        }
        Err(reason) => FinishedCheck::skipped(check, SkipKind::BrokenOff, reason),
    };
    run.progress.finished(&results::result(run, &finished));
    finished
}

/// The last lines that the driver wrote during a check that failed; those of others are among them.
fn written(run: &Run, outcome: &CheckOutcome, began: Instant) -> String {
    let failed = run.driver.0.as_ref().filter(|_| outcome.is_err());
    let lines = failed
        .map(|exec| exec.output_since(began))
        .unwrap_or_default();
    lines[lines.len().saturating_sub(WRITTEN_LINES)..].join("\n")
}

/// True if a check runs although the run ends early: bad input must not end a driver, and the check
/// of that rule has to report when it did.
fn spares(reason: &StopReason, check: &Check) -> bool {
    let by_bad_input = matches!(reason, StopReason::DriverGone { after, .. } if after.starts_with(Group::Bad.id()));
    by_bad_input && check.group == Group::Bad && check.level == Level::Must
}

/// The outcome of a check.
///
/// # Errors
/// The reason, if the check was cancelled.
async fn outcome_of(
    check: &Check,
    lab: &Lab,
    run: &Run,
    began: Instant,
) -> Result<CheckOutcome, String> {
    let left = run.deadline.saturating_duration_since(began);
    // A panic in one check must not end the others.
    let code = AssertUnwindSafe((check.code)(lab)).catch_unwind();
    tokio::select! {
        biased;
        ended = tokio::time::timeout(left, code) => match ended {
            Ok(ended) => ended.map_err(|_| "a bug in the kit ended this check".to_owned()),
            Err(_) => {
                run.stop(StopReason::TimeIsUp(run.fixture.budgets.total));
                let expected = "the check to end within the time for the whole run";
                let got = format!("it was still running after {:?}", began.elapsed());
                Ok(Err(Failure::new(expected, got).into()))
            }
        },
        () = run.hopeless() => {
            run.stop(StopReason::Hopeless);
            Err(StopReason::Hopeless.reason())
        }
        _ = run.cancelled.wait() => {
            Err(run.stop_reason().map(|reason| reason.reason()).unwrap_or_default())
        }
    }
}

/// Cleans up after a check, and verifies after a failure that the driver still responds.
async fn after(run: &Run, check: &Check, outcome: &mut CheckOutcome) {
    if PREREQUISITES.contains(&check.id) {
        run.prerequisite_ended(check.id, outcome.is_ok());
        if check.id == "CLB-01" && matches!(outcome, Err(CheckError::Failed(_))) {
            run.begin_to_hurry();
        }
    }
    if run.settings.cleanup {
        cleanup::after(run, check.id).await;
    }
    reachable::add_process_exit(run, check.id, outcome).await;
    if matches!(outcome, Err(CheckError::Failed(_))) {
        if run.settings.fail_fast {
            run.stop(StopReason::FailFast(check.id));
        }
        reachable::after_failure(run, check.id).await;
    }
}

#[cfg(test)]
mod tests;
