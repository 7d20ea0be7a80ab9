//! The configuration of the election, and the content of the Lease.

use crate::api::names::CONTROLLER;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::ObjectMeta;
use lbcf_serving::duration::display;
use std::time::Duration;

/// Limits the load on the API server.
const RETRY_PERIOD_MIN: Duration = Duration::from_millis(50);
/// A Lease stores whole seconds.
const LEASE_DURATION_MIN: Duration = Duration::from_secs(1);
const LEASE_DURATION_MAX: Duration = Duration::from_secs(3600);

/// The configuration of the election. Durations as in client-go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderElection {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease, `lbcf-controller` by default.
    pub name: String,
    /// The holder identity in the Lease. Unique to this process, also across restarts: a process that
    /// reads its own identity takes the Lease for its own.
    pub identity: String,
    /// The others wait this long after the last renewal before one of them acquires the Lease.
    pub lease_duration: Duration,
    /// The leader tries to renew this long before it stops leading.
    pub renew_deadline: Duration,
    /// Period in which the leader renews and the others read the Lease.
    pub retry_period: Duration,
}

/// The configuration is invalid; the message names the flag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flag} {value}: {allowed}")]
pub struct InvalidLeaderElection {
    flag: &'static str,
    value: String,
    allowed: String,
}

impl LeaderElection {
    /// A configuration with the durations of Kubernetes' own controllers: 15 s, 10 s and 2 s.
    pub fn new(namespace: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: CONTROLLER.into(),
            identity: identity.into(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }

    /// Validates the configuration.
    ///
    /// # Errors
    /// [`InvalidLeaderElection`] names the first invalid flag, its value and what is allowed.
    pub fn check(&self) -> Result<(), InvalidLeaderElection> {
        let invalid = |flag, value: &dyn std::fmt::Display, allowed: String| {
            Err(InvalidLeaderElection {
                flag,
                value: value.to_string(),
                allowed,
            })
        };
        let lease = display(self.lease_duration);
        let renew = display(self.renew_deadline);
        let retry = display(self.retry_period);
        if self.identity.trim().is_empty() {
            let allowed = "must name this process".into();
            invalid("--leader-elect-identity", &"\"\"", allowed)
        } else if self.namespace.is_empty() {
            let allowed = "must name a namespace".into();
            invalid("--leader-elect-namespace", &"\"\"", allowed)
        } else if !(LEASE_DURATION_MIN..=LEASE_DURATION_MAX).contains(&self.lease_duration) {
            let (min, max) = (display(LEASE_DURATION_MIN), display(LEASE_DURATION_MAX));
            let allowed = format!("must be from {min} to {max}");
            invalid("--leader-elect-lease-duration", &lease, allowed)
        } else if self.renew_deadline >= self.lease_duration {
            let allowed = format!("must be less than --leader-elect-lease-duration {lease}");
            invalid("--leader-elect-renew-deadline", &renew, allowed)
        } else if self.retry_period >= self.renew_deadline {
            let allowed = format!("must be less than --leader-elect-renew-deadline {renew}");
            invalid("--leader-elect-retry-period", &retry, allowed)
        } else if self.retry_period < RETRY_PERIOD_MIN {
            let allowed = format!("must be at least {}", display(RETRY_PERIOD_MIN));
            invalid("--leader-elect-retry-period", &retry, allowed)
        } else {
            Ok(())
        }
    }

    /// The timeout of one request, short enough for a second attempt before the deadline.
    pub(super) fn call_timeout(&self) -> Duration {
        self.renew_deadline / 2
    }
}

/// The Lease when this process acquires or renews it. `now` is wall-clock time and informative.
pub(super) fn held(old: Option<&LeaseSpec>, config: &LeaderElection, now: Timestamp) -> LeaseSpec {
    let old = old.cloned();
    let is_own = old
        .as_ref()
        .is_some_and(|old| old.holder_identity.as_deref() == Some(&config.identity));
    let transitions = match &old {
        None => 0,
        Some(old) if is_own => old.lease_transitions.unwrap_or_default(),
        Some(old) => old.lease_transitions.unwrap_or_default().saturating_add(1),
    };
    let old = old.unwrap_or_default();
    let now = tick(now, old.renew_time.as_ref());
    LeaseSpec {
        holder_identity: Some(config.identity.clone()),
        lease_duration_seconds: Some(whole_seconds(config)),
        lease_transitions: Some(transitions),
        acquire_time: old
            .acquire_time
            .clone()
            .filter(|_| is_own)
            .or_else(|| Some(now.clone())),
        renew_time: Some(now),
        ..old
    }
}

pub(super) fn released(old: &LeaseSpec, now: Timestamp) -> LeaseSpec {
    let now = tick(now, old.renew_time.as_ref());
    LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(now.clone()),
        renew_time: Some(now),
        ..old.clone()
    }
}

