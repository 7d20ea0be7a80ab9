use super::*;
use crate::api::names::{FINALIZER_DRIVER, LABEL_BACKEND_GROUP};
use crate::api::reasons::ReportReason;
use crate::api::{BackendRecordSpec, Condition, PodBackendRecord, ServiceBackendRecord, StringMap};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};

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

fn deleting(mut record: BackendRecord) -> BackendRecord {
    record.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    record
}

fn state(record: BackendRecord) -> RecordState {
    let mut driver = LoadBalancerDriver::default();
    driver.metadata.finalizers = Some(vec![FINALIZER_DRIVER.into()]);
    RecordState {
        record: Arc::new(record),
        is_own: true,
        ownership: Ownership::Owned,
        owner_wait: Duration::ZERO,
        driver: Lookup::Found(Arc::new(driver)),
        neighbours: Vec::new(),
        is_deregistering: false,
        paused_by: None,
        successor: None,
        successor_wait: Duration::ZERO,
        backend_is_available: true,
        due: Due::Never,
    }
}

/// The same with a driver that cancels a deregistration.
fn cancelling(state: RecordState) -> RecordState {
    let Lookup::Found(driver) = &state.driver else {
        panic!("no driver");
    };
    let mut driver = (**driver).clone();
    driver.status.get_or_insert_default().features = vec!["cancel".into()];
    RecordState {
        driver: Lookup::Found(Arc::new(driver)),
        ..state
    }
}

fn with_neighbour(
    record: BackendRecord,
    neighbour: BackendRecord,
    takes_precedence: bool,
) -> RecordState {
    RecordState {
        neighbours: vec![Neighbour {
            is_deregistering: neighbour.is_deleting(),
            record: Arc::new(neighbour),
            takes_precedence,
        }],
        ..state(record)
    }
}

/// A registered record of another group, with another weight.
fn of_canary(name: &str) -> BackendRecord {
    let mut record = rests(name);
    record.metadata.owner_references = Some(vec![OwnerReference {
        kind: "BackendGroup".into(),
        name: "canary".into(),
        controller: Some(true),
        ..OwnerReference::default()
    }]);
    record.spec.parameters = StringMap::from([("weight", "10")]);
    record
}

fn with_conflict(mut record: BackendRecord, reason: &ReportReason) -> BackendRecord {
    let conflict = Condition {
        status: ConditionStatus::True,
        ..Condition::unmet(condition_types::PARAMETERS_CONFLICT, reason, "", Some(2))
    };
    let status = record.status.get_or_insert_default();
    status.conditions.push(conflict);
    record
}

fn ensured_weight(state: &RecordState) -> Option<String> {
    match decide(state) {
        RecordAction::Ensure(request) => request.parameters.get("weight").cloned(),
        _ => None,
    }
}

/// The name of the action that is decided.
fn action(state: &RecordState) -> String {
    let action = format!("{:?}", decide(state));
    action.split('(').next().unwrap_or_default().to_owned()
}

/// A record that is registered in its present generation.
fn rests(name: &str) -> BackendRecord {
    registered(record(name), Some(2))
}

#[test]
fn d121_a_paused_record_that_needs_a_call_waits_and_one_at_rest_stays() {
    let paused = |record: BackendRecord| RecordState {
        paused_by: Some("BackendGroup ns/web".into()),
        ..state(record)
    };
    let wait = RecordAction::Wait(RecordWait::Paused("BackendGroup ns/web".into()));
    assert_eq!(decide(&paused(registered(record("a"), Some(1)))), wait);
    assert_eq!(decide(&paused(deleting(rests("a")))), wait);
    assert_eq!(decide(&paused(rests("a"))), RecordAction::AwaitChange);
}

#[test]
fn d41_an_address_has_the_parameters_of_the_oldest_owner() {
    let new = with_address(record("a"));
    let older = with_neighbour(new.clone(), of_canary("b"), true);
    assert_eq!(ensured_weight(&older).as_deref(), Some("10"));
    let younger = with_neighbour(new, of_canary("b"), false);
    assert_eq!(ensured_weight(&younger).as_deref(), Some("50"));
    // A periodic call of either has them too.
    let mut due = with_neighbour(rests("a"), of_canary("b"), true);
    due.due = Due::Now;
    assert_eq!(ensured_weight(&due).as_deref(), Some("10"));
}

#[test]
fn d41_a_registered_record_that_is_overridden_only_reports_it() {
    let overridden = with_neighbour(rests("a"), of_canary("b"), true);
    let RecordAction::ReportConflict(condition) = decide(&overridden) else {
        panic!()
    };
    assert_eq!(condition.reason, "ParametersOverridden");
    let mut reported = rests("a");
    reported.status.as_mut().unwrap().conditions.push(condition);
    let reported = with_neighbour(reported, of_canary("b"), true);
    assert_eq!(decide(&reported), RecordAction::AwaitChange);
}

