use super::*;
use crate::api::{EndpointBackendRecord, PodBackendRecord, names::ANNOTATION_SOURCE};
use std::collections::BTreeMap;
use std::time::Duration;

fn pod(ip: &str) -> PodView {
    PodView {
        ip: ip.into(),
        ready: true,
        running: true,
        ..PodView::default()
    }
}

fn record(change: impl Fn(&mut BackendRecord)) -> BackendRecord {
    let mut record = BackendRecord::default();
    record.metadata.annotations = Some(BTreeMap::from([(
        ANNOTATION_SOURCE.into(),
        "10.0.0.1".into(),
    )]));
    record.spec.pod_backend = Some(PodBackendRecord::default());
    let status = record.status.get_or_insert_default();
    status.conditions = vec![Condition::met(condition_types::REGISTERED, None)];
    change(&mut record);
    record
}

#[test]
fn d90_a_backend_waits_that_serves_at_the_address_it_was_registered_with() {
    let of_pod = record(|_| {});
    assert!(may_wait(&of_pod, Some(&pod("10.0.0.1"))));
    let endpoint = EndpointBackendRecord {
        address: "10.0.0.2".into(),
        ..EndpointBackendRecord::default()
    };
    let of_endpoint = record(|it| it.spec.endpoint_backend = Some(endpoint.clone()));
    assert!(may_wait(&of_endpoint, Some(&pod("10.0.0.2"))));
    let of_address = record(|it| {
        it.spec.pod_backend = None;
        it.spec.static_addr = Some("10.0.0.3".into());
    });
    assert!(may_wait(&of_address, None));
}

#[test]
fn d90_what_cannot_serve_leaves_at_once() {
    let of_pod = record(|_| {});
    assert!(!may_wait(&of_pod, None), "its pod is gone");
    type Change<T> = (&'static str, fn(&mut T));
    let pods: [Change<PodView>; 4] = [
        ("another pod of its name", |it| it.ip = "10.0.0.9".into()),
        ("not ready", |it| it.ready = false),
        ("being deleted", |it| it.deleting = true),
        ("ended", |it| it.finished = true),
    ];
    for (name, change) in pods {
        let mut pod = pod("10.0.0.1");
        change(&mut pod);
        assert!(!may_wait(&of_pod, Some(&pod)), "{name}");
    }
    let records: [Change<BackendRecord>; 2] = [
        ("never registered", |it| it.status = None),
        ("of the original controller", |it| {
            it.metadata.annotations = None;
        }),
    ];
    for (name, change) in records {
        assert!(!may_wait(&record(change), Some(&pod("10.0.0.1"))), "{name}");
    }
}

#[test]
fn d90_nothing_is_waited_for_when_all_that_is_wanted_is_registered() {
    let counts = |registered, backends| BackendCounts {
        registered,
        backends,
        ..BackendCounts::default()
    };
    assert!(is_replaced(&counts(0, 0)) && is_replaced(&counts(2, 2)));
    assert!(!is_replaced(&counts(1, 2)));
}

#[test]
fn d90_the_condition_keeps_when_the_replacement_began() {
    let began_at = "2026-01-01T00:00:00Z";
    let stored = [].with(condition(Some(1)), began_at.parse().unwrap());
    assert_eq!(began(&stored), began_at.parse().ok());
    let later = began_at.parse::<Timestamp>().unwrap() + Duration::from_secs(60);
    let stored = stored.with(condition(Some(2)), later);
    assert_eq!(began(&stored), began_at.parse().ok(), "of the first one");
    let ended = Condition::unmet(condition_types::REPLACING, reasons::RESOLVED, "", Some(2));
    assert_eq!(began(&stored.with(ended, later)), None);
}
