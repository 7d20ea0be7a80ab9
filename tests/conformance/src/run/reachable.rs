//! Whether the driver still answers: looked at after a check failed, so that a driver that is gone
//! is not called a thousand times more.

use super::{Over, Run};
use crate::exchange::NoAnswer;
use crate::transport::Request;
use crate::verdict::{NotPassed, Verdict};
use std::time::Duration;
use tokio::time::Instant;

/// How long the health webhook may take in a driver that is there.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a driver that died may take to come back, as one under a supervisor does.
const REVIVAL: Duration = Duration::from_secs(3);
/// How long a process may take to end once its connections have.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Waits until the driver answers anything at all.
///
/// # Errors
/// What came instead, when it does not in the time for it.
pub(crate) async fn wait_for(run: &Run) -> Result<(), NoAnswer> {
    let until = (Instant::now() + run.settings.wait).min(run.deadline);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match probe(run, PATIENCE.min(left.max(PAUSE))).await {
            Ok(()) => return Ok(()),
            Err(problem) if Instant::now() + PAUSE >= until || run.driver.has_ended() => {
                return Err(problem);
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Ends the run, if the driver is gone, or has been silent in too many checks.
pub(super) async fn after_failure(run: &Run, check: &'static str) {
    if !has_been_silent(run, check) || run.is_over().is_some() {
        return;
    }
    let timeout = run.timeout("healthz").min(PATIENCE);
    let until = Instant::now() + REVIVAL;
    loop {
        match probe(run, timeout).await {
            Ok(()) => return,
            // A process of ours that ended does not come back.
            Err(_) if run.driver.has_ended() => {
                let problem = run.driver.how_it_ended().unwrap_or_default();
                run.end(Over::DriverGone {
                    problem,
                    after: check,
                });
                return;
            }
            Err(problem) if Instant::now() >= until => {
                let problem = problem.to_string();
                run.end(Over::DriverGone {
                    problem,
                    after: check,
                });
                return;
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Whether a call of this check was not answered, and it was not the check that hung up.
fn has_been_silent(run: &Run, check: &str) -> bool {
    run.record
        .of(check)
        .into_iter()
        .any(|exchange| matches!(&exchange.outcome, Err(problem) if *problem != NoAnswer::HungUp))
}

/// Says in a failure how the driver's process ended, and the last that it wrote.
pub(super) async fn told_if_ended(run: &Run, check: &'static str, verdict: &mut Verdict) {
    let Err(NotPassed::Failed(failure)) = verdict else {
        return;
    };
    if !run.driver.is_ours() || !has_been_silent(run, check) {
        return;
    }
    // Its connections end a moment before the process does.
    let until = Instant::now() + LAST_MOMENT;
    while !run.driver.has_ended() {
        if Instant::now() >= until {
            return;
        }
        tokio::time::sleep(LAST_MOMENT / 50).await;
    }
    if let Some(words) = run.driver.last_words().await {
        failure.hint = Some(format!("the driver is gone: {words}"));
    }
}

/// Whether the driver speaks HTTP at all.
async fn probe(run: &Run, timeout: Duration) -> Result<(), NoAnswer> {
    let request = Request::post("healthz", "{}");
    run.transport.send(&request, timeout).await.map(drop)
}
