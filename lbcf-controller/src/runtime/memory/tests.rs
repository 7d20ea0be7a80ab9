use super::*;
use crate::api::{LoadBalancerDriverSpec, ObjectKey, reasons};
use lbcf_driver_sdk::webhook::DeregisterBackend;
use std::collections::HashSet;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn memory() -> Memory {
    Memory::new(&Options::default())
}

fn key() -> RequestKey {
    RequestKey::Record(ObjectKey::new("ns", "r"))
}

#[tokio::test(start_paused = true)]
async fn d44_a_wait_lasts_until_it_ends_or_is_for_something_else() {
    let memory = memory();
    let begin = |what| memory.begin_wait(&key(), what, None).lasted;
    assert!(!memory.end_wait(&key()));
    assert_eq!(begin("A"), Duration::ZERO);
    tokio::time::advance(SECOND).await;
    assert_eq!(begin("A"), SECOND);
    assert_eq!(begin("B"), Duration::ZERO);
    tokio::time::advance(SECOND).await;
    assert!(memory.end_wait(&key()));
    assert_eq!(begin("B"), Duration::ZERO);
    assert!(memory.end_wait(&key()));
    assert!(memory.notes.lock().is_empty(), "nothing is left behind");
}

fn digest(generation: i64, addr: &str, retry_id: &str) -> CallDigest {
    let request = DeregisterBackend {
        record_id: "deregisterBackend(uid)".into(),
        retry_id: retry_id.into(),
        backend_addr: addr.into(),
        ..DeregisterBackend::default()
    };
    let mut driver = LoadBalancerDriver::new("d", LoadBalancerDriverSpec::default());
    driver.metadata.generation = Some(generation);
    CallDigest::of::<DeregisterBackend>(&driver, &request)
}

#[tokio::test(start_paused = true)]
async fn b138_d22_the_same_call_waits_and_another_one_does_not() {
    let memory = memory();
    let delay = |addr, retry_id| memory.call_delay(&key(), || digest(1, addr, retry_id));
    assert_eq!(memory.call_delay(&key(), || unreachable!()), None);
    memory.delay_call(&key(), digest(1, "a", "1"), SECOND);
    assert_eq!(delay("a", "2"), Some(SECOND));
    tokio::time::advance(SECOND / 4).await;
    assert_eq!(delay("a", "3"), Some(SECOND * 3 / 4));
    tokio::time::advance(SECOND).await;
    assert_eq!(delay("a", "4"), None);
    for changed in [digest(2, "a", "5"), digest(1, "b", "5")] {
        memory.delay_call(&key(), digest(1, "a", "5"), SECOND);
        assert_eq!(memory.call_delay(&key(), || changed), None);
        assert_eq!(delay("a", "6"), None, "ended");
    }
    memory.delay_call(&key(), digest(1, "a", "7"), SECOND);
    memory.remove(&key());
    assert_eq!(delay("a", "8"), None);
}

const STORED: &str = "2026-01-01T00:05:00.001Z";

fn retry_in(memory: &Memory, since: &str, wall: &str, stored: &str) -> Option<u64> {
    let failed = Condition {
        last_transition_time: Some(since.to_owned()),
        ..Condition::unmet("Ready", reasons::ENSURE_FAILED, "", None)
    };
    let wait = memory.retry_in(&key(), stored, &[failed], wall.parse().unwrap());
    wait.map(|wait| wait.as_secs())
}

#[tokio::test(start_paused = true)]
async fn d57_jumps_of_the_wall_clock_change_no_delay() {
    let memory = memory();
    memory.set_retry(&key(), STORED, MINUTE);
    let left = |wall| retry_in(&memory, "2026-01-01T00:04:00Z", wall, STORED);
    for wall in [
        "2025-12-31T00:04:00Z",
        "2026-01-01T00:04:00Z",
        "2026-01-02T00:04:00Z",
    ] {
        assert_eq!(left(wall), Some(60), "{wall}");
    }
    tokio::time::advance(MINUTE).await;
    assert_eq!(left("2025-12-31T00:04:00Z"), None);
}

#[tokio::test(start_paused = true)]
async fn d57_a_delay_of_an_earlier_process_applies_unless_the_clock_was_set_back_since() {
    for (wall, stored, left) in [
        ("2026-01-01T00:04:30Z", STORED, Some(30)),
        // The clocks of replicas differ.
        ("2026-01-01T00:03:30Z", STORED, Some(90)),
        ("2025-12-31T00:04:30Z", STORED, None),
        ("2026-01-02T00:04:30Z", STORED, None),
        ("2026-01-01T00:04:30Z", "soon", None),
    ] {
        let found = retry_in(&memory(), "2026-01-01T00:04:00Z", wall, stored);
        assert_eq!(found, left, "{wall} {stored}");
    }
}