pub(super) fn new_lease(config: &LeaderElection, spec: LeaseSpec) -> Lease {
    Lease {
        metadata: ObjectMeta {
            name: Some(config.name.clone()),
            namespace: Some(config.namespace.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(spec),
    }
}

/// The time in microseconds, different from the last one: a renewal that changed nothing in the Lease
/// would look like none to the others.
fn tick(now: Timestamp, last: Option<&MicroTime>) -> MicroTime {
    let whole =
        |time: Timestamp| Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time);
    let now = whole(now);
    if last.is_some_and(|last| whole(last.0) == now) {
        MicroTime(
            now.checked_add(SignedDuration::from_micros(1))
                .unwrap_or(now),
        )
    } else {
        MicroTime(now)
    }
}

/// Rounded up, so that no other process acquires the Lease early.
fn whole_seconds(config: &LeaderElection) -> i32 {
    let started = u64::from(config.lease_duration.subsec_nanos() > 0);
    i32::try_from(config.lease_duration.as_secs().saturating_add(started)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn with(change: impl FnOnce(&mut LeaderElection)) -> LeaderElection {
        let mut config = LeaderElection::new("kube-system", "a");
        change(&mut config);
        config
    }

    #[test]
    fn times_that_do_not_fit_together_are_refused_by_the_names_of_their_flags() {
        assert_eq!(with(|_| {}).check(), Ok(()));
        let seconds = Duration::from_secs;
        for (config, told) in [
            (
                with(|c| c.renew_deadline = seconds(15)),
                "--leader-elect-renew-deadline 15s: must be less than --leader-elect-lease-duration 15s",
            ),
            (
                with(|c| c.retry_period = seconds(10)),
                "--leader-elect-retry-period 10s: must be less than --leader-elect-renew-deadline 10s",
            ),
            (
                with(|c| c.retry_period = Duration::from_nanos(1)),
                "--leader-elect-retry-period 0s: must be at least 50ms",
            ),
            (
                with(|c| c.lease_duration = Duration::MAX),
                "s: must be from 1s to 3600s",
            ),
            (
                with(|c| c.lease_duration = Duration::from_millis(999)),
                "--leader-elect-lease-duration 999ms: must be from 1s to 3600s",
            ),
            (
                with(|c| c.identity = " ".into()),
                "--leader-elect-identity \"\": must name this process",
            ),
            (
                with(|c| c.namespace.clear()),
                "--leader-elect-namespace \"\": must name a namespace",
            ),
        ] {
            let error = config.check().unwrap_err().to_string();
            assert!(error.ends_with(told), "{error}");
        }
    }

    fn config() -> LeaderElection {
        LeaderElection::new("kube-system", "us")
    }

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_microsecond(micros).unwrap()
    }

    #[test]
    fn the_first_holder_makes_no_transition_and_each_further_one_makes_one() {
        let first = held(None, &config(), at(1_000_001));
        assert_eq!(first.lease_transitions, Some(0));
        assert_eq!(first.lease_duration_seconds, Some(15));
        assert_eq!(first.acquire_time, first.renew_time);
        let renewed = held(Some(&first), &config(), at(2_000_001));
        assert_eq!(renewed.lease_transitions, Some(0));
        assert_eq!(renewed.acquire_time, first.acquire_time);
        assert_eq!(renewed.renew_time, Some(MicroTime(at(2_000_001))));
        let other = LeaderElection::new("kube-system", "them");
        let taken = held(Some(&renewed), &other, at(3_000_001));
        assert_eq!(taken.lease_transitions, Some(1));
        assert_eq!(taken.acquire_time, Some(MicroTime(at(3_000_001))));
        let free = released(&taken, at(4_000_001));
        assert_eq!(free.holder_identity.as_deref(), Some(""));
        assert_eq!(free.lease_duration_seconds, Some(1));
        assert_eq!(free.lease_transitions, Some(1));
        let again = held(Some(&free), &config(), at(5_000_001));
        assert_eq!(again.lease_transitions, Some(2));
        assert_eq!(again.lease_duration_seconds, Some(15));
    }

    #[test]
    fn a_renewal_differs_from_the_last_even_where_the_clock_stands_still() {
        let first = held(None, &config(), at(7));
        let second = held(Some(&first), &config(), at(7));
        assert_ne!(first, second);
        let last = held(Some(&second), &config(), Timestamp::MAX);
        assert_ne!(last, second);
    }

    #[test]
    fn times_are_written_with_microseconds_and_the_promise_is_rounded_up() {
        let config = with(|c| c.lease_duration = Duration::from_millis(1001));
        let written = serde_json::to_value(held(None, &config, at(1_500_000))).unwrap();
        assert_eq!(written["renewTime"], "1970-01-01T00:00:01.500000Z");
        assert_eq!(written["leaseDurationSeconds"], 2);
    }

    #[test]
    fn what_others_put_into_the_lease_stays_there_and_their_count_does_not_overflow() {
        let theirs = LeaseSpec {
            lease_transitions: Some(i32::MAX),
            strategy: Some("OldestEmulationVersion".into()),
            ..LeaseSpec::default()
        };
        let taken = held(Some(&theirs), &config(), at(0));
        assert_eq!(taken.lease_transitions, Some(i32::MAX));
        assert_eq!(taken.strategy, theirs.strategy);
    }
}
