//! Asking again while a driver says `Running`.

use super::{Answer, Call, Lab, Status};
use crate::verdict::NotPassed;
use std::time::Duration;
use tokio::time::Instant;

/// How long to wait where a driver does not say: very short at first, since many are done at once,
/// then short, and longer after a while.
const FIRST: Duration = Duration::from_millis(20);
const SHORT: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);
/// After how many polls the waits grow beyond [`SHORT`].
const PATIENT_AFTER: u32 = 20;

impl Lab {
    /// Makes a call, and again as long as it is answered with `Running`, as controllers do: under
    /// the same recordID, after the delay that the driver asks for.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when there is no answer, or the operation is still running when the
    /// budget for it is used up.
    pub(crate) async fn until_done(&self, call: &Call) -> Result<Answer, NotPassed> {
        let began = Instant::now();
        let budget = self.run.fixture.budgets.asynchronous;
        let mut polls = 0;
        loop {
            let answer = self.call(call).await;
            let since = "as each answer of an operation has one";
            if answer.any_status(since)? != Status::Running {
                return Ok(answer);
            }
            let wait = self.wait_before_next(&answer, polls);
            if began.elapsed().saturating_add(wait) > budget {
                let expected = format!("{} done within the budget of {budget:?}", call.webhook());
                let got = format!(
                    "still Running after {:?} and {} calls",
                    began.elapsed(),
                    polls + 1
                );
                return Err(answer.failed(expected, got).hint(
                    "The operation is begun anew by each call, its result is not found again by the recordID, or it takes longer than the fixture's budgets.async.",
                ));
            }
            tokio::time::sleep(wait).await;
            polls += 1;
        }
    }

    /// How long to wait before asking again after this answer.
    pub(crate) fn wait_before_next(&self, answer: &Answer, polls: u32) -> Duration {
        match answer.delay() {
            Some(delay) => self.run.settings.scaled(delay),
            None => default_wait(polls),
        }
    }
}

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
