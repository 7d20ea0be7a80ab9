//! The configuration of the election.

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
            name: "lbcf-controller".into(),
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