#[test]
fn d41_a_record_whose_parameters_apply_is_ensured_once_and_so_is_one_whose_role_changes() {
    let applies = |record| with_neighbour(record, of_canary("b"), false);
    let plain = rests("a");
    assert_eq!(
        ensured_weight(&applies(plain.clone())).as_deref(),
        Some("50")
    );
    let overridden = with_conflict(plain.clone(), reasons::PARAMETERS_OVERRIDDEN);
    assert_eq!(ensured_weight(&applies(overridden)).as_deref(), Some("50"));
    let applied = with_conflict(plain, reasons::PARAMETERS_APPLY);
    assert_eq!(ensured_weight(&applies(applied)), None);
}

#[test]
fn d41_the_one_that_stays_is_ensured_again_when_the_other_is_gone() {
    for reason in [reasons::PARAMETERS_APPLY, reasons::PARAMETERS_OVERRIDDEN] {
        let stays = with_conflict(rests("a"), reason);
        let leaving = with_neighbour(stays.clone(), deleting(of_canary("b")), true);
        assert_eq!(decide(&leaving), RecordAction::AwaitChange, "{reason}");
        let alone = state(stays);
        assert_eq!(ensured_weight(&alone).as_deref(), Some("50"), "{reason}");
    }
}

#[test]
fn d41_records_that_agree_or_have_the_same_owner_are_no_conflict() {
    let own = || rests("a");
    let mut agrees = of_canary("b");
    agrees.spec.parameters = own().spec.parameters;
    let mut own_sibling = of_canary("b");
    own_sibling.metadata.owner_references = None;
    for other in [agrees, own_sibling] {
        for takes_precedence in [false, true] {
            let state = with_neighbour(own(), other.clone(), takes_precedence);
            assert_eq!(decide(&state), RecordAction::AwaitChange);
        }
    }
}

#[test]
fn d41_a_replacement_that_waits_for_the_old_address_reports_nothing() {
    // Its predecessor has other parameters, and is being deleted.
    let state = with_neighbour(with_address(record("a")), deleting(of_canary("b")), true);
    assert_eq!(
        decide(&state),
        RecordAction::Wait(RecordWait::Neighbour("b".into()))
    );
}

#[test]
fn b120_d4_u11_the_address_is_requested_with_parameters() {
    let RecordAction::Generate(request) = decide(&state(record("a"))) else {
        panic!()
    };
    assert_eq!(request.record_id, "generateBackendAddr(uid-a)");
    assert_eq!(request.parameters["weight"], "50");
}

#[test]
fn b26_an_address_in_the_spec_is_stored_as_it_is() {
    let mut record = record("a");
    record.spec.pod_backend = None;
    record.spec.static_addr = Some("my-web.com:8080".into());
    let state = RecordState {
        backend_is_available: false,
        ..state(record)
    };
    assert_eq!(
        decide(&state),
        RecordAction::StoreAddress("my-web.com:8080".into())
    );
}

#[test]
fn b119_b121_b126_an_address_is_ensured_with_what_was_injected() {
    let mut record = with_address(record("a"));
    record.status.as_mut().unwrap().injected_info = StringMap::from([("k", "v")]);
    let RecordAction::Ensure(request) = decide(&state(record)) else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureBackend(uid-a)");
    assert_eq!(request.backend_addr, "10.0.0.1:80");
    assert_eq!(request.injected_info["k"], "v");
}

#[test]
fn b119_b120_b122_b123_d27_d30_u19_each_state_has_its_action() {
    let unavailable = RecordState {
        backend_is_available: false,
        ..state(record("a"))
    };
    let undriven = RecordState {
        driver: Lookup::Missing,
        ..state(deleting(record("a")))
    };
    let beside = |own, other| with_neighbour(own, other, false);
    let leaving = || deleting(rests("b"));
    let mut bare = record("a");
    bare.metadata.finalizers = None;
    let stale = || registered(record("a"), Some(1));
    for (name, state, expected) in [
        ("b120", unavailable, "Wait"),
        ("b119, at rest", state(rests("a")), "AwaitChange"),
        ("b119, changed", state(stale()), "Ensure"),
        ("d27", state(registered(record("a"), None)), "AwaitChange"),
        ("b122", beside(with_address(record("a")), leaving()), "Wait"),
        // d31: the deleted one does not deregister the address, so there is nothing to wait for.
        ("u19", beside(stale(), leaving()), "Ensure"),
        ("b123, no address", undriven, "RemoveFinalizer"),
        // The process may have ended between the call and the write.
        (
            "b123",
            state(deleting(with_address(record("a")))),
            "Deregister",
        ),
        ("d30", state(bare.clone()), "AddFinalizer"),
        ("d30, gone", state(deleting(bare)), "AwaitChange"),
    ] {
        assert_eq!(action(&state), expected, "{name}");
    }
}

