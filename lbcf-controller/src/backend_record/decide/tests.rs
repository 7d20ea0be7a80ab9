use super::*;
use crate::api::{BackendRecordSpec, Condition, PodBackendRecord, StringMap};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

fn record(name: &str) -> BackendRecord {
    let mut record = BackendRecord::new(
        name,
        BackendRecordSpec {
            lb_info: StringMap::from([("lbID", "lb-1")]),
            parameters: StringMap::from([("weight", "50")]),
            pod_backend: Some(PodBackendRecord::default()),
            ..BackendRecordSpec::default()
        },
    );
    record.metadata.uid = Some(format!("uid-{name}"));
    record.metadata.generation = Some(2);
    record.metadata.finalizers = Some(vec![FINALIZER_BACKEND_RECORD.into()]);
    record
}

fn with_address(mut record: BackendRecord) -> BackendRecord {
    record.status.get_or_insert_default().backend_addr = "10.0.0.1:80".into();
    record
}

fn registered(record: BackendRecord, generation: Option<i64>) -> BackendRecord {
    let mut record = with_address(record);
    record.status.as_mut().unwrap().conditions =
        vec![Condition::met(condition_types::REGISTERED, generation)];
    record
}

fn leaving(mut record: BackendRecord) -> BackendRecord {
    record.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    record
}

fn view(record: BackendRecord) -> View {
    View {
        record: Arc::new(record),
        driver: Lookup::Found(Arc::default()),
        neighbours: Vec::new(),
        backend_is_available: true,
        due: Due::Never,
    }
}

fn beside(record: BackendRecord, neighbour: BackendRecord) -> View {
    View {
        neighbours: vec![Arc::new(neighbour)],
        ..view(record)
    }
}

#[test]
fn b120_d4_u11_the_address_is_asked_for_with_parameters() {
    let Step::Generate(request) = decide(&view(record("a"))) else {
        panic!()
    };
    assert_eq!(request.record_id, "generateBackendAddr(uid-a)");
    assert_eq!(request.parameters["weight"], "50");
}

#[test]
fn b120_a_pod_that_is_not_ready_gets_no_address() {
    let view = View {
        backend_is_available: false,
        ..view(record("a"))
    };
    assert_eq!(decide(&view), Step::Nothing);
}

#[test]
fn b26_an_address_that_a_user_wrote_down_is_taken_as_it_is() {
    let mut record = record("a");
    record.spec.pod_backend = None;
    record.spec.static_addr = Some("my-web.com:8080".into());
    let view = View {
        backend_is_available: false,
        ..view(record)
    };
    assert_eq!(decide(&view), Step::TakeAddress("my-web.com:8080".into()));
}

#[test]
fn b119_b121_b126_an_address_is_ensured_with_what_was_injected() {
    let mut record = with_address(record("a"));
    record.status.as_mut().unwrap().injected_info = StringMap::from([("k", "v")]);
    let Step::Ensure(request) = decide(&view(record)) else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureBackend(uid-a)");
    assert_eq!(request.backend_addr, "10.0.0.1:80");
    assert_eq!(request.injected_info["k"], "v");
}

#[test]
fn b119_a_registered_one_needs_nothing_until_its_spec_changes() {
    assert_eq!(
        decide(&view(registered(record("a"), Some(2)))),
        Step::Nothing
    );
    assert!(matches!(
        decide(&view(registered(record("a"), Some(1)))),
        Step::Ensure(_)
    ));
}

#[test]
fn d27_what_the_original_registered_is_not_registered_anew() {
    assert_eq!(decide(&view(registered(record("a"), None))), Step::Nothing);
}

#[test]
fn b122_u19_an_address_that_another_record_takes_away_is_waited_for() {
    let view = beside(
        with_address(record("a")),
        leaving(registered(record("b"), Some(2))),
    );
    assert_eq!(decide(&view), Step::AwaitNeighbour("b".into()));
}

#[test]
fn u19_a_registered_record_does_not_wait_for_the_one_that_leaves() {
    // d31: the leaving one will not touch the address, so there is nothing to wait for.
    let view = beside(
        registered(record("a"), Some(1)),
        leaving(registered(record("b"), Some(2))),
    );
    assert!(matches!(decide(&view), Step::Ensure(_)));
}

#[test]
fn u20_d31_only_the_last_of_two_takes_the_address_away() {
    let shared = beside(
        leaving(registered(record("a"), Some(2))),
        registered(record("b"), Some(2)),
    );
    assert_eq!(decide(&shared), Step::LetGoShared("b".into()));
    for neighbour in [
        with_address(record("b")),
        leaving(registered(record("b"), Some(2))),
    ] {
        let last = beside(leaving(registered(record("a"), Some(2))), neighbour);
        assert!(matches!(decide(&last), Step::Deregister(_)));
    }
}

#[test]
fn b123_without_an_address_there_is_nothing_to_take_away() {
    let mut view = view(leaving(record("a")));
    view.driver = Lookup::Missing;
    assert_eq!(decide(&view), Step::LetGo);
}

#[test]
fn b123_deregistering_sends_what_was_registered() {
    let Step::Deregister(request) = decide(&view(leaving(registered(record("a"), Some(2))))) else {
        panic!()
    };
    assert_eq!(request.record_id, "deregisterBackend(uid-a)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.backend_addr, "10.0.0.1:80");
}

#[test]
fn an_address_that_may_be_registered_is_taken_away_although_nobody_confirmed_it() {
    // The process may have died between the call and the write that tells of it.
    assert!(matches!(
        decide(&view(leaving(with_address(record("a"))))),
        Step::Deregister(_)
    ));
}

#[test]
fn d30_a_missing_finalizer_comes_before_everything() {
    let mut bare = record("a");
    bare.metadata.finalizers = None;
    assert_eq!(decide(&view(bare.clone())), Step::AddFinalizer);
    assert_eq!(decide(&view(leaving(bare))), Step::Nothing);
}

#[test]
fn a_missing_driver_is_reported_and_an_unreadable_one_waited_for() {
    for record in [
        with_address(record("a")),
        leaving(with_address(record("a"))),
    ] {
        let mut view = view(record);
        view.driver = Lookup::Missing;
        assert_eq!(decide(&view), Step::ReportDriverMissing);
        view.driver = Lookup::Unreadable;
        assert_eq!(decide(&view), Step::Nothing);
    }
}
