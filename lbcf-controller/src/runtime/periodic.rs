//! Ensuring periodically: `ensurePolicy: Always` (b17, b139).

use crate::api::{EnsurePolicy, EnsurePolicyType};
use crate::index::RequestKey;
use crate::process::backoff::{jitter, spread};
use crate::process::lock::Mutex;
use crate::runtime::outcome::Action;
use lbcf_serving::duration;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// If a policy sets none (b17).
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
    /// Returns the action for an object that has nothing else left to do.
    pub(crate) const fn action(self) -> Action {
        match self {
            Self::Never | Self::Now => Action::AwaitChange,
            Self::In(wait) => Action::RequeueAfter(wait),
        }
    }
}

/// When objects are due to be ensured. This is not stored: after a start they become due one by
/// one within a period, not all at once.
#[derive(Debug, Default)]
pub(crate) struct Periods {
    due: Mutex<HashMap<RequestKey, Instant>>,
    /// The objects that were ensured since a start at which everything is to be ensured; `None` after
    /// another start.
    ensured: Option<Mutex<HashSet<RequestKey>>>,
}

impl Periods {
    /// `ensure_at_start` makes everything due once, also what has no period (d56).
    pub(crate) fn new(ensure_at_start: bool) -> Self {
        Self {
            due: Mutex::default(),
            ensured: ensure_at_start.then(Mutex::default),
        }
    }

    pub(crate) fn due(&self, key: &RequestKey, period: Option<Duration>) -> Due {
        let ensured = self.ensured.as_ref();
        if ensured.is_some_and(|ensured| !ensured.lock().contains(key)) {
            return Due::Now;
        }
        let Some(period) = period else {
            return Due::Never;
        };
        let now = Instant::now();
        let mut due = self.due.lock();
        let due = due
            .entry(key.clone())
            .or_insert_with(|| now + period.mul_f64(jitter()));
        // A period that was shortened applies from now on.
        *due = (*due).min(now + period.mul_f64(1.1));
        match due.checked_duration_since(now) {
            Some(wait) if !wait.is_zero() => Due::In(wait),
            _ => Due::Now,
        }
    }

    /// Starts an object's next period, if it has one.
    pub(crate) fn restart(&self, key: &RequestKey, period: Option<Duration>) -> Due {
        if let Some(ensured) = &self.ensured {
            ensured.lock().insert(key.clone());
        }
        let Some(wait) = period.map(spread) else {
            return Due::Never;
        };
        self.due.lock().insert(key.clone(), Instant::now() + wait);
        Due::In(wait)
    }

    pub(crate) fn remove(&self, key: &RequestKey) {
        self.due.lock().remove(key);
        if let Some(ensured) = &self.ensured {
            ensured.lock().remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> RequestKey {
        RequestKey::Record(crate::api::ObjectKey::new("ns", name))
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

    #[tokio::test(start_paused = true)]
    async fn b139_the_next_ensure_is_due_after_the_period_and_at_most_a_tenth_more() {
        let (periods, period) = (Periods::default(), Duration::from_secs(60));
        let period = Some(period);
        let Due::In(wait) = periods.restart(&key("a"), period) else {
            panic!()
        };
        assert!((60..=66).contains(&wait.as_secs()), "{wait:?}");
        assert_eq!(periods.due(&key("a"), period), Due::In(wait));
        tokio::time::advance(wait).await;
        assert_eq!(periods.due(&key("a"), period), Due::Now);
        periods.restart(&key("a"), period);
        let shorter = periods.due(&key("a"), Some(Duration::from_secs(10)));
        assert!(
            matches!(shorter, Due::In(wait) if wait <= Duration::from_secs(11)),
            "{shorter:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn d56_everything_is_due_once_after_a_start_that_ensures() {
        let periods = Periods::new(true);
        let minute = Some(Duration::from_secs(60));
        for period in [None, minute] {
            assert_eq!(periods.due(&key("a"), period), Due::Now);
        }
        periods.restart(&key("a"), None);
        assert_eq!(periods.due(&key("a"), None), Due::Never);
        assert!(matches!(periods.due(&key("a"), minute), Due::In(_)));
        assert_eq!(periods.due(&key("b"), None), Due::Now);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_start_objects_are_not_all_due_at_once() {
        let (periods, period) = (Periods::default(), Duration::from_secs(600));
        let waits: std::collections::HashSet<_> = (0..20)
            .filter_map(|n| match periods.due(&key(&n.to_string()), Some(period)) {
                Due::In(wait) => Some(wait),
                Due::Now | Due::Never => None,
            })
            .collect();
        assert!(waits.len() > 5, "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= period));
    }
}