#[test]
fn u20_d31_only_the_last_of_two_deregisters_the_address() {
    let shared = with_neighbour(deleting(rests("a")), rests("b"), false);
    assert_eq!(
        decide(&shared),
        RecordAction::RemoveFinalizerOfShared("b".into())
    );
    for neighbour in [with_address(record("b")), deleting(rests("b"))] {
        let last = with_neighbour(deleting(rests("a")), neighbour, false);
        assert_eq!(action(&last), "Deregister");
    }
}

#[test]
fn d90_a_backend_that_another_record_is_to_register_is_not_deregistered() {
    let wanted = || RecordState {
        successor: Some("BackendRecord b".into()),
        successor_wait: Duration::from_secs(1),
        ..state(deleting(rests("a")))
    };
    let waits = RecordAction::Wait(RecordWait::Successor("BackendRecord b".into()));
    assert_eq!(decide(&wanted()), waits);
    let ended = |change: fn(&mut RecordState)| {
        let mut state = wanted();
        change(&mut state);
        action(&state)
    };
    assert_eq!(ended(|it| it.successor_wait = Duration::ZERO), "Deregister");
    assert_eq!(ended(|it| it.backend_is_available = false), "Deregister");
    // The driver may be deregistering it already.
    assert_eq!(ended(|it| it.is_deregistering = true), "Deregister");
    // The successor is ensured meanwhile.
    let mut successor = with_neighbour(with_address(record("b")), deleting(rests("a")), false);
    assert_eq!(action(&successor), "Wait");
    successor.neighbours[0].is_deregistering = false;
    assert_eq!(action(&successor), "Ensure");
}

