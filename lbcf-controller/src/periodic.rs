//! Ensuring again and again: `ensurePolicy: Always` (b17, b139).

use crate::api::{EnsurePolicy, EnsurePolicyType};
use crate::go_duration;
use crate::key::WorkKey;
use crate::queue::{jitter, spread};
use crate::work::Progress;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The period where a policy names none (b17).
const DEFAULT_PERIOD: Duration = Duration::from_secs(60);

/// The least time between two calls; none where it is not ensured again. A text that is no
/// duration, which admission refuses, counts as not given.
#[must_use]
pub(crate) fn period(policy: Option<&EnsurePolicy>, least: Duration) -> Option<Duration> {
    let policy = policy?;
    (policy.policy == EnsurePolicyType::Always).then(|| {
        let said = policy.min_period.as_deref();
        let said = said.and_then(|text| go_duration::parse(text).ok());
        said.unwrap_or(DEFAULT_PERIOD).max(least)
    })
}

/// When something is ensured again although nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// Not at all.
    Never,
    /// After this time.
    In(Duration),
    /// Now.
    Now,
}

impl Due {
    /// What that means for a key with nothing else to do.
    pub(crate) const fn then(self) -> Progress {
        match self {
            Self::Never | Self::Now => Progress::Settled,
            Self::In(wait) => Progress::After(wait),
        }
    }
}

/// When what is ensured again and again is due. Nothing of it is stored: after a start everything
/// comes at a time of its own within one period, and not all at once.
#[derive(Debug, Default)]
pub(crate) struct Periods(Mutex<HashMap<WorkKey, Instant>>);

impl Periods {
    /// When an object is due.
    pub(crate) fn due(&self, key: &WorkKey, period: Duration) -> Due {
        let now = Instant::now();
        let mut due = self.lock();
        let due = due
            .entry(key.clone())
            .or_insert_with(|| now + period.mul_f64(jitter()));
        // A period that was made shorter counts from now on.
        *due = (*due).min(now + period.mul_f64(1.1));
        match due.checked_duration_since(now) {
            Some(wait) if !wait.is_zero() => Due::In(wait),
            _ => Due::Now,
        }
    }

    /// Notes that an object was ensured; gives how long it waits now.
    pub(crate) fn restart(&self, key: &WorkKey, period: Duration) -> Duration {
        let wait = spread(period);
        self.lock().insert(key.clone(), Instant::now() + wait);
        wait
    }

    /// Forgets an object.
    pub(crate) fn forget(&self, key: &WorkKey) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WorkKey, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> WorkKey {
        WorkKey::Record(crate::key::ObjectKey::new("ns", name))
    }

    fn policy(policy: EnsurePolicyType, min_period: Option<&str>) -> EnsurePolicy {
        EnsurePolicy {
            policy,
            min_period: min_period.map(str::to_owned),
        }
    }

    #[test]
    fn b17_always_has_a_period_of_a_minute_by_default_and_if_not_succ_has_none() {
        use EnsurePolicyType::{Always, IfNotSucc};
        let least = Duration::from_secs(10);
        for (policy, seconds) in [
            (None, None),
            (Some(policy(IfNotSucc, Some("40s"))), None),
            (Some(policy(Always, None)), Some(60)),
            (Some(policy(Always, Some("1m30s"))), Some(90)),
            (Some(policy(Always, Some("1s"))), Some(10)),
            (Some(policy(Always, Some("soon"))), Some(60)),
        ] {
            let period = period(policy.as_ref(), least);
            assert_eq!(period.map(|period| period.as_secs()), seconds, "{policy:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn b139_what_was_ensured_waits_its_period_and_a_tenth_more_at_most() {
        let (periods, period) = (Periods::default(), Duration::from_secs(60));
        let wait = periods.restart(&key("a"), period);
        assert!((60..=66).contains(&wait.as_secs()), "{wait:?}");
        assert_eq!(periods.due(&key("a"), period), Due::In(wait));
        tokio::time::advance(wait).await;
        assert_eq!(periods.due(&key("a"), period), Due::Now);
        periods.restart(&key("a"), period);
        let shorter = periods.due(&key("a"), Duration::from_secs(10));
        assert!(
            matches!(shorter, Due::In(wait) if wait <= Duration::from_secs(11)),
            "{shorter:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_start_not_everything_is_due_at_once() {
        let (periods, period) = (Periods::default(), Duration::from_secs(600));
        let waits: std::collections::HashSet<_> = (0..20)
            .filter_map(|n| match periods.due(&key(&n.to_string()), period) {
                Due::In(wait) => Some(wait),
                Due::Now | Due::Never => None,
            })
            .collect();
        assert!(waits.len() > 5, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= period));
    }
}
