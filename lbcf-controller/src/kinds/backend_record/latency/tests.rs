use super::*;
use crate::api::{ConditionStatus, reasons};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// Seconds after the record's creation or deletion.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn created_at(seconds: i64) -> BackendRecord {
    let mut record = BackendRecord::default();
    record.metadata.creation_timestamp = Some(Time(at(seconds)));
    record
}

fn with_condition(record: &BackendRecord, condition: Condition, now: Timestamp) -> BackendRecord {
    let mut record = record.clone();
    let is_met = condition.status == ConditionStatus::True;
    let since = if is_met {
        now
    } else {
        unmet_since(&record, now)
    };
    let status = record.status.get_or_insert_default();
    status.conditions = status.conditions.with(condition, since);
    record
}

fn pod(ready: bool, since: i64) -> PodView {
    PodView {
        ip: "10.0.0.1".into(),
        ready,
        since: Some(at(since)),
        ..PodView::default()
    }
}

fn leaving(since: i64) -> PodView {
    PodView {
        deleting: true,
        ..pod(true, since)
    }
}

#[test]
fn a_backend_waits_since_its_pod_was_ready_and_it_could_be_registered() {
    for (pod, possible, expected) in [
        (Some(pod(true, -3)), None, -3),
        (Some(pod(true, -3)), Some(-100), -3),
        (Some(pod(true, -100)), Some(-3), -3),
        // It became ready again while the driver failed.
        (Some(pod(true, 40)), Some(-3), 40),
        (Some(pod(true, -300)), None, -300),
        // It had been ready for long: its label, or what selects it, was changed.
        (Some(pod(true, -301)), None, 0),
        (Some(pod(true, -301)), Some(-9), -9),
        // A node, a static address, and pods that are gone, unready and leaving.
        (None, Some(-3), 0),
        (Some(pod(false, -3)), None, 0),
        (Some(leaving(-3)), None, 0),
    ] {
        let since = decide_waits_since(&created_at(0), pod.as_ref(), possible.map(at));
        assert_eq!(since, Some(at(expected)), "{pod:?} {possible:?}");
    }
}

#[test]
fn a_backend_that_was_registered_before_does_not_wait() {
    let record = created_at(0);
    let failed = Condition::unmet(
        condition_types::REGISTERED,
        reasons::WEBHOOK_ERROR,
        "no",
        Some(1),
    );
    let registered = Condition::met(condition_types::REGISTERED, Some(1));
    let waits = |record: &BackendRecord| decide_waits_since(record, None, None).is_some();
    // It failed at first, and again after a change of the spec.
    let never = with_condition(&record, failed.clone(), at(20));
    let never = with_condition(&never, failed.clone(), at(30));
    assert!(waits(&record) && waits(&never));
    for record in [&record, &never] {
        let before = with_condition(record, registered.clone(), at(40));
        // This clock is behind that of the API server.
        for failed_at in [0, 50, -50] {
            assert!(!waits(&with_condition(
                &before,
                failed.clone(),
                at(failed_at)
            )));
        }
    }
    // The API server always has it.
    assert!(!waits(&BackendRecord::default()));
}

#[test]
fn a_backend_leaves_since_its_pod_does() {
    let mut record = created_at(-1000);
    assert_eq!(decide_leaves_since(&record, None), None, "it stays");
    record.metadata.deletion_timestamp = Some(Time(at(0)));
    for (pod, expected) in [
        (Some(leaving(-3)), -3),
        (Some(pod(false, -3)), -3),
        // It was kept though it was unready, until somebody deleted its group.
        (Some(pod(false, -301)), 0),
        // Its group was deleted first.
        (Some(leaving(5)), 0),
        (Some(pod(true, -3)), 0),
        (None, 0),
    ] {
        let since = decide_leaves_since(&record, pod.as_ref());
        assert_eq!(since, Some(at(expected)), "{pod:?}");
    }
}

#[test]
fn a_clock_that_is_ahead_makes_no_negative_time() {
    assert_eq!(elapsed(at(3), at(10)), Duration::from_secs(7));
    assert_eq!(elapsed(at(10), at(3)), Duration::ZERO);
}
