//! Decides whether a Job runs, completes or fails.

use std::time::Duration;

use serde_json::Value;

use crate::controllers::conditions::find;
use crate::object::string;

/// The back-off after the first failed pod. A real cluster takes ten seconds; here no machine needs to
/// recover.
const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(360);

#[derive(Clone, Copy, Debug)]
pub(super) struct JobLimits {
    /// How many pods must succeed. Without a number one is enough, and no more are started after it.
    pub(super) completions: Option<i64>,
    pub(super) parallelism: i64,
    pub(super) back_off_limit: i64,
    pub(super) restarts_in_place: bool,
    pub(super) deadline_in: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PodCounts {
    pub(super) active: i64,
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    /// Restarts of the containers of active pods.
    pub(super) restarts: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JobOutcome {
    /// Run this many pods more, or fewer.
    Run(i64),
    Complete,
    Failed(String, String),
}

pub(super) fn outcome(limits: JobLimits, pods: PodCounts) -> JobOutcome {
    let restarted_out =
        limits.restarts_in_place && pods.restarts > 0 && pods.restarts >= limits.back_off_limit;
    if pods.failed > limits.back_off_limit || restarted_out {
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
    let desired = match limits.completions {
        Some(completions) if pods.succeeded >= completions => return JobOutcome::Complete,
        Some(completions) => limits.parallelism.min(completions - pods.succeeded),
        None if pods.succeeded > 0 && pods.active == 0 => return JobOutcome::Complete,
        None if pods.succeeded > 0 => pods.active.min(limits.parallelism),
        None => limits.parallelism,
    };
    JobOutcome::Run(desired - pods.active)
}

fn failed(reason: &str, message: &str) -> JobOutcome {
    JobOutcome::Failed(reason.to_owned(), message.to_owned())
}

/// The outcome that was decided earlier, while the last pods end.
pub(super) fn decided(conditions: &[Value]) -> Option<JobOutcome> {
    if find(conditions, "SuccessCriteriaMet").is_some() {
        return Some(JobOutcome::Complete);
    }
    let target = find(conditions, "FailureTarget")?;
    Some(failed(string(target, "reason"), string(target, "message")))
}

/// How long after the last failure the next pod is started.
pub(super) fn back_off(failed: i64) -> Duration {
    let doubled = failed.saturating_sub(1).clamp(0, 16);
    FIRST_BACK_OFF
        .saturating_mul(1 << doubled)
        .min(LONGEST_BACK_OFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: JobLimits = JobLimits {
        completions: Some(5),
        parallelism: 2,
        back_off_limit: 1,
        restarts_in_place: false,
        deadline_in: None,
    };

    fn pods(active: i64, succeeded: i64, failed: i64) -> PodCounts {
        PodCounts {
            active,
            succeeded,
            failed,
            restarts: 0,
        }
    }

    #[test]
    fn pods_are_run_until_enough_succeeded() {
        assert_eq!(outcome(LIMITS, pods(0, 0, 0)), JobOutcome::Run(2));
        assert_eq!(outcome(LIMITS, pods(1, 2, 0)), JobOutcome::Run(1));
        assert_eq!(outcome(LIMITS, pods(1, 4, 0)), JobOutcome::Run(0));
        assert_eq!(outcome(LIMITS, pods(3, 0, 0)), JobOutcome::Run(-1));
        assert_eq!(outcome(LIMITS, pods(0, 5, 1)), JobOutcome::Complete);
    }

    #[test]
    fn failures_are_retried_up_to_the_limit() {
        assert_eq!(outcome(LIMITS, pods(1, 0, 1)), JobOutcome::Run(1));
        let given_up = |limits, pods| match outcome(limits, pods) {
            JobOutcome::Failed(reason, _) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(given_up(LIMITS, pods(1, 0, 2)), "BackoffLimitExceeded");
        let in_place = JobLimits {
            restarts_in_place: true,
            back_off_limit: 3,
            ..LIMITS
        };
        let restarted = |restarts| PodCounts {
            restarts,
            ..pods(2, 0, 0)
        };
        assert_eq!(outcome(in_place, restarted(2)), JobOutcome::Run(0));
        assert_eq!(given_up(in_place, restarted(3)), "BackoffLimitExceeded");
        let late = JobLimits {
            deadline_in: Some(Duration::ZERO),
            ..LIMITS
        };
        assert_eq!(given_up(late, pods(1, 0, 0)), "DeadlineExceeded");
        assert_eq!(back_off(1), Duration::from_secs(1));
        assert_eq!(back_off(4), Duration::from_secs(8));
        assert_eq!(back_off(i64::MAX), LONGEST_BACK_OFF);
    }

    #[test]
    fn earlier_decisions_stay() {
        use serde_json::json;
        let of = |kind: &str| [json!({"type": kind, "reason": "r", "message": "m"})];
        assert_eq!(
            decided(&of("SuccessCriteriaMet")),
            Some(JobOutcome::Complete)
        );
        assert_eq!(decided(&of("FailureTarget")), Some(failed("r", "m")));
        assert_eq!(decided(&of("Suspended")), None);
    }

    #[test]
    fn without_completions_one_success_is_enough() {
        let queue = JobLimits {
            completions: None,
            ..LIMITS
        };
        assert_eq!(outcome(queue, pods(0, 0, 0)), JobOutcome::Run(2));
        assert_eq!(outcome(queue, pods(1, 1, 0)), JobOutcome::Run(0));
        assert_eq!(outcome(queue, pods(0, 2, 0)), JobOutcome::Complete);
    }
}
