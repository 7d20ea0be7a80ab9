//! What becomes of a Job.

use std::time::Duration;

use serde_json::Value;

use crate::agents::conditions::{find, said};
use crate::object::{Object, at};

/// From a pod's failure to the next try, at first. A cluster waits ten seconds; nobody waits here
/// for the sake of a machine.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(360);

/// What a Job asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many pods are to succeed; without a number one is enough, and no more are begun then.
    pub(super) completions: Option<i64>,
    pub(super) parallelism: i64,
    /// How many failures are too few to give up.
    pub(super) backoff: i64,
    pub(super) restarts_in_place: bool,
    /// In what time the Job has failed whatever its pods do.
    pub(super) deadline_in: Option<Duration>,
}

/// How many pods there are of each sort.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) active: i64,
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    /// How often containers of active pods were restarted.
    pub(super) restarts: i64,
}

/// What becomes of a Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It goes on, with so many pods more, or fewer.
    Run(i64),
    Complete,
    /// Reason and message.
    Failed(String, String),
}

/// What becomes of a Job.
pub(super) fn outcome(limits: Limits, tally: Tally) -> Outcome {
    let restarted_out =
        limits.restarts_in_place && tally.restarts > 0 && tally.restarts >= limits.backoff;
    if tally.failed > limits.backoff || restarted_out {
        return failed(
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
        );
    }
    if limits.deadline_in.is_some_and(|left| left.is_zero()) {
        return failed(
            "DeadlineExceeded",
            "Job was active longer than specified deadline",
        );
    }
    let wanted = match limits.completions {
        Some(completions) if tally.succeeded >= completions => return Outcome::Complete,
        Some(completions) => limits.parallelism.min(completions - tally.succeeded),
        None if tally.succeeded > 0 && tally.active == 0 => return Outcome::Complete,
        None if tally.succeeded > 0 => tally.active.min(limits.parallelism),
        None => limits.parallelism,
    };
    Outcome::Run(wanted - tally.active)
}

fn failed(reason: &str, message: &str) -> Outcome {
    Outcome::Failed(reason.to_owned(), message.to_owned())
}

/// What was decided before, and waits for the last pods to end.
pub(super) fn decided(conditions: &[Value]) -> Option<Outcome> {
    if find(conditions, "SuccessCriteriaMet").is_some() {
        return Some(Outcome::Complete);
    }
    let target = find(conditions, "FailureTarget")?;
    Some(failed(said(target, "reason"), said(target, "message")))
}

/// How long after the last failure the next pod is begun.
pub(super) fn pause(failed: i64) -> Duration {
    let doubled = failed.saturating_sub(1).clamp(0, 16);
    FIRST_PAUSE.saturating_mul(1 << doubled).min(LONGEST_PAUSE)
}

/// How often the containers of a pod were restarted.
pub(super) fn restarts(pod: &Object) -> i64 {
    at(pod, &["status", "containerStatuses"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|status| status.get("restartCount")?.as_i64())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        completions: Some(5),
        parallelism: 2,
        backoff: 1,
        restarts_in_place: false,
        deadline_in: None,
    };

    fn tally(active: i64, succeeded: i64, failed: i64) -> Tally {
        Tally {
            active,
            succeeded,
            failed,
            restarts: 0,
        }
    }

    #[test]
    fn pods_are_run_until_enough_succeeded() {
        assert_eq!(outcome(LIMITS, tally(0, 0, 0)), Outcome::Run(2));
        assert_eq!(outcome(LIMITS, tally(1, 2, 0)), Outcome::Run(1));
        assert_eq!(outcome(LIMITS, tally(1, 4, 0)), Outcome::Run(0));
        assert_eq!(outcome(LIMITS, tally(3, 0, 0)), Outcome::Run(-1));
        assert_eq!(outcome(LIMITS, tally(0, 5, 1)), Outcome::Complete);
    }

    #[test]
    fn failures_are_tried_again_so_many_times() {
        assert_eq!(outcome(LIMITS, tally(1, 0, 1)), Outcome::Run(1));
        let given_up = |limits, tally| match outcome(limits, tally) {
            Outcome::Failed(reason, _) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(given_up(LIMITS, tally(1, 0, 2)), "BackoffLimitExceeded");
        let in_place = Limits {
            restarts_in_place: true,
            backoff: 3,
            ..LIMITS
        };
        let restarted = |restarts| Tally {
            restarts,
            ..tally(2, 0, 0)
        };
        assert_eq!(outcome(in_place, restarted(2)), Outcome::Run(0));
        assert_eq!(given_up(in_place, restarted(3)), "BackoffLimitExceeded");
        let late = Limits {
            deadline_in: Some(Duration::ZERO),
            ..LIMITS
        };
        assert_eq!(given_up(late, tally(1, 0, 0)), "DeadlineExceeded");
        assert_eq!(pause(1), Duration::from_secs(1));
        assert_eq!(pause(4), Duration::from_secs(8));
        assert_eq!(pause(i64::MAX), LONGEST_PAUSE);
    }

    #[test]
    fn what_was_decided_stays() {
        use serde_json::json;
        let of = |kind: &str| [json!({"type": kind, "reason": "r", "message": "m"})];
        assert_eq!(decided(&of("SuccessCriteriaMet")), Some(Outcome::Complete));
        assert_eq!(decided(&of("FailureTarget")), Some(failed("r", "m")));
        assert_eq!(decided(&of("Suspended")), None);
    }

    #[test]
    fn a_queue_is_done_when_one_found_it_empty() {
        let queue = Limits {
            completions: None,
            ..LIMITS
        };
        assert_eq!(outcome(queue, tally(0, 0, 0)), Outcome::Run(2));
        assert_eq!(outcome(queue, tally(1, 1, 0)), Outcome::Run(0));
        assert_eq!(outcome(queue, tally(0, 2, 0)), Outcome::Complete);
    }
}
