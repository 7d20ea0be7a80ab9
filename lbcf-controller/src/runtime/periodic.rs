//! Ensuring periodically: `ensurePolicy: Always`.

use crate::api::{EnsurePolicy, EnsurePolicyType};
use crate::runtime::outcome::Action;
use lbcf_serving::duration;
use std::time::Duration;

/// If a policy sets none.
const DEFAULT_PERIOD: Duration = Duration::from_secs(60);

/// The period of a policy, at least `min`; none if it is not `Always`. An invalid duration, which
/// admission rejects, counts as absent.
pub(crate) fn period(policy: Option<&EnsurePolicy>, min: Duration) -> Option<Duration> {
    let policy = policy?;
    (policy.policy == EnsurePolicyType::Always).then(|| {
        let period = policy.min_period.as_deref();
        let period = period.and_then(|text| duration::parse(text).ok());
        period.unwrap_or(DEFAULT_PERIOD).max(min)
    })
}

/// When an object is ensured although nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Never,
    In(Duration),
    Now,
}

impl Due {
    /// The action if nothing else is left to do.
    pub(crate) const fn action(self) -> Action {
        match self {
            Self::Never | Self::Now => Action::AwaitChange,
            Self::In(wait) => Action::RequeueAfter(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(policy: EnsurePolicyType, min_period: Option<&str>) -> EnsurePolicy {
        EnsurePolicy {
            policy,
            min_period: min_period.map(str::to_owned),
        }
    }

    #[test]
    fn b17_always_has_a_period_of_a_minute_by_default_and_if_not_succ_has_none() {
        use EnsurePolicyType::{Always, IfNotSucc};
        let min = Duration::from_secs(10);
        for (policy, seconds) in [
            (None, None),
            (Some(policy(IfNotSucc, Some("40s"))), None),
            (Some(policy(Always, None)), Some(60)),
            (Some(policy(Always, Some("1m30s"))), Some(90)),
            (Some(policy(Always, Some("1s"))), Some(10)),
            (Some(policy(Always, Some("soon"))), Some(60)),
        ] {
            let period = period(policy.as_ref(), min);
            assert_eq!(period.map(|period| period.as_secs()), seconds, "{policy:?}");
        }
    }
}
