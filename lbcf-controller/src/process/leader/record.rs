//! The content of the Lease.

use super::config::LeaderElection;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::ObjectMeta;

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
    fn a_transition_count_of_anybody_else_does_not_overflow() {
        let theirs = LeaseSpec {
            lease_transitions: Some(i32::MAX),
            ..LeaseSpec::default()
        };
        let taken = held(Some(&theirs), &config(), at(0));
        assert_eq!(taken.lease_transitions, Some(i32::MAX));
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
    fn times_are_written_with_microseconds() {
        let spec = held(None, &config(), at(1_500_000));
        let written = serde_json::to_value(spec).unwrap();
        assert_eq!(written["renewTime"], "1970-01-01T00:00:01.500000Z");
    }

    #[test]
    fn what_others_put_into_the_lease_stays_there() {
        let theirs = LeaseSpec {
            strategy: Some("OldestEmulationVersion".into()),
            ..LeaseSpec::default()
        };
        let taken = held(Some(&theirs), &config(), at(0));
        assert_eq!(taken.strategy, theirs.strategy);
    }

    #[test]
    fn the_promise_is_rounded_up() {
        let mut config = config();
        config.lease_duration = Duration::from_millis(1001);
        assert_eq!(held(None, &config, at(0)).lease_duration_seconds, Some(2));
    }
}