#[test]
fn b123_deregistering_sends_what_was_registered() {
    let RecordAction::Deregister(request) = decide(&state(deleting(rests("a")))) else {
        panic!()
    };
    assert_eq!(request.record_id, "deregisterBackend(uid-a)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.backend_addr, "10.0.0.1:80");
}

#[test]
fn d71_a_deregistration_was_requested_when_the_record_was_deleted() {
    let stays = rests("a");
    let status = stays.status.clone().unwrap();
    let first = |record: &BackendRecord| deregister_request(record, &status).first_requested_at;
    assert_eq!(first(&stays), None, "what is undone at once");
    assert_eq!(first(&deleting(stays)), Some(SystemTime::UNIX_EPOCH));
}

#[test]
fn a_missing_driver_is_reported_and_an_unreadable_one_awaited() {
    for record in [
        with_address(record("a")),
        deleting(with_address(record("a"))),
    ] {
        let mut state = state(record);
        state.driver = Lookup::Missing;
        assert_eq!(decide(&state), RecordAction::ReportDriverMissing);
        state.driver = Lookup::Unreadable;
        let wait = RecordWait::DriverUnreadable;
        assert_eq!(decide(&state), RecordAction::Wait(wait));
    }
}

#[test]
fn d34_a_record_without_an_owner_waits_for_one_and_is_then_deleted() {
    let wait = Duration::from_secs(60);
    let orphaned = |record, ownership, owner_wait| {
        decide(&RecordState {
            ownership,
            owner_wait,
            ..state(record)
        })
    };
    for record in [record("a"), with_address(record("a")), rests("a")] {
        let (ownerless, adoptable) = (Ownership::Ownerless, Ownership::Adoptable);
        let adoption = orphaned(record.clone(), adoptable, wait);
        assert_eq!(adoption, RecordAction::Wait(RecordWait::Adoption));
        let waits = orphaned(record.clone(), ownerless, wait);
        assert_eq!(waits, RecordAction::AwaitOwner(wait));
        let ends = |record| orphaned(record, ownerless, Duration::ZERO);
        assert_eq!(ends(record.clone()), RecordAction::Delete);
        // d30: the finalizer comes first, with or without an owner.
        let mut without_finalizer = record;
        without_finalizer.metadata.finalizers = None;
        assert_eq!(ends(without_finalizer), RecordAction::AddFinalizer);
    }
    let deleting = deleting(with_address(record("a")));
    assert!(matches!(
        orphaned(deleting, Ownership::Ownerless, wait),
        RecordAction::Deregister(_)
    ));
}

#[test]
fn d32_registering_begins_only_with_a_driver_that_outlives_it() {
    let unprotected = LoadBalancerDriver::default();
    let mut ending = LoadBalancerDriver::default();
    ending.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let with = |driver: &LoadBalancerDriver, record: BackendRecord| {
        let driver = Lookup::Found(Arc::new(driver.clone()));
        action(&RecordState {
            driver,
            ..state(record)
        })
    };
    let mut fixed = record("a");
    fixed.spec.static_addr = Some("1.1.1.1:80".into());
    for new in [record("a"), fixed] {
        assert_eq!(with(&unprotected, new.clone()), "ProtectDriver");
        assert_eq!(with(&ending, new), "ReportDriverDeleting");
    }
    // What has begun is finished, changed and undone.
    for driver in [&unprotected, &ending] {
        for begun in [with_address(record("a")), registered(record("a"), Some(1))] {
            assert_eq!(with(driver, begun.clone()), "Ensure");
            assert_eq!(with(driver, deleting(begun)), "Deregister");
        }
    }
}

fn described(wait: &RecordWait, spec: BackendRecordSpec) -> (&'static str, String) {
    let mut record = BackendRecord::new("r", spec);
    record.metadata.namespace = Some("ns".into());
    record.metadata.labels = Some([(LABEL_BACKEND_GROUP.into(), "web".into())].into());
    let wait = wait.describe(&record, &ObjectKey::new("kube-system", "lbcf-d"));
    (wait.reason, wait.message)
}

#[test]
fn d44_each_reason_names_what_a_record_waits_for() {
    let pod = || BackendRecordSpec {
        pod_backend: Some(PodBackendRecord {
            name: "web-0".into(),
            ..PodBackendRecord::default()
        }),
        ..BackendRecordSpec::default()
    };
    let node = BackendRecordSpec {
        service_backend: Some(ServiceBackendRecord {
            name: "svc".into(),
            node_name: "node-1".into(),
            ..ServiceBackendRecord::default()
        }),
        ..BackendRecordSpec::default()
    };
    for (wait, spec, reason, named) in [
        (
            RecordWait::DriverUnreadable,
            pod(),
            "DriverUnreadable",
            "kube-system/lbcf-d",
        ),
        (
            RecordWait::BackendUnavailable,
            pod(),
            "BackendNotAvailable",
            "Pod web-0",
        ),
        (
            RecordWait::BackendUnavailable,
            node,
            "BackendNotAvailable",
            "Node node-1",
        ),
        (
            RecordWait::BackendUnavailable,
            BackendRecordSpec::default(),
            "BackendNotAvailable",
            "podBackend",
        ),
        (
            RecordWait::Neighbour("b".into()),
            pod(),
            "DelayedEnsureBackend",
            "BackendRecord b",
        ),
        (
            RecordWait::Successor("BackendRecord b".into()),
            pod(),
            "DelayedDeregisterBackend",
            "BackendRecord b",
        ),
        (
            RecordWait::Adoption,
            pod(),
            "AwaitingAdoption",
            "BackendGroup ns/web",
        ),
    ] {
        let (is, message) = described(&wait, spec);
        assert_eq!(is, reason);
        assert!(message.contains(named), "{message}");
    }
}

#[test]
fn d96_a_driver_that_cancels_gets_ensure_backend_while_it_deregisters() {
    let waits = with_neighbour(with_address(record("b")), deleting(rests("a")), false);
    assert_eq!(action(&waits), "Wait");
    assert_eq!(action(&cancelling(waits)), "Ensure");
    let begun = || RecordState {
        is_deregistering: true,
        successor: Some("BackendRecord b".into()),
        // However long that has taken.
        successor_wait: Duration::ZERO,
        ..state(deleting(rests("a")))
    };
    assert_eq!(action(&begun()), "Deregister");
    assert_eq!(action(&cancelling(begun())), "Wait");
    let unavailable = RecordState {
        backend_is_available: false,
        ..cancelling(begun())
    };
    assert_eq!(action(&unavailable), "Deregister");
    let alone = RecordState {
        successor: None,
        ..cancelling(begun())
    };
    assert_eq!(action(&alone), "Deregister");
}

#[test]
fn d110_nothing_is_registered_or_deregistered_for_a_record_that_no_controller_created() {
    let decide = |record| {
        decide(&RecordState {
            is_own: false,
            ..state(record)
        })
    };
    let waits = RecordAction::Wait(RecordWait::NotCreatedByController);
    assert_eq!(decide(record("forged")), waits);
    assert_eq!(decide(registered(record("forged"), None)), waits);
    let deleted = deleting(registered(record("forged"), None));
    assert_eq!(decide(deleted), RecordAction::RemoveFinalizer);
    let mut without_finalizer = deleting(record("forged"));
    without_finalizer.metadata.finalizers = None;
    assert_eq!(decide(without_finalizer), RecordAction::AwaitChange);
}
