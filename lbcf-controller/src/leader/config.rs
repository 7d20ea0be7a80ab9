//! How a controller takes part in the election.

use crate::go_duration::display;
use std::time::Duration;

/// More often than this nobody may ask the API server.
const RETRY_PERIOD_MIN: Duration = Duration::from_millis(50);
/// The Lease holds whole seconds.
const LEASE_DURATION_MIN: Duration = Duration::from_secs(1);
/// A cluster that may stand still for longer needs no election.
const LEASE_DURATION_MAX: Duration = Duration::from_secs(3600);

/// How a controller takes part in the election.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaderElection {
    /// The Lease's namespace.
    pub namespace: String,
    /// The Lease's name.
    pub name: String,
    /// Who this is, in the Lease. No two processes may have the same, and none keeps it over a
    /// restart: whoever reads its own name there takes the Lease for its own.
    pub identity: String,
    /// How long the others wait for a sign of life before one of them takes over.
    pub lease_duration: Duration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: Duration,
    /// How often the leader renews, and the others look.
    pub retry_period: Duration,
}

/// An election that cannot be taken part in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{flag} {value}: {allowed}")]
pub struct InvalidLeaderElection {
    flag: &'static str,
    value: String,
    allowed: String,
}

impl LeaderElection {
    /// The usual times, which are those of Kubernetes' own controllers: 15 s, 10 s, 2 s.
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

    /// Whether the election can be taken part in like this.
    ///
    /// # Errors
    /// [`InvalidLeaderElection`] names the first flag that is wrong, its value and what is allowed.
    pub fn check(&self) -> Result<(), InvalidLeaderElection> {
        let refuse = |flag, value: &dyn std::fmt::Display, allowed: String| {
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
            let allowed = "has to name this process".into();
            refuse("--leader-elect-identity", &"\"\"", allowed)
        } else if self.namespace.is_empty() {
            let allowed = "has to name a namespace".into();
            refuse("--leader-elect-namespace", &"\"\"", allowed)
        } else if !(LEASE_DURATION_MIN..=LEASE_DURATION_MAX).contains(&self.lease_duration) {
            let (min, max) = (display(LEASE_DURATION_MIN), display(LEASE_DURATION_MAX));
            let allowed = format!("has to be from {min} to {max}");
            refuse("--leader-elect-lease-duration", &lease, allowed)
        } else if self.renew_deadline >= self.lease_duration {
            let allowed = format!("has to be less than --leader-elect-lease-duration {lease}");
            refuse("--leader-elect-renew-deadline", &renew, allowed)
        } else if self.retry_period >= self.renew_deadline {
            let allowed = format!("has to be less than --leader-elect-renew-deadline {renew}");
            refuse("--leader-elect-retry-period", &retry, allowed)
        } else if self.retry_period < RETRY_PERIOD_MIN {
            let allowed = format!("has to be at least {}", display(RETRY_PERIOD_MIN));
            refuse("--leader-elect-retry-period", &retry, allowed)
        } else {
            Ok(())
        }
    }

    /// How long one call to the API server may take: short enough for a second one before the
    /// deadline.
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
                "--leader-elect-renew-deadline 15s: has to be less than --leader-elect-lease-duration 15s",
            ),
            (
                with(|c| c.retry_period = seconds(10)),
                "--leader-elect-retry-period 10s: has to be less than --leader-elect-renew-deadline 10s",
            ),
            (
                with(|c| c.retry_period = Duration::from_nanos(1)),
                "--leader-elect-retry-period 0s: has to be at least 50ms",
            ),
            (
                with(|c| c.lease_duration = Duration::MAX),
                "s: has to be from 1s to 3600s",
            ),
            (
                with(|c| c.lease_duration = Duration::from_millis(999)),
                "--leader-elect-lease-duration 999ms: has to be from 1s to 3600s",
            ),
            (
                with(|c| c.identity = " ".into()),
                "--leader-elect-identity \"\": has to name this process",
            ),
            (
                with(|c| c.namespace.clear()),
                "--leader-elect-namespace \"\": has to name a namespace",
            ),
        ] {
            let error = config.check().unwrap_err().to_string();
            assert!(error.ends_with(told), "{error}");
        }
    }
}
