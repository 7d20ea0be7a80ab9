//! Polling an operation while it is `Running`.

use super::Lab;
use crate::call::{DriverReply, Status, WebhookCall};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use std::time::Duration;
use tokio::time::Instant;

/// The waits without `minRetryDelayInSeconds`: very short at first, because many operations end at
/// once, then short, and longer after a while.
const FIRST: Duration = Duration::from_millis(20);
const SHORT: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
/// The number of polls after which the waits grow beyond [`SHORT`].
const PATIENT_AFTER: u32 = 20;

impl Lab {
    /// Makes a call, and repeats it while it is `Running`, as controllers do: under the same
    /// recordID, after the driver's `minRetryDelayInSeconds`.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when there is no response, or the operation exceeds its budget;
    /// [`CheckError::Blocked`] by the check of the webhook, when none of its operations ever ended, or
    /// it never responded.
    pub(crate) async fn until_done(&self, call: &WebhookCall) -> CheckOutcome<DriverReply> {
        let began = Instant::now();
        let (run, webhook) = (&self.run, call.webhook());
        if run.patience().is_silent(webhook) {
            let got = "none to any call of it before, so it was not called again";
            let failure = Failure::new(format!("a response to {webhook}"), got);
            return Err(self.hopeless(webhook, failure.into()));
        }
        let mut polls = 0;
        loop {
            let reply = self.call(call).await;
            if reply.operation_status()? != Status::Running {
                run.patience().ended(webhook);
                return Ok(reply);
            }
            if run.patience().never_ends(webhook) {
                let got = "still Running, as each operation of it in this run";
                let failed = reply.failed(format!("{webhook} done"), got);
                return Err(self.hopeless(webhook, failed.hint(NEVER_ENDS)));
            }
            let budget = run.operation_budget();
            let wait = match reply.retry_delay() {
                Some(delay) => run.settings.scaled(delay),
                None => default_wait(polls),
            };
            if began.elapsed().saturating_add(wait) > budget {
                run.patience().gave_up(webhook);
                let expected = format!("{} done within the budget of {budget:?}", call.webhook());
                let (took, calls) = (began.elapsed(), polls + 1);
                let got = match reply.retry_delay() {
                    Some(delay) if delay >= budget => format!(
                        "Running with a minRetryDelayInSeconds of {} s, which is longer",
                        delay.as_secs()
                    ),
                    _ => format!("still Running after {took:?} and {calls} calls"),
                };
                return Err(reply.failed(expected, got).hint(NEVER_ENDS));
            }
            tokio::time::sleep(wait).await;
            polls += 1;
        }
    }

    /// The failure of a webhook that another check covers, unless it is this one.
    fn hopeless(&self, webhook: &str, error: CheckError) -> CheckError {
        match self.run.basis(webhook) {
            basis if basis == self.check => error,
            basis => error.blocked_by(basis),
        }
    }
}

const NEVER_ENDS: &str = "Each call starts the operation again, its result is not found by the recordID, or it takes longer than budgets.async of the fixture (--budget async=…).";

fn default_wait(polls: u32) -> Duration {
    let doubled =
        |wait: Duration, times: u32| wait.saturating_mul(2_u32.saturating_pow(times.min(8)));
    if polls < PATIENT_AFTER {
        doubled(FIRST, polls).min(SHORT)
    } else {
        doubled(SHORT, polls - PATIENT_AFTER).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_short_at_first_and_never_long() {
        assert_eq!(default_wait(0), FIRST);
        assert_eq!(default_wait(1), FIRST * 2);
        assert_eq!(default_wait(PATIENT_AFTER), SHORT);
        assert_eq!(default_wait(PATIENT_AFTER + 1), SHORT * 2);
        assert_eq!(default_wait(u32::MAX), LONGEST);
    }
}