#[tokio::test(start_paused = true)]
async fn b139_the_next_ensure_is_due_after_the_period_and_at_most_a_tenth_more() {
    let (memory, period) = (memory(), Some(MINUTE));
    let Due::In(wait) = memory.ensured(&key(), period) else {
        panic!()
    };
    assert!((60..=66).contains(&wait.as_secs()), "{wait:?}");
    assert_eq!(memory.due(&key(), period), Due::In(wait));
    tokio::time::advance(wait).await;
    assert_eq!(memory.due(&key(), period), Due::Now);
    memory.ensured(&key(), period);
    let shorter = memory.due(&key(), Some(MINUTE / 6));
    assert!(
        matches!(shorter, Due::In(wait) if wait <= Duration::from_secs(11)),
        "{shorter:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn d56_everything_is_due_once_after_a_start_that_ensures() {
    let memory = Memory::new(&Options {
        ensure_at_start: true,
        ..Options::default()
    });
    for period in [None, Some(MINUTE)] {
        assert_eq!(memory.due(&key(), period), Due::Now);
    }
    memory.ensured(&key(), None);
    assert_eq!(memory.due(&key(), None), Due::Never);
    assert!(matches!(memory.due(&key(), Some(MINUTE)), Due::In(_)));
    let other = RequestKey::Record(ObjectKey::new("ns", "other"));
    assert_eq!(memory.due(&other, None), Due::Now);
}

#[tokio::test(start_paused = true)]
async fn after_a_start_objects_are_not_all_due_at_once() {
    let memory = memory();
    let due = |n: usize| {
        let key = RequestKey::Record(ObjectKey::new("ns", n.to_string()));
        match memory.due(&key, Some(MINUTE)) {
            Due::In(wait) => Some(wait),
            Due::Now | Due::Never => None,
        }
    };
    let waits: HashSet<Duration> = (0..20).filter_map(due).collect();
    assert!(waits.len() > 5, "{waits:?}");
    assert!(waits.iter().all(|wait| *wait <= MINUTE));
}

#[tokio::test(start_paused = true)]
async fn d34_the_time_begins_when_a_record_is_found_without_an_owner() {
    let memory = memory();
    let wait = |is_ownerless| memory.owner_wait(&key(), is_ownerless, MINUTE);
    assert_eq!(wait(true), MINUTE);
    tokio::time::advance(MINUTE / 3).await;
    assert_eq!(wait(true), MINUTE / 3 * 2);
    tokio::time::advance(MINUTE).await;
    assert_eq!(wait(true), Duration::ZERO);
    assert_eq!(wait(false), MINUTE);
    assert_eq!(wait(true), MINUTE);
}

#[tokio::test(start_paused = true)]
async fn d61_a_unit_is_waited_for_once_and_until_it_is_back() {
    let (memory, owner) = (memory(), Owner::Group(ObjectKey::new("ns", "web")));
    let (a, b): (Unit, Unit) = ("10.0.0.1".into(), "10.0.0.2".into());
    let grace = SECOND * 3;
    assert_eq!(
        memory.ended_absences(&owner, grace),
        (BTreeSet::new(), None)
    );
    assert_eq!(memory.absence(&owner, &a, grace), grace);
    tokio::time::advance(grace / 3).await;
    assert_eq!(memory.absence(&owner, &b, grace), grace);
    assert_eq!(memory.absence(&owner, &a, grace), grace / 3 * 2);
    tokio::time::advance(grace / 3 * 2).await;
    let over = (BTreeSet::from([a.clone()]), Some(grace / 3));
    assert_eq!(memory.ended_absences(&owner, grace), over);
    memory.end_absence(&owner, &a);
    memory.end_absence(&owner, &b);
    assert!(memory.notes.lock().is_empty(), "nothing is left behind");
    assert_eq!(memory.absence(&owner, &a, grace), grace);
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
async fn d117_a_driver_is_paused_for_others_than_the_object_whose_call_was_refused() {
    let memory = memory();
    let driver = |name| ObjectKey::new("ns", name);
    let left = |key: Option<&RequestKey>| memory.pause_left(&driver("d"), key);
    let other = RequestKey::Record(ObjectKey::new("ns", "other"));
    assert_eq!(left(Some(&key())), None);
    memory.pause(&driver("d"), Some(&key()), MINUTE);
    assert_eq!(left(Some(&key())), None);
    assert_eq!(memory.pause_left(&driver("e"), Some(&other)), None);
    for key in [Some(&other), None] {
        let left = left(key).unwrap();
        assert!((MINUTE..=MINUTE.mul_f64(1.1)).contains(&left), "{left:?}");
    }
    // A longer pause stays, and a call that no request repeats pauses everything.
    memory.pause(&driver("d"), Some(&other), SECOND);
    assert!(left(Some(&other)).is_some());
    memory.pause(&driver("d"), None, 2 * MINUTE);
    assert!(left(Some(&key())).is_some() && left(None).is_some());
    tokio::time::advance(2 * MINUTE).await;
    assert_eq!(left(Some(&other)), None);
    assert!(memory.notes.lock().is_empty(), "nothing is left behind");
}

#[tokio::test(start_paused = true)]
async fn what_is_ensured_regularly_can_be_due_sooner() {
    let memory = memory();
    assert!(!memory.ensure_within(&key(), SECOND));
    assert_eq!(memory.due(&key(), None), Due::Never, "it has no period");
    memory.ensured(&key(), Some(MINUTE));
    assert!(memory.ensure_within(&key(), SECOND));
    assert!(
        !memory.ensure_within(&key(), SECOND),
        "it is as soon already"
    );
    assert_eq!(memory.due(&key(), Some(MINUTE)), Due::In(SECOND));
    tokio::time::advance(SECOND).await;
    assert_eq!(memory.due(&key(), Some(MINUTE)), Due::Now);
    assert!(!memory.ensure_within(&key(), SECOND));
}
