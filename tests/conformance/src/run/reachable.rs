//! Verifies after a failed check that the driver still responds, so that a run does not continue with
//! a driver that has stopped.

use super::{Run, StopReason};
use crate::driver::ready::{self, PAUSE, probe};
use crate::exchange::NoResponse;
use crate::outcome::{CheckError, CheckOutcome};
use std::time::Duration;
use tokio::time::Instant;

/// The time in which a supervisor has to restart a driver.
const RESTART_LIMIT: Duration = Duration::from_secs(3);
/// The time in which a process has to end after its connections.
const EXIT_LIMIT: Duration = Duration::from_millis(500);

/// Waits until the driver responds, whatever the response is.
///
/// # Errors
/// The last problem, when the driver does not respond within `--wait`.
pub(crate) async fn wait_for(run: &Run) -> Result<(), NoResponse> {
    let until = (Instant::now() + run.settings.wait).min(run.deadline);
    ready::wait(&run.transport, || run.driver.ended().is_some(), until).await
}

/// Stops the run, if the driver no longer responds.
pub(crate) async fn after_failure(run: &Run, check: &'static str) {
    if !has_been_silent(run, check) || run.stop_reason().is_some() {
        return;
    }
    let timeout = run.timeout("healthz").min(ready::TIMEOUT);
    let until = Instant::now() + RESTART_LIMIT;
    loop {
        let probed = probe(&run.transport, timeout).await;
        let problem = match (probed, run.driver.ended()) {
            (Ok(()), _) => return,
            // A process that the kit started is not restarted by a supervisor.
            (Err(_), Some(exec)) => exec.state(),
            (Err(problem), None) if Instant::now() >= until => problem.to_string(),
            (Err(_), None) => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let after = check;
        return run.stop(StopReason::DriverGone { problem, after });
    }
}

/// True if a call of this check got no response, except those that the check closed itself.
fn has_been_silent(run: &Run, check: &str) -> bool {
    run.record
        .of(check)
        .into_iter()
        .any(|exchange| matches!(&exchange.outcome, Err(problem) if *problem != NoResponse::HungUp))
}

/// Adds the exit status of the driver's process and its last output to a failure.
pub(crate) async fn add_process_exit(run: &Run, check: &'static str, outcome: &mut CheckOutcome) {
    let Err(CheckError::Failed(failure)) = outcome else {
        return;
    };
    if run.driver.0.is_none() || !has_been_silent(run, check) {
        return;
    }
    // Its connections close shortly before the process exits.
    let until = Instant::now() + EXIT_LIMIT;
    while run.driver.ended().is_none() {
        if Instant::now() >= until {
            return;
        }
        tokio::time::sleep(EXIT_LIMIT / 50).await;
    }
    if let Some(output) = run.driver.last_output().await {
        failure.hint = Some(format!("the driver stopped: {output}"));
    }
}
